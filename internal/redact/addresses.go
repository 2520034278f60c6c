package redact

import "strings"

// hook masks what a machine drew in the path and the parameters of the address of a webhook, behind
// the key: who knows the address may post there.
func (x *scan) hook(at, i int) {
	if at >= x.hookEnd && (x.s[i-1] == '.' || isAddress(x.s, at)) {
		x.drawnParts(i, 16)
	}
}

// notifier masks the same in an address whose scheme is the name of a service.
func (x *scan) notifier(at, i int) {
	if at >= x.hookEnd {
		x.drawnParts(i, 12)
	}
}

// drawnParts masks what a machine drew in the address that goes on at i: from the first number or random
// part to the last random one, of least bytes at least.
func (x *scan) drawnParts(i, least int) {
	s := x.s
	end := i
	for end < min(len(s), i+512) && (isToken(s[end]) || strings.IndexByte("@?&%:", s[end]) >= 0) {
		end++
	}
	x.hookEnd = end
	start, stop := -1, -1
	for k := i; k < end; {
		n := k
		for n < end && strings.IndexByte("/?&=", s[n]) < 0 {
			n++
		}
		part := strings.TrimRight(s[k:n], ".")
		id, _, _ := strings.Cut(part, "@")
		switch {
		case isUUID(id), len(id) >= least && drawn(id) && (stop >= 0 || !allHex(id)):
			if start < 0 {
				start = k
			}
			stop = k + len(part)
		case start < 0 && len(part) >= 8 && strings.Trim(part, digits) == "":
			start = k
		case stop < 0:
			start = -1
		}
		k = n + 1
	}
	if stop > 0 && !isFiller(s[start:stop]) {
		x.add(start, stop)
	}
}

// drawn reports whether a part of an address is one that a machine drew: random, or of both cases and digits.
func drawn(v string) bool {
	sh := shapeOf(v)
	return random(v) || sh.upper > 1 && sh.lower > 1 && sh.digit > 0 && changes(v) >= 2
}

// isAddress reports whether the offset at, behind a host, belongs to an address of the web.
func isAddress(s string, at int) bool {
	from := at
	for from > max(0, at-256) && (isToken(s[from-1]) || strings.IndexByte(":@%", s[from-1]) >= 0) {
		from--
	}
	return strings.Contains(s[from:at], "://") || strings.Contains(s[from:at], ".") && strings.IndexByte(s[from:at], '/') != 0
}

// keyPair masks the secret behind the identifier of a key that stands at the offset at: the two are
// issued together, and written next to each other, perhaps with a flag between them.
func (x *scan) keyPair(at, _ int) {
	s := x.s
	if !boundary(s, at) {
		return
	}
	id := at + wordRun(s[at:min(len(s), at+64)])
	if sh := shapeOf(s[at:id]); id-at < 16 || sh.digit == 0 && sh.lower > 0 {
		return
	}
	const joints = " \t\"'`,:;|/\\\r"
	i := skipAny(s, id, joints)
	if i < len(s) && s[i] == '-' && isBlank(s[i-1]) { // -k …
		i = skipAny(s, runEnds(s, i, 24, "-"), joints)
	}
	if i == id {
		return
	}
	if k := runEnds(s, i, 6, ""); k > i && isBlank(s[i-1]) && k < len(s) && isBlank(s[k]) {
		i = k + 1 // and …
	}
	if strings.HasPrefix(s[i:], "\n") {
		i++
	}
	v := span{i, i + base64Run(s[i:min(len(s), i+160)])}
	if word := v.of(s); len(word) >= 24 && random(word) {
		x.add(v.start, v.end)
	}
}

// skipAny returns the first offset from i on that holds none of the bytes, ten of them at most.
func skipAny(s string, i int, bytes string) int {
	for n := 0; i < len(s) && n < 10 && strings.IndexByte(bytes, s[i]) >= 0; n++ {
		i++
	}
	return i
}

// clientCall masks the random ones among several strings that a client or a session is made with:
// Client("id", "…").
func (x *scan) clientCall(_, i int) {
	found := x.strings(i)
	for k, v := range found {
		word := v.of(x.s)
		if len(found) > 1 && len(word) >= 20 && random(word) && (k == len(found)-1 || shapeOf(word).upper > 0) && !isUUID(word) &&
			!standsIn(word) && !isID(word) {
			x.add(v.start, v.end)
		}
	}
}

// door masks the login before the address of a machine that no scheme begins: user:…@10.0.0.4.
func (x *scan) door(at, end int) {
	s := x.s
	i := at
	for i > max(0, at-120) && strings.IndexByte(" \t\r\n\"'`<>\\(/=,", s[i-1]) < 0 {
		i--
	}
	user, password, ok := strings.Cut(s[i:at], ":")
	if !ok || wordRun(user) != len(user) || user == "" || len(password) < 6 || !evidence(password) || shapeOf(password).digit == 0 ||
		standsIn(password) || strings.Contains(password, mark) || strings.EqualFold(user, "sha256") || end >= len(s) {
		return
	}
	x.add(at-len(password), at)
}
