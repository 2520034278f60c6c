package redact

import (
	"encoding/base64"
	"strings"
)

// address masks the user and password of an address.
//
// Of a web address the host stays: where the repository or the page is was never
// the secret. Of a database or a mail server it goes too, because user, password
// and host together open the door, unless the host is this machine.
func (x *scan) address(at, start int) {
	s := x.s
	if at < x.done {
		return
	}
	from := at
	for from > max(0, at-32) && (isAlnum(s[from-1]) || strings.IndexByte("+.-", s[from-1]) >= 0) {
		from--
	}
	hi := min(len(s), start+1024)
	end, sign := start, -1
	for end < hi && strings.IndexByte(" \t\r\n\"'`<>\\/?#|", s[end]) < 0 {
		if s[end] == '@' {
			sign = end
		}
		end++
	}
	x.done = start
	if sign < 0 || from == at {
		return
	}
	user, password, both := strings.Cut(s[start:sign], ":")
	switch {
	case user == mark:
		return
	case !both:
		if !random(user) || len(user) < 20 {
			return
		}
	case standsIn(password) && !weakPassword(password), strings.EqualFold(user, password):
		return
	}
	host := strings.ToLower(s[sign+1 : end])
	stop := sign
	if both && host != "" && !hasPrefix(strings.ToLower(s[from:at]), "http", "git", "ssh", "socks") &&
		!hasPrefix(host, "localhost", "127.", "[") && !strings.ContainsAny(host, "${}()*[") && !strings.HasSuffix(host, "example.com") {
		stop = end
	}
	x.addBeside(start, stop)
	if both {
		x.values = append(x.values, span{sign - len(password), sign})
	} else {
		x.values = append(x.values, span{start, sign})
	}
	x.done = stop
}

// driverAddress masks the login of user:password@tcp(host) as Go's MySQL driver takes it.
func (x *scan) driverAddress(at, _ int) {
	i := at
	for i > max(0, at-200) && strings.IndexByte(" \t\r\n\"'`<>\\(", x.s[i-1]) < 0 {
		i--
	}
	user, password, ok := strings.Cut(x.s[i:at], ":")
	if ok && user != mark && (!standsIn(password) || weakPassword(password)) {
		x.addBeside(i, at)
		x.values = append(x.values, span{at - len(password), at})
	}
}

// authorization masks the credentials of an authorization header: a scheme and
// a value, or a value alone.
func (x *scan) authorization(_, i int) {
	s := x.s
	i = closing(s, i)
	i = skipBlanks(s, i, 8)
	switch {
	case strings.HasPrefix(s[i:], "=>"), strings.HasPrefix(s[i:], ":="):
		i += 2
	case i < len(s) && strings.IndexByte(":=,", s[i]) >= 0:
		i++
	default:
		return
	}
	i = skipBlanks(s, i, 8)
	if q := quoteAt(s, i); q != "" {
		i = skipBlanks(s, i+len(q), 4)
	}
	j := runEnds(s, i, 24, "-")
	if j == i || j >= len(s) || !isBlank(s[j]) {
		return // a value alone: the name tells it
	}
	k := skipBlanks(s, j, 8)
	end := runEnd(s, k)
	v := s[k:end]
	if strings.EqualFold(s[i:j], "digest") || strings.HasPrefix(v, mark) || len(v) < 4 || standsIn(v) {
		return
	}
	if name, rest, ok := strings.Cut(v, "="); ok && wordlike(name) &&
		(strings.Trim(rest, "=") != "" || strings.HasSuffix(v, "=") && quoteAt(s, end) != "") {
		return // realm="…": parameters, which have names of their own
	}
	scheme := strings.ToLower(s[i:j])
	switch scheme {
	case "bearer", "basic", "token", "apikey", "api-key", "key", "ssws", "geniekey", "splunk", "bot", "negotiate", "ntlm",
		"oauth", "jwt",
		"apitoken", "api-token", "secret":
		if scheme == "basic" && sampleLogin(v) {
			return
		}
		x.add(k, end)
	default:
		if random(v) {
			x.add(k, end)
		}
	}
}

// bearer masks what follows the word bearer, if it looks like no word.
func (x *scan) bearer(at, i int) {
	k := skipBlanks(x.s, i, 8)
	if k == i || !boundary(x.s, at) {
		return
	}
	end := tokenEnd(x.s, k)
	if v := x.s[k:end]; len(v) >= 12 && !isPlaceholder(v) && (random(v) || evidence(v) && !pathlike(v)) {
		x.add(k, end)
	}
}

// basic masks base64 after the word Basic.
func (x *scan) basic(_, k int) {
	end := tokenEnd(x.s, k)
	if v := x.s[k:end]; len(v) >= 12 && len(v)%4 == 0 && base64Run(v) == len(v) && random(v) && !sampleLogin(v) {
		x.add(k, end)
	}
}

// sampleLogin reports whether base64 says user:password, username:password and the like.
func sampleLogin(v string) bool {
	plain, err := base64.StdEncoding.DecodeString(v)
	if err != nil {
		return false
	}
	user, pass, ok := strings.Cut(strings.TrimSpace(string(plain)), ":")
	return ok && isPlaceholder(user) && (isPlaceholder(pass) || isSecretWord(pass))
}

// cookies masks the values of a Cookie or Set-Cookie header.
func (x *scan) cookies(_, i int) {
	s := x.s
	i = skipBlanks(s, closing(s, i), 4)
	if i >= len(s) || s[i] != ':' && s[i] != ',' && s[i] != '=' {
		return
	}
	i = skipBlanks(s, i+1, 4)
	if q := quoteAt(s, i); q != "" {
		i += len(q)
	}
	x.cookieList(i, min(len(s), i+8192))
}

// cookieList masks the values of cookies that stand from i to hi at most.
func (x *scan) cookieList(i, hi int) {
	s := x.s
	for n := 0; i < hi && n < 64; n++ {
		j := runEnds(s, i, hi-i, "_-.%$")
		if j == i || j >= hi || s[j] != '=' {
			return
		}
		v := j + 1
		end := v
		for end < hi && strings.IndexByte(" ;\t\r\n\"'`,<", s[end]) < 0 && !escapeAt(s, end) {
			end++
		}
		if w := s[v:end]; random(w) || len(w) >= 8 && evidence(w) && sessionLike(s[i:j]) {
			x.add(v, end)
		}
		i = end
		if i >= hi || s[i] != ';' {
			return
		}
		i = skipBlanks(s, i+1, 4)
	}
}

// sessionLike reports whether a cookie's name speaks of a session or a token.
func sessionLike(name string) bool {
	return containsAny(strings.ToLower(name), "sess", "sid", "auth", "token", "csrf", "xsrf", "jwt", "remember", "login")
}
