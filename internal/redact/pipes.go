package redact

import "strings"

// readers are commands that read a secret from their standard input.
var readers = [...]string{
	"passwd --stdin", "passwd -s", "--password-stdin", "--pass-stdin", "sudo -S", "sudo -kS", "chpasswd", "--with-token", "kinit",
	"cryptsetup",
	"passphrase-fd 0", "smbpasswd", "secret create", "secret set", "secret put", "secrets create", "versions add", "vault login -",
	"ssh-add", "pass insert", "login --token",
	"--stdin-password", "su -c", "su - ", "openvpn", "lpass", "auth login",
}

// piped masks what echo or printf hands to a command that reads a secret.
func (x *scan) piped(at, i int) {
	if at > 0 && isAlnum(x.s[at-1]) {
		return
	}
	s := x.s
	line := s[at:lineEnd(s, at, 400)]
	if strings.HasSuffix(s[max(0, at-2):at], "<(") { // preshared-key <(echo …)
		if k := strings.IndexByte(line, ')'); k > 0 {
			word := strings.Trim(s[i:at+k], "\"' ")
			if start := i + strings.Index(s[i:], word); len(word) >= 20 && base64Run(word) == len(word) && random(word) && !allHex(word) {
				x.add(start, start+len(word))
			}
		}
		return
	}
	bar := strings.Index(line, "|")
	if bar < 0 || !containsAny(line[bar:], readers[:]...) {
		if bar = strings.Index(line, " >"); bar < 0 || !secretFile(line[bar+2:]) {
			return
		}
	}
	args := arguments(s, i, bar)
	for len(args) > 0 && (strings.HasPrefix(args[0].of(s), "-") || strings.HasPrefix(strings.Trim(args[0].of(s), `"'`), "%s")) {
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	v := span{args[0].start, min(args[len(args)-1].end, at+bar)}
	for v.start < v.end && strings.IndexByte(`"'\`, s[v.start]) >= 0 {
		v.start++
	}
	for v.end > v.start && strings.IndexByte("\"'\\ ", s[v.end-1]) >= 0 {
		v.end--
	}
	word := v.of(s)
	if user, pass, ok := strings.Cut(word, ":"); ok && (strings.Contains(line[bar:], "chpasswd") || line[bar+1] == '>') &&
		wordRun(user) == len(user) {
		word, v.start = pass, v.end-len(pass)
	}
	if len(word) >= 3 && (!standsIn(word) || weakPassword(word)) && !strings.Contains(word, "/") && strings.Count(word, " ") < 6 {
		x.add(v.start, v.end)
	}
}

// secretFile reports whether what a line writes to is a file of secrets.
func secretFile(line string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(line, "> "), " ")
	name = strings.ToLower(strings.TrimSuffix(name, ".txt"))
	return hasSuffix(name, "secret", "secrets", "passwd", "password", "passwords", ".pgpass", ".netrc", "credentials", "token",
		".key", "passphrase", "vault_pass", "_pass")
}

// typed masks what a script types where a program asks for a password: send "…\r",
// child.sendline('…').
func (x *scan) typed(at, i int) {
	s := x.s
	if hasFold(s, i, "line") {
		i += len("line")
	}
	for i < len(s) && i < at+20 && strings.IndexByte(" (-", s[i]) >= 0 {
		i++
	}
	v, ok := quoted(s, i)
	if !ok || at > 0 && isAlnum(s[at-1]) || !containsAny(strings.ToLower(s[max(0, at-120):at]), "assword", "assphrase") {
		return
	}
	word := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(v.of(s), "r"), "n"), `\`)
	word = strings.TrimRight(word, `\`)
	if len(word) >= 3 && !isFiller(word) && !strings.ContainsAny(word, " $") {
		x.add(v.start, v.start+len(word))
	}
}

// hereText masks what a here document or string hands to a command that reads a secret.
func (x *scan) hereText(at, i int) {
	s := x.s
	line := s[lineStart(s, at, 120):at]
	if !containsAny(line+" ", readers[:]...) && !strings.Contains(line, "passwd") {
		return
	}
	if i < len(s) && s[i] == '<' {
		i = skipBlanks(s, i+1, 4)
		v, ok := quoted(s, i)
		if !ok {
			v = span{i, runEnd(s, i)}
		}
		if w := v.of(s); len(w) >= 3 && !isFiller(w) {
			x.add(v.start, v.end)
		}
		return
	}
	for i < len(s) && strings.IndexByte(" -\"'", s[i]) >= 0 {
		i++
	}
	delimiter := s[i : i+wordRun(s[i:min(len(s), i+40)])]
	_, i = nextLine(s, i)
	for n := 0; n < 20 && i < len(s) && delimiter != ""; n++ {
		end, next := nextLine(s, i)
		word := strings.TrimSpace(s[i:end])
		if word == delimiter || next <= i {
			return
		}
		start := i + strings.Index(s[i:end], word)
		if len(word) >= 3 && !isFiller(word) && !strings.Contains(word, " ") {
			x.add(start, start+len(word))
		}
		i = next
	}
}

// decoded masks what a command printed that decoded a secret.
func (x *scan) decoded(at, _ int) {
	s := x.s
	end := lineEnd(s, at, 200)
	line := strings.ToLower(s[lineStart(s, at, 300):end])
	if !containsAny(line, "secret", "password", "token") || strings.Contains(line, ">") {
		return
	}
	_, i := nextLine(s, end)
	stop, _ := nextLine(s, i)
	v := span{i, stop}
	if w := strings.TrimSpace(v.of(s)); len(w) >= 4 && !strings.ContainsAny(w, " $:/") && !isFiller(w) && (evidence(w) || random(w)) {
		start := i + strings.Index(v.of(s), w)
		x.add(start, start+len(w))
	}
}

// signingCall masks the key that a function signs with: jwt.sign(payload, '…'),
// createHmac('sha256', '…').
func (x *scan) signingCall(at, _ int) {
	s := x.s
	open := strings.IndexByte(s[at:min(len(s), at+20)], '(')
	if open < 0 {
		return
	}
	i := at + open + 1
	for n := 0; n < 3; n++ {
		if n > 0 {
			i = skipBlanks(s, i, 8)
			if v, ok := quoted(s, i); ok {
				if w := v.of(s); len(w) >= 4 && !standsIn(w) && !pathlike(w) && !strings.Contains(w, " ") && evidence(w) && !isTechWord(w) {
					x.add(v.start, v.end)
				}
				return
			}
		}
		k := strings.IndexAny(s[i:min(len(s), i+120)], ",)\n")
		if k < 0 || s[i+k] != ',' {
			return
		}
		i += k + 1
	}
}

// cipherCall masks the key that is the first argument of a cipher: Fernet(b'…').
func (x *scan) cipherCall(_, i int) {
	s := x.s
	if i = skipBlanks(s, i, 8); i < len(s) && s[i] == 'b' {
		i++
	}
	if v, ok := quoted(s, i); ok && v.end-v.start >= 16 && evidence(v.of(s)) && !standsIn(v.of(s)) {
		x.add(v.start, v.end)
	}
}

// slashFlag masks the argument that is glued to a flag for a password: -p:…
func (x *scan) slashFlag(_, i int) {
	v := span{i, runEnd(x.s, i)}
	if w := v.of(x.s); len(w) >= 4 && !standsIn(w) && !strings.ContainsAny(w, "=/\\:$") && evidence(w) &&
		strings.Trim(w, digits+".") != "" {
		x.add(v.start, v.end)
	}
}
