package redact

import "strings"

// nextLineValue returns where the quoted value begins that stands on the line
// after an operator, whose blanks begin at j.
func nextLineValue(s string, p *pair, j int) (int, bool) {
	for hi := min(len(s), j+80); j < hi && (isSpace(s[j]) || strings.HasPrefix(s[j:], "\\\n")); {
		j++
	}
	if q := quoteAt(s, j); q == "" || p.op == colon && q[0] != '"' {
		return 0, false
	}
	// A quoted key below is the next level, not our value.
	v, ok := quoted(s, j)
	behind := s[min(len(s), v.end+1):min(len(s), v.end+8)]
	return j, ok && !strings.HasPrefix(strings.TrimLeft(behind, `"'\ `), ":")
}

// tagged skips what YAML writes before a value: an anchor, a tag.
func tagged(s string, j int) int {
	for range 2 {
		if j+1 >= len(s) || s[j] != '&' && !strings.HasPrefix(s[j:], "!!") {
			return j
		}
		k := runEnds(s, j+1, 40, "_-!")
		if k == j+1 || k >= len(s) || !isBlank(s[k]) {
			return j
		}
		j = skipBlanks(s, k, 8)
	}
	return j
}

// block reads a value that stands on its own lines: a block of YAML after |
// or >, or a single word below its name. The lines are indented more than the
// name that stands at offset name.
func block(s string, word class, name, j int) (span, bool) {
	k, marked := j, false
	if k < len(s) && (s[k] == '|' || s[k] == '>') {
		marked = true
		for k++; k < len(s) && strings.IndexByte("+-0123456789", s[k]) >= 0; k++ {
		}
		k = skipBlanks(s, k, 16)
	}
	if k >= len(s) || s[k] != '\n' && s[k] != '\r' && !hasPrefix(s[k:], `\n`, `\r\n`) {
		return span{}, false
	}
	indent := name - lineStart(s, name, 200)
	if at := strings.LastIndex(s[max(0, name-200):name], `\n`); at >= 0 && max(0, name-200)+at+2 > name-indent {
		indent = name - (max(0, name-200) + at + 2)
	}
	v := span{}
	for i, n := k, 0; i < min(len(s), k+4096) && n < 64; n++ {
		end, next := nextLine(s, i)
		line := strings.TrimRight(s[i:end], "\r\"' ")
		text := strings.TrimLeft(line, " \t")
		switch {
		case text == "":
		case len(line)-len(text) <= indent || text[0] == '#':
			i = len(s)
			continue
		default:
			if v.end == 0 {
				v.start = i + len(line) - len(text)
			}
			v.end = i + len(line)
		}
		if next == i {
			break
		}
		i = next
	}
	if v.end == 0 {
		return v, false
	}
	text := v.of(s)
	if !marked {
		// A word alone on the next line, and nothing that could be the next level.
		if strings.ContainsAny(text, " \n:,{}()[]=\\") || len(text) < 4 || text[0] == '-' {
			return v, false
		}
		return v, random(text) || evidence(text) && !isVersion(text) || word == password && isName(text) && isLower(text[0]) &&
			!isState(text)
	}
	if strings.ContainsAny(text, ":=") && strings.Contains(text, "\n") && !strings.HasPrefix(text, "-----") {
		return v, false // a file, which has its own names
	}
	return v, true
}

// ors stand between a value that may be missing and the one that stands in for it.
var ors = [...]string{" || ", " ?? ", " or ", " ?: "}

// longestFallback is how much of a value is looked at for what stands in for it: a run of a
// megabyte without a blank is looked at again for every name in it.
const longestFallback = 4096

// fallback finds the string that stands in for a value which is missing, and
// makes it the value if it is a secret: os.environ["X"] or "…", ${X:-…}.
func (p *pair) fallback(s string) bool {
	all := p.value.of(s)
	v := all[:min(len(all), longestFallback)]
	if p.class >= secret && hasPrefix(v, "${") && strings.Index(v, ":-") > 0 {
		k, end := strings.Index(v, ":-"), len(all)
		if e := strings.IndexByte(all, '}'); e > k {
			end = e
		}
		d := all[k+2 : end]
		if len(d) < 3 || isFiller(d) || isSecretWord(d) || pathlike(d) || commonUsers()[strings.ToLower(d)] {
			return false
		}
		p.value = span{p.value.start + k + 2, p.value.start + end}
		return true
	}
	rest := s[p.value.end:lineEnd(s, p.value.end, 120)]
	if p.quoted && !p.wrapped || p.class < bare || !containsAny(rest, ors[:]...) ||
		!p.wrapped && !isName(v) && !codelike(v) && !isReference(v) {
		return false
	}
	for _, or := range ors {
		k := strings.Index(rest, or)
		if k < 0 {
			continue
		}
		d, ok := quoted(s, skipBlanks(s, p.value.end+k+len(or), 4))
		if !ok {
			continue
		}
		q := *p
		q.value, q.quoted, q.wrapped, q.op = d, true, false, assign
		if q.holdsSecret(s) {
			*p = q
			return true
		}
	}
	return false
}

