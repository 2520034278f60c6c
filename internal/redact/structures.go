package redact

import "strings"

// tag notes that a private tag may begin here. The tag itself is cut by stripPrivate.
func (x *scan) tag(at, _ int) {
	if at > 0 && x.s[at-1] == '<' || at >= 6 && hasFold(x.s, at-6, `\u003c`) {
		x.tagged = true
	}
}

// A key block is one of -----BEGIN … PRIVATE KEY----- to its end. Where the end
// is missing, because somebody cut the text, the block goes on while the lines
// look like one: that is the cut that leaks keys.
func (x *scan) keyBlock(at, label int) {
	if at < x.done {
		return
	}
	s := x.s
	n := strings.Index(s[label:min(len(s), label+60)], "-----")
	if n < 0 || !isKeyLabel(s[label:label+n]) {
		return
	}
	body := label + n + 5
	end := 0
	// The next dashes belong to the end of this block or to the beginning of another one.
	if k := strings.Index(s[body:min(len(s), body+64<<10)], "-----"); k >= 0 && hasFold(s, body+k, "-----end ") {
		end = body + k + len("-----end ")
		if j := strings.Index(s[end:min(len(s), end+60)], "-----"); j >= 0 {
			end += j + 5
		}
	} else {
		end = keyLines(s, body)
	}
	// Programs and documents that only speak of the marks hold no key.
	if keyLines(s, body) > body || longRun(s[body:end]) >= 32 {
		x.add(at, end)
	}
	x.done = max(body, end)
}

// isKeyLabel reports whether a block with the label holds a key that must stay secret: PRIVATE KEY,
// OpenVPN Static key V1.
func isKeyLabel(label string) bool {
	label = strings.ToUpper(label)
	return strings.Contains(label, "PRIVATE") || strings.Contains(label, "STATIC KEY") || strings.Contains(label, "SECRET KEY")
}

// keyLines returns where the lines stop that look like the inside of a key block.
func keyLines(s string, at int) int {
	end := at
	for i, n := at, 0; i < len(s); n++ {
		j, next := nextLine(s, i)
		line := strings.Trim(s[i:j], " \t\r\"'`+>#|,;\\*")
		// Transcripts number the lines of a file they show.
		line = strings.TrimLeft(strings.TrimLeft(line, "0123456789"), " \t:|→")
		header := strings.HasPrefix(line, "Proc-Type:") || strings.HasPrefix(line, "DEK-Info:") ||
			strings.HasPrefix(line, "Version:") || strings.HasPrefix(line, "Comment:") || strings.HasPrefix(line, "Hash:")
		run := base64Run(line)
		switch {
		case line == "" && n < 4, header:
		case run == len(line) && run > 0 && (run >= 12 || end > at || n < 4 && evidence(line)):
			end = j
		case run >= 40: // the line goes on after the key: the rest of a JSON string
			return i + strings.Index(s[i:j], line) + run
		default:
			return end
		}
		if next-at > 64<<10 {
			return end
		}
		i = next
	}
	return end
}

// nextLine returns where the line at i ends and the next one begins. A line
// ends with a line feed or with one that JSON has escaped.
func nextLine(s string, i int) (end, next int) {
	hi := min(len(s), i+4096)
	for k := i; k < hi; k++ {
		switch {
		case s[k] == '\n':
			return k, k + 1
		case s[k] == '\\' && k+1 < len(s) && (s[k+1] == 'n' || s[k+1] == 'r'):
			return k, k + 2
		}
	}
	return hi, hi
}

// keyBlockTail handles a block whose beginning was cut off.
func (x *scan) keyBlockTail(at, _ int) {
	s := x.s
	if at < x.done {
		return
	}
	label, _, ok := strings.Cut(s[at+len("-----end "):min(len(s), at+60)], "-----")
	if !ok || !isKeyLabel(label) {
		return
	}
	i := at
	for i > max(x.done, at-64<<10) && (isToken(s[i-1]) || isSpace(s[i-1]) || s[i-1] == '\\') {
		i--
	}
	// Words of prose before the block belong to the prose.
	for i < at && base64Run(s[i:at]) < 40 {
		if k := strings.IndexAny(s[i:at], " \t\n\\"); k >= 0 {
			i += k + 1
		} else {
			i = at
		}
	}
	x.add(i, at)
	x.done = at + 5
}

