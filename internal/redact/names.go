package redact

import "strings"

// A class says how much a name promises.
type class int

const (
	ordinary class = iota
	weak           // may name a secret: key, session, token_x; only a random value counts
	bare           // secret or token alone, a word of prose and of parsers as well
	secret         // names a secret: api_key, access_token, client-secret
	password       // names a password, which people choose and which may look like a word
)

// classify judges a name by its words: the last one says what a thing is, those
// before it say which.
func classify(name string) class {
	var words [24]string
	n := splitWords(strings.ToLower(name), name, &words)
	w := words[:n]
	for len(w) > 1 && qualifier(w[len(w)-1]) {
		w = w[:len(w)-1]
	}
	if len(w) == 0 {
		return ordinary
	}
	last, before := w[len(w)-1], w[:len(w)-1]
	c := head(last, before)
	if c == ordinary && isVariable(name) {
		return password // PGPASS, LDAPPW
	}
	if c == ordinary {
		// The word stands before something else: TOKEN_GITHUB, but also token_type.
		if attributes()[last] {
			return ordinary
		}
		for i := range before {
			if head(before[i], before[:i]) >= bare {
				return weak
			}
		}
		return ordinary
	}
	if len(before) > 0 && (before[0] == "max" || before[0] == "min") {
		return ordinary // maxPassword = 4096
	}
	for _, v := range before {
		if verbs()[v] {
			return min(c, weak)
		}
	}
	return c
}

// classify is the same with a memory: a text uses few names, and those often.
func (x *scan) classify(name string) class {
	if name == "" {
		return ordinary
	}
	if x.names == nil {
		x.names = new([32]namedClass)
	}
	seen := &x.names[(len(name)*31+int(name[0])*7+int(name[len(name)-1]))%len(x.names)]
	if seen.name != name {
		*seen = namedClass{name, classify(name)}
	}
	return seen.class
}

// A namedClass is a name that was judged.
type namedClass struct {
	name  string
	class class
}

// splitWords cuts a name at its joints: _ - . and changes of case. It returns how many words there are.
func splitWords(low, name string, out *[24]string) int {
	n, start := 0, 0
	put := func(end int) {
		if end > start && n < len(out) {
			out[n] = low[start:end]
			n++
		}
		start = end
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case !isAlnum(c):
			put(i)
			start = i + 1
		case i == start:
		case isUpper(c) && (isLower(name[i-1]) || isDigit(name[i-1]) || i+1 < len(name) && isLower(name[i+1]) && isLetter(name[i-1])),
			isDigit(c) && isLetter(name[i-1]):
			put(i)
		}
	}
	put(len(name))
	return n
}

// isVariable reports whether a name is one of a variable of the environment whose last word holds
// a password and the name of a program, written as one: PGPASS.
func isVariable(name string) bool {
	last := name[strings.LastIndexByte(name, '_')+1:]
	if strings.ToUpper(name) != name && strings.ToLower(last) != last || !wordlike(last) || strings.ContainsAny(last, ".-") {
		return false
	}
	last = strings.ToLower(last)
	return len(last) > 3 && hasSuffix(last, "pass", "pw") && !passWords()[last]
}

// head judges the word that says what the thing is.
func head(last string, before []string) class {
	compound := len(before) > 0
	if passwordNames()[last] {
		return password
	}
	switch last {
	case "pass", "pw":
		return password
	case "authorization":
		return bare
	case "phrase":
		return phraseOf(before)
	case "material":
		return secretIf(compound && before[len(before)-1] == "key", ordinary)
	case "secret":
		return secretIf(compound, bare)
	case "token":
		if compound && otherTokens()[before[len(before)-1]] {
			return weak
		}
		return secretIf(compound, bare)
	case "pat":
		if compound {
			return weak // personal access token, or pattern
		}
	case "credential", "credentials", "creds", "cred":
		return secretIf(compound, bare)
	case "key":
		if compound {
			return keyOf(before[len(before)-1], before)
		}
		return weak
	}
	if weakNames()[last] {
		return weak
	}
	switch {
	case hasSuffix(last, passwordEndings()...), strings.HasSuffix(last, "pwd") && last != "oldpwd":
		return password
	case hasSuffix(last, secretEndings()...), strings.HasSuffix(last, "token") && !strings.HasSuffix(last, "maxtoken"):
		return secret
	}
	return ordinary
}

// phraseOf judges a phrase by the word before it: pass_phrase, seedPhrase.
func phraseOf(before []string) class {
	if len(before) > 0 && isPhrase(before[len(before)-1]) {
		return password
	}
	return ordinary
}

// isPhrase reports whether a word before phrase or words makes it a secret.
func isPhrase(w string) bool {
	return w == "seed" || w == "recovery" || w == "mnemonic" || w == "pass" || w == "backup"
}

// secretIf returns secret if it is so, and no otherwise.
func secretIf(so bool, no class) class {
	if so {
		return secret
	}
	return no
}

// keyOf judges a key by the word before it.
func keyOf(w string, before []string) class {
	switch {
	case plainKeys()[w]:
		return ordinary
	case secretKeys()[w]:
		return secret
	}
	for _, b := range before {
		if b == "secret" || b == "private" || b == "api" {
			return secret
		}
	}
	return weak
}

// qualifier reports whether a word at the end of a name only says which one of several it is.
func qualifier(w string) bool { return qualifiers()[w] || strings.Trim(w, "0123456789") == "" }
