package redact

import "strings"

// manifest masks the values of a Secret of Kubernetes.
func (x *scan) manifest(at, _ int) {
	s := x.s
	if c := s[min(len(s)-1, at+len("kind: Secret"))]; isAlnum(c) {
		return // SecretStore
	}
	lo, hi := max(0, at-2000), min(len(s), at+8000)
	if k := strings.LastIndex(s[lo:at], "---"); k >= 0 {
		lo += k
	}
	if k := strings.Index(s[at:hi], "\n---"); k >= 0 {
		hi = at + k
	}
	inside, depth := false, 0
	for i := lo; i < hi; {
		end, next := nextLine(s, i)
		end = min(end, hi)
		line := s[i:end]
		text := strings.TrimLeft(line, " ")
		indent := len(line) - len(text)
		switch {
		case strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "stringData:"):
			inside, depth = true, indent
		case strings.TrimSpace(text) == "", text[0] == '#':
		case inside && indent <= depth:
			inside = false
		case inside:
			if name, value, ok := strings.Cut(text, ": "); ok {
				v := strings.Trim(value, " \r\"'")
				start := i + indent + len(name) + 2 + strings.Index(value, v)
				if len(v) >= 3 && !isFiller(v) && strings.IndexByte("|>#", v[0]) < 0 && name != "kind" && name != "apiVersion" &&
					!(strings.Contains(v, "_") && isName(v) && strings.ToUpper(v) == v) { // a nested object, MY_PASSWORD
					x.add(start, start+len(v))
				}
			}
		}
		if next <= i {
			return
		}
		i = next
	}
}

// jsonManifest masks the values of a Secret of Kubernetes in JSON.
func (x *scan) jsonManifest(at, _ int) {
	s := x.s
	if before := strings.TrimRight(s[max(0, at-12):at], " \t\n"); !strings.HasSuffix(before, `"kind":`) {
		return
	}
	lo, hi := max(0, at-2000), min(len(s), at+8000)
	for _, key := range [...]string{`"data"`, `"stringData"`} {
		k := strings.Index(s[lo:hi], key)
		if k < 0 {
			continue
		}
		i := skipSpace(s, lo+k+len(key))
		for i < hi && strings.IndexByte(":{ \n\t\r,", s[i]) >= 0 {
			i++
		}
		for n := 0; n < 200 && i < hi; n++ {
			name, ok := quoted(s, i)
			if !ok {
				break
			}
			i = skipSpace(s, name.end+1)
			if i >= hi || s[i] != ':' {
				break
			}
			i = skipSpace(s, i+1)
			v, ok := quoted(s, i)
			if !ok {
				break
			}
			if w := v.of(s); len(w) >= 3 && !isFiller(w) {
				x.add(v.start, v.end)
			}
			for i = min(hi, v.end+1); i < hi && (isSpace(s[i]) || s[i] == ','); i++ {
			}
		}
	}
}

// passwordList masks the list of user:password pairs of cloud-init.
func (x *scan) passwordList(at, _ int) {
	s := x.s
	_, i := nextLine(s, at)
	for n := 0; n < 40 && i < len(s); n++ {
		end, next := nextLine(s, i)
		line := strings.TrimSpace(s[i:end])
		if line != "" && s[i] != ' ' && s[i] != '\t' {
			return
		}
		user, pass, ok := strings.Cut(strings.Trim(line, `-"' `), ":")
		if ok && !strings.HasPrefix(pass, " ") && len(pass) >= 3 && wordRun(user) == len(user) && !isFiller(pass) &&
			pass != "RANDOM" && pass != "R" {
			start := i + strings.Index(s[i:end], ":"+pass) + 1
			x.add(start, start+len(pass))
		}
		if next <= i {
			return
		}
		i = next
	}
}

// webKey masks the private members of a JSON Web Key.
func (x *scan) webKey(at, _ int) {
	s := x.s
	lo := strings.LastIndexByte(s[max(0, at-4096):at], '{')
	if lo < 0 {
		return
	}
	lo += max(0, at-4096)
	hi := min(len(s), at+8192)
	if k := strings.IndexByte(s[at:hi], '}'); k >= 0 {
		hi = at + k
	}
	for _, m := range [...]string{`"k"`, `"d"`, `"p"`, `"q"`, `"dp"`, `"dq"`, `"qi"`} {
		k := strings.Index(s[lo:hi], m)
		if k < 0 {
			continue
		}
		i := skipBlanks(s, lo+k+len(m), 8)
		if i < hi && s[i] == ':' {
			if v, ok := quoted(s, skipBlanks(s, i+1, 8)); ok && v.end-v.start >= 16 {
				x.add(v.start, v.end)
			}
		}
	}
}

// insertInto masks the values of the columns of a table that are named for secrets.
func (x *scan) insertInto(at, _ int) {
	s := x.s
	stmt := s[at:min(len(s), at+2000)]
	open := strings.IndexByte(stmt, '(')
	if open < 0 || open > 120 {
		return
	}
	shut := strings.IndexByte(stmt[open:], ')')
	if shut < 0 {
		return
	}
	shut += open
	if k := skipSpace(stmt, shut+1); !hasFold(stmt, k, "values") {
		return
	}
	columns := strings.Split(stmt[open+1:shut], ",")
	i := at + shut + 1
	for n := 0; n < 50; n++ {
		k := strings.IndexByte(s[i:min(len(s), i+60)], '(')
		if k < 0 {
			return
		}
		i += k + 1
		for _, c := range columns {
			i = skipSpace(s, i)
			v, ok := quoted(s, i)
			if !ok {
				k := strings.IndexAny(s[i:min(len(s), i+200)], ",)")
				if k < 0 {
					return
				}
				v = span{i, i + k}
				i += k
			} else {
				i = v.end + len(quoteAt(s, i))
			}
			name := strings.Trim(c, " \n\t\"'`[]")
			if p := (pair{class: classify(name), op: assign, quoted: true, value: v}); ok && p.class >= bare {
				x.mask(p)
			}
			i = skipSpace(s, i)
			if i >= len(s) || s[i] != ',' {
				break
			}
			i++
		}
		if i >= len(s) || s[i] != ')' {
			return
		}
	}
}

// fromLiteral masks what a secret of Kubernetes is made from on a command line.
func (x *scan) fromLiteral(at, _ int) {
	s := x.s
	if !strings.Contains(s[lineStart(s, at, 300):at], "secret") {
		return
	}
	args := arguments(s, at, 300)
	if len(args) == 0 {
		return
	}
	a := args[0]
	if a.of(s) == "--from-literal" && len(args) > 1 {
		a = args[1]
	} else {
		a.start += len("--from-literal=")
	}
	if a.start >= a.end {
		return
	}
	name, value, ok := strings.Cut(a.of(s), "=")
	v := strings.Trim(value, `"'\`)
	if !ok || len(v) < 3 || standsIn(v) || containsAny(strings.ToLower(name),
		"user", "host", "port", "name", "url", "region", "email") {
		return
	}
	start := a.start + len(name) + 1 + strings.Index(value, v)
	x.add(start, start+len(v))
}
