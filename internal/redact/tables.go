package redact

import "strings"

// columns masks the cells below a name that stands in the head of a table: the
// CSV that a console lets people download, a table in Markdown.
func (x *scan) columns(p pair) bool {
	s := x.s
	k := p.name.end
	for k < len(s) && k < p.name.end+40 && strings.IndexByte(" \"'*`\r", s[k]) >= 0 {
		k++
	}
	if k < len(s) && strings.IndexByte("|;,\t\n\\", s[k]) < 0 {
		return false
	}
	lo := lineStart(s, p.name.start, 400)
	hi, next := nextLine(s, p.name.start)
	if p.class < secret && p.class != bare || next >= len(s) || hi-lo > 600 || next <= hi {
		return false
	}
	head := s[lo:hi]
	sep := separator(head, p.name.start-lo, p.name.end-lo)
	if sep == 0 {
		return false
	}
	cells := strings.Split(strings.Trim(head, " \r"), string(sep))
	column := strings.Count(head[:p.name.start-lo], string(sep))
	user := false
	if sep == ',' && (isBlank(head[0]) || strings.HasSuffix(strings.TrimRight(head, " \r"), ",")) {
		return false // the elements of a list
	}
	for _, c := range cells {
		c = strings.ToLower(strings.Trim(c, " \t\"'*`"))
		if len(c) > 40 || strings.ContainsAny(c, "(){}[]=;:/\\$<>") {
			return false
		}
		user = user || containsAny(c, "user", "login", "mail", "account",
			"host", "url", "key id", "name", "service", "site", "server", "env", "db", "id") && !containsAny(c, "pass")
	}
	if strings.EqualFold(p.name.of(s), "pass") && !user {
		return false
	}
	found := false
	for n, i := 0, next; n < 100 && i < len(s); n++ {
		end, after := nextLine(s, i)
		line := s[i:end]
		if strings.Count(line, string(sep)) < len(cells)-1 || strings.TrimSpace(line) == "" {
			break
		}
		if v, ok := cell(line, column, sep); ok {
			v.start, v.end = v.start+i, v.end+i
			if p.inCell(v.of(s), user) {
				x.addAs(p.class.rule(), v.start, v.end)
				found = true
			}
		}
		if after <= i {
			break
		}
		i = after
	}
	return found
}

// separator returns the sign that parts the cells of a head, in which a name stands from a to b.
func separator(head string, a, b int) byte {
	for _, sep := range [...]byte{'|', ';', '\t', ','} {
		if strings.IndexByte(head, sep) < 0 {
			continue
		}
		// The name is the end of its cell, with other words before it at most.
		rest := strings.TrimLeft(head[b:], " \"'*`\r")
		if rest != "" && rest[0] != sep {
			continue
		}
		cell := head[:a]
		if k := strings.LastIndexByte(cell, sep); k >= 0 {
			cell = cell[k+1:]
		}
		if strings.Count(strings.TrimSpace(cell), " ") > 1 {
			continue
		}
		return sep
	}
	return 0
}

// cell returns where a column of a line stands, without the quotes around it.
func cell(line string, column int, sep byte) (span, bool) {
	start, quotes := 0, false
	for i := 0; i <= len(line); i++ {
		if i < len(line) && line[i] == '"' {
			quotes = !quotes
		}
		if i < len(line) && (line[i] != sep || quotes && sep != '|') {
			continue
		}
		if column == 0 {
			v := span{start, i}
			for v.start < v.end && strings.IndexByte(" \t\"'`*\r", line[v.start]) >= 0 {
				v.start++
			}
			for v.end > v.start && strings.IndexByte(" \t\"'`\r", line[v.end-1]) >= 0 {
				v.end--
			}
			return v, v.start < v.end
		}
		column--
		start = i + 1
	}
	return span{}, false
}

// inCell judges a cell; user says that a column of the table says whose secret it is.
func (p *pair) inCell(v string, user bool) bool {
	if len(v) < 4 || isFiller(v) || isSecretWord(v) && !weakPassword(v) || pathlike(v) || codelike(v) ||
		strings.Trim(v, "-:= ") == "" || isState(v) ||
		strings.ToUpper(v) == v && wordlike(v) {
		return false
	}
	if strings.Contains(v, " ") {
		return p.class == password && user && p.op != call && p.phrase(v) && strings.ToLower(v) == v && strings.Count(v, " ") >= 2
	}
	switch p.class {
	case password:
		return evidence(v) || user && isLower(v[0]) && !strings.ContainsAny(v, "_.(")
	case secret:
		return random(v) || user && evidence(v) && len(v) >= 8 && !isVersion(v)
	}
	return random(v) && !allHex(v) || user && evidence(v) && len(v) >= 6 && !isName(v)
}
