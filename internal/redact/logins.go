package redact

import "strings"

// loginCall masks the user and the password among the strings that a call takes:
// the last string that looks like a password, and the one before it.
func (x *scan) loginCall(_, i int) {
	s, found := x.s, x.strings(i)
	if len(found) == 1 && random(found[0].of(s)) {
		x.add(found[0].start, found[0].end) // client.login('…')
	}
	for k := len(found) - 1; k >= 1; k-- {
		v, u := found[k], found[k-1]
		pass, user := v.of(s), u.of(s)
		if len(pass) < 4 || strings.Contains(pass, " ") || standsIn(pass) && !weakPassword(pass) || pathlike(pass) || label(pass) ||
			strings.EqualFold(pass, user) {
			continue
		}
		if len(user) >= 3 && !strings.ContainsAny(user, " :/") && !isPlaceholder(user) && !isReference(user) {
			x.addBeside(u.start, u.end)
		}
		x.add(v.start, v.end)
		return
	}
}

// strings returns the strings among the first arguments of a call, which begin at i.
func (x *scan) strings(i int) (found []span) {
	s := x.s
	for hi := min(len(s), i+400); i < hi && len(found) < 5; {
		i = skipBlanks(s, i, 40)
		v, ok := quoted(s, i)
		if ok {
			found = append(found, v)
			i = v.end + len(quoteAt(s, i))
		} else {
			k := strings.IndexAny(s[i:hi], ",)\n\"'")
			if k < 0 {
				break
			}
			i += k
		}
		i = skipBlanks(s, i, 8)
		if i >= hi || s[i] != ',' {
			break
		}
		i++
	}
	return found
}
