package redact

import "strings"

// idPrefixes begin the ids that protocols of agents give to sessions, messages, parts and
// calls of tools. No service begins a credential so.
var idPrefixes = [...]string{
	"ses_", "msg_", "prt_", "call_", "toolu_", "resp_", "fc_", "rs_", "req_", "run_", "thread_", "asst_", "chatcmpl-", "gen-", "agent-",
	"session-", "srvtoolu_", "evt_",
}

// isID reports whether v is the id of something that an agent's protocol or a note names:
// toolu_…, ses_…, a ULID, T- and a UUID, the digest of a content. A word may say whose it is: opencode/ses_….
func isID(v string) bool {
	if k := strings.LastIndexByte(v, '/'); k > 0 {
		if !wordlike(v[:k]) {
			return false
		}
		v = v[k+1:]
	}
	if isULID(v) || strings.HasPrefix(v, "T-") && isUUID(v[2:]) {
		return true
	}
	if strings.HasPrefix(v, "sha256:") && allHex(v[len("sha256:"):]) {
		return true
	}
	if k := strings.IndexAny(v[:min(len(v), 10)], "_-"); k < 2 {
		return false
	}
	for _, p := range idPrefixes {
		if rest, ok := strings.CutPrefix(v, p); ok {
			return rest != "" && len(rest) <= 64 && runEnds(rest, 0, len(rest), "_-") == len(rest)
		}
	}
	return false
}

// isULID reports whether v is a ULID as we write it, in capitals.
func isULID(v string) bool {
	if len(v) != 26 || v[0] > '7' || v[0] < '0' {
		return false
	}
	for i := 0; i < len(v); i++ {
		if c := v[i]; !isDigit(c) && !isUpper(c) || strings.IndexByte("ILOU", c) >= 0 {
			return false
		}
	}
	return true
}

// isUUID reports whether v is a UUID.
func isUUID(v string) bool {
	return len(v) == 36 && allHex(v) && v[8] == '-' && v[13] == '-' && v[18] == '-' && v[23] == '-'
}

// isSelf reports whether the value is the name, perhaps with a number behind it: _token=_token; or, in
// quotes, words of it: TokenStreamKey = "stream".
func (p *pair) isSelf(s, v string) bool {
	if p.op > colon || len(v) > nameLimit {
		return false
	}
	name := strings.Trim(p.name.of(s), "_-.$")
	w := strings.Trim(v, "_$")
	if p.class < password {
		w = strings.TrimRight(w, digits)
	}
	if p.quoted && p.class < password && len(w) >= 5 && len(w) < len(name) && wordlike(w) {
		join := strings.NewReplacer("-", "", "_", "", ".", "")
		return strings.Contains(strings.ToLower(join.Replace(name)), strings.ToLower(join.Replace(w)))
	}
	return len(w) == len(name) && strings.EqualFold(w, name) && len(v)-len(w) <= 6
}

// shown reports whether what is named is made to be shown: a signature, unless it is part of an
// address, and the token of a badge.
func (p *pair) shown(s string) bool {
	switch {
	case p.class == weak && p.op != assign:
		return strings.HasSuffix(strings.ToLower(p.name.of(s)), "signature")
	case p.class == bare && p.op == assign && !p.spaced:
		return strings.Contains(s[max(0, p.name.start-24):p.name.start], "badge")
	}
	return false
}

// isDotted reports whether v is the number of an object, as ASN.1 has it: 1.2.840.113549.
func isDotted(v string) bool {
	return strings.Count(v, ".") >= 3 && strings.Trim(v, digits+".") == ""
}

// testResult reports whether the name is what a runner of tests prints before a test's own:
// --- PASS: TestLogin/wrong_password.
func (p *pair) testResult(s, v string) bool {
	return p.op == colon && p.name.of(s) == "PASS" && !p.besideUser(s) &&
		(hasPrefix(v, "Test", "Example", "Fuzz", "Benchmark") || strings.HasSuffix(s[max(0, p.name.start-4):p.name.start], "--- ") ||
			strings.ContainsAny(v, "/") || strings.Count(strings.TrimSpace(s[p.value.end:lineEnd(s, p.value.end, 200)]), " ") > 1)
}
