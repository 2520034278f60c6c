package note

import (
	"strings"
	"unicode"
)

// A Proof says who shares a note, by what only they can make: the login that a server wrote
// down, or the key of a signature. It is an id, a line feed, and a name for people; "" proves nothing.
// What the note or a commit says of its author is no part of it.
type Proof string

// LoginProof is the proof that a login of the server of a workspace wrote a note.
func LoginProof(workspace, login string) Proof {
	return proof("login:"+strings.ToLower(workspace)+"/"+login, login)
}

// KeyProof is the proof that a key signed a note. signer is whose key it is, as the user's own list
// of keys says.
func KeyProof(key, signer string) Proof { return proof("key:"+key, signer) }

func proof(id, name string) Proof {
	if strings.HasSuffix(id, ":") || strings.HasSuffix(id, "/") || strings.ContainsFunc(id, unicode.IsControl) {
		return ""
	}
	return Proof(id + "\n" + Line(name, 100))
}

// ID returns what the user trusts when they trust whom the proof names.
func (p Proof) ID() string {
	id, _, _ := strings.Cut(string(p), "\n")
	return id
}

// Name returns the name for people.
func (p Proof) Name() string {
	_, name, _ := strings.Cut(string(p), "\n")
	return name
}