// compared masks the literal that a value is compared with where the literal
// comes first or a function compares: '…' == $password, password.equals("…"),
// "…".equals(password).
func (x *scan) compared(p pair) bool {
	s := x.s
	name := p.name.of(s)
	i := p.name.start
	for i > 0 && p.name.start-i < 8 && strings.IndexByte("$@ &*", s[i-1]) >= 0 {
		i--
	}
	if dot := strings.IndexByte(name, '.'); dot < 0 && (i == 0 || s[i-1] != '=' && s[i-1] != '(' && s[i-1] != ',') {
		return false
	}
	for _, f := range [...]string{".equals", ".equalsIgnoreCase", ".compareTo", ".eql?", ".eq"} {
		if root, ok := strings.CutSuffix(name, f); ok && strings.HasPrefix(s[p.name.end:], "(") {
			if v, quotes := quoted(s, p.name.end+1); quotes {
				p.class, p.value, p.quoted, p.op = classify(root), v, true, compare
				return x.mask(p)
			}
			return true
		}
	}
	if v, ok := p.comparedByCall(s, i); ok {
		p.value, p.quoted, p.op = v, true, compare
		if p.class == weak {
			p.class = classify(strings.Replace(name, "get", "", 1))
		}
		return x.mask(p)
	}
	joint := ""
	for _, j := range [...]string{"===", "!==", "==", "!=", ".equals(", ".equalsIgnoreCase("} {
		if strings.HasSuffix(s[max(0, i-20):i], j) {
			joint = j
			break
		}
	}
	if joint == "" {
		return false
	}
	end := i - len(joint)
	for end > 0 && s[end-1] == ' ' {
		end--
	}
	if end < 3 || strings.IndexByte("\"'`", s[end-1]) < 0 {
		return false
	}
	q := s[end-1]
	start := strings.LastIndexByte(s[lineStart(s, end-1, 200):end-1], q)
	if start < 0 {
		return false
	}
	p.value = span{lineStart(s, end-1, 200) + start + 1, end - 1}
	p.quoted, p.op = true, compare
	return x.mask(p)
}

// comparedByCall returns the literal that a function compares a value with, whose
// name begins after i: strcmp(password, "…"), assertEquals("…", user.getPassword()),
// expect(password).toBe("…").
func (p *pair) comparedByCall(s string, i int) (span, bool) {
	end := p.name.end
	if strings.HasPrefix(s[end:], "()") {
		end += 2
	}
	rest := s[end:min(len(s), end+24)]
	for _, f := range [...]string{").toBe(", ").toEqual(", ").toStrictEqual(", ").to.equal(", ").to.eq(", ").isEqualTo("} {
		if strings.HasPrefix(rest, f) {
			return quoted(s, end+len(f))
		}
	}
	open := i
	for open > max(0, i-80) && s[open-1] != '(' && s[open-1] != '\n' {
		open--
	}
	if open == 0 || s[open-1] != '(' {
		return span{}, false
	}
	f := open - 1
	for f > 0 && open-f < 40 && (isAlnum(s[f-1]) || s[f-1] == '_') {
		f--
	}
	if !containsAny(strings.ToLower(s[f:open-1]), "cmp", "compare", "equal", "digest", "verify", "check") {
		return span{}, false
	}
	if open == i && strings.HasPrefix(rest, ",") {
		return quoted(s, skipBlanks(s, end+1, 8))
	}
	v, ok := quoted(s, open)
	return v, ok && v.end < i
}

// mask adds the value of a pair if it is a secret.
func (x *scan) mask(p pair) bool {
	if p.value.end <= p.value.start || !p.holdsSecret(x.s) {
		return false
	}
	x.addAs(p.class.rule(), p.value.start, p.value.end)
	return true
}

// several masks the strings of a list that a plural names: tokens: ["…", "…"].
func (x *scan) several(name span) {
	s := x.s
	word := name.of(s)
	if len(word) < 5 || lower(word[len(word)-1]) != 's' {
		return
	}
	p := pair{name: name, class: classify(word[:len(word)-1]), op: assign, quoted: true}
	if p.class < bare {
		return
	}
	i := skipBlanks(s, closing(s, name.end), 4)
	if i >= len(s) || s[i] != ':' && s[i] != '=' {
		return
	}
	for i < len(s) && strings.IndexByte(":=>", s[i]) >= 0 {
		i++
	}
	i = skipBlanks(s, i, 4)
	if i >= len(s) || s[i] != '[' && s[i] != '(' {
		return
	}
	hi := min(len(s), i+2048)
	for i++; i < hi; {
		for i < hi && (isSpace(s[i]) || s[i] == ',') {
			i++
		}
		v, ok := quoted(s, i)
		if !ok || v.end <= v.start {
			return
		}
		if p.value = v; evidence(v.of(s)) || p.class >= secret {
			x.mask(p)
		}
		i = v.end + len(quoteAt(s, i))
	}
}

// joined classifies a name of two words that a blank parts: API key, seed phrase.
func joined(s string, name span, c class) class {
	i := name.start
	if i < 3 || s[i-1] != ' ' && s[i-1] != '-' || !isLetter(s[i-2]) || name.end-i > len("mnemonic") {
		return c
	}
	word := strings.ToLower(name.of(s))
	j := i - 1
	for j > max(0, i-24) && isLetter(s[j-1]) {
		j--
	}
	before := strings.ToLower(s[j : i-1])
	switch word {
	case "key", "keys":
		if secretKeys()[before] {
			return secret
		}
		return c
	case "phrase", "words":
		if isPhrase(before) {
			return password
		}
	case "mnemonic":
		return password
	}
	return c
}
