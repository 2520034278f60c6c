package upgrade

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// ErrNoKey says that a program cannot know its own releases.
var ErrNoKey = errors.New("this program was built without the public key of releases, so it cannot tell a release from anything else")

// A publicKey is one of minisign: "Ed", the id of the key, the key of Ed25519.
type publicKey struct {
	id  [8]byte
	key ed25519.PublicKey
}

// algorithm begins keys, and signatures of the bytes of a file (`minisign -S -l`). Those of
// a BLAKE2 hash begin with "ED", and are not made of our releases.
const algorithm = "Ed"

func parseKey(text string) (k publicKey, err error) {
	if text == "" {
		return k, ErrNoKey
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) != len(algorithm)+len(k.id)+ed25519.PublicKeySize || string(raw[:2]) != algorithm {
		return k, errors.New("the public key of releases in this program is damaged")
	}
	k.key = raw[copy(k.id[:], raw[2:])+2:]
	return k, nil
}

// verify checks a signature file of minisign: of the file, and of the comment that came with it.
func (k publicKey) verify(file []byte, signature string) error {
	lines := strings.Split(strings.ReplaceAll(signature, "\r\n", "\n"), "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[0], "untrusted comment:") {
		return errors.New("its signature is no file of minisign")
	}
	comment, ok := strings.CutPrefix(lines[2], "trusted comment: ")
	raw, err := base64.StdEncoding.DecodeString(lines[1])
	whole, err2 := base64.StdEncoding.DecodeString(lines[3])
	if !ok || errors.Join(err, err2) != nil ||
		len(raw) != len(algorithm)+len(k.id)+ed25519.SignatureSize || len(whole) != ed25519.SignatureSize {
		return errors.New("its signature is no file of minisign")
	}
	if string(raw[:2]) != algorithm {
		return errors.New("its signature is of another kind; releases are signed with `minisign -S -l`")
	}
	if string(raw[2:10]) != string(k.id[:]) {
		return fmt.Errorf("it was signed with another key (%X) than that of releases (%X)", reversed(raw[2:10]), reversed(k.id[:]))
	}
	sig := raw[10:]
	if !ed25519.Verify(k.key, file, sig) || !ed25519.Verify(k.key, append(sig[:len(sig):len(sig)], comment...), whole) {
		return errors.New("its signature is wrong: somebody changed it, or it came damaged")
	}
	return nil
}

// reversed is the id of a key in the order in which minisign shows it.
func reversed(id []byte) []byte {
	out := make([]byte, len(id))
	for i, b := range id {
		out[len(id)-1-i] = b
	}
	return out
}