// puttyKey masks the private lines of a PuTTY key file.
func (x *scan) puttyKey(at, _ int) {
	_, i := nextLine(x.s, at)
	if end := keyLines(x.s, i); end > i {
		x.add(i, end)
	}
}

// webToken masks a JSON Web Token: two or three parts of base64, the first of
// which begins with a brace.
func (x *scan) webToken(at, _ int) {
	s := x.s
	if at < x.webEnd || !boundary(s, at) {
		return
	}
	head := at + wordRun(s[at:])
	body := head
	if head < len(s) && s[head] == '.' {
		body = head + 1 + wordRun(s[head+1:])
	}
	end := body
	if body > head+1 && body < len(s) && s[body] == '.' {
		end = body + 1 + wordRun(s[body+1:])
	}
	x.webEnd = head // what stands before it has been judged here
	known := false
	for _, p := range [...]string{"eyJhbGci", "eyJ0eXAi", "eyJraWQi", "eyJ4NXQi", "eyJlbmMi", "eyJjdHki"} {
		known = known || strings.HasPrefix(s[at:], p)
	}
	switch {
	case end-head < 20 && end < len(s) && (s[end] == '[' && !strings.HasPrefix(s[end:], mark) || hasPrefix(s[end:], "...", "…", "<")):
	case head-at >= 12 && body-head > 8 && (end > body+8 || strings.HasPrefix(s[head+1:], "eyJ")),
		known && head-at >= 20:
		x.add(at, end)
		x.webEnd = end
	}
}

// netrc masks an entry of a .netrc file. The machine goes with the login: the
// three make one credential.
func (x *scan) netrc(at, _ int) {
	if !boundary(x.s, at) || at < x.done {
		return
	}
	f := fields(x.s, at, 12, 400)
	var found []span
	for i := 0; i+1 < len(f); i += 2 {
		name, v := f[i], f[i+1]
		switch word := name.of(x.s); word {
		case "machine", "login", "account":
			found = append(found, v)
		case "password":
			if w := strings.TrimRight(v.of(x.s), ".,;"); standsIn(w) && !weakPassword(w) || len(found) < 2 {
				return
			}
			for _, u := range found {
				x.addBeside(u.start, u.end)
			}
			x.add(v.start, v.end)
			x.done = v.end
			return
		default:
			return
		}
	}
}

// mailer masks what PHP programs tell their mailer: host, user and password.
func (x *scan) mailer(_, name int) {
	for _, key := range [...]string{"host", "username", "password"} {
		if !hasFold(x.s, name, key) {
			continue
		}
		i := skipBlanks(x.s, name+len(key), 20)
		if i >= len(x.s) || x.s[i] != '=' {
			return
		}
		i = skipBlanks(x.s, i+1, 20)
		if v, ok := quoted(x.s, i); ok && !isReference(v.of(x.s)) && !strings.Contains(v.of(x.s), " ") {
			if key != "password" {
				x.addBeside(v.start, v.end)
			} else {
				x.add(v.start, v.end)
			}
		}
		return
	}
}

// fields returns the first n words of s from at on, within limit bytes. An
// escaped line feed parts words as well.
func fields(s string, at, n, limit int) []span {
	var out []span
	for i, hi := at, min(len(s), at+limit); i < hi && len(out) < n; {
		if isSpace(s[i]) {
			i++
			continue
		}
		if s[i] == '\\' && i+1 < hi && strings.IndexByte("nrt", s[i+1]) >= 0 {
			i += 2
			continue
		}
		j := i
		for j < hi && !isSpace(s[j]) && !(s[j] == '\\' && j+1 < hi && strings.IndexByte(`nrt"`, s[j+1]) >= 0) && s[j] != '"' &&
			s[j] != '`' {
			j++
		}
		if j == i {
			return out
		}
		out = append(out, span{i, j})
		i = j
	}
	return out
}
