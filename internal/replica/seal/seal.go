// Package seal is the form in which notes travel over a hub that must not read them.
//
// A machine has one Identity: a key of age, which opens, and a key that signs, made from
// it. The machines that may read are a Group, a list that each change of is signed by
// one of them. What stands on the hub is a Manifest, which says what the hub holds and in
// which order, and files with what was sent. All of it is encrypted with age to every
// machine of the group, so that the `age` program opens it too; the manifest is signed
// besides, because to encrypt to a machine needs no more than its public key.
//
// The package makes and reads bytes. It knows no git, no hub and no folder, and nothing
// that it is given is trusted: sizes and counts are bounded before they are used.
package seal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"filippo.io/age"
)

// The bounds of what is read, in bytes or entries.
const (
	MaxManifest = 2 << 20
	MaxSegment  = 2 << 30 // a file of the hub
	MaxSegments = 4096
	maxGroup    = 1024 // changes of the list of machines
	maxName     = 64   // of a machine
	maxNumber   = 1 << 62
)

// What callers tell apart.
var (
	// ErrNotIn means that what was sealed was not sealed for this machine.
	ErrNotIn = errors.New("this machine may not read what is there")
	// ErrForged means that no machine of the group wrote what is there, or not so.
	ErrForged = errors.New("it is not what a machine of yours wrote")
	// ErrOthers means that what is there is of another group. It is an ErrForged.
	ErrOthers = fmt.Errorf("%w: it is sealed for others", ErrForged)
	// ErrNewer means that a newer version of the program wrote what is there.
	ErrNewer = errors.New("a newer version of the program sealed it; update this one")
)

// An Identity is the secret of one machine.
type Identity struct {
	key  *age.X25519Identity
	sign ed25519.PrivateKey
}

// NewIdentity makes one.
func NewIdentity() (*Identity, error) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	return identity(key)
}

// ParseIdentity reads an identity as age writes it: lines that begin with # say
// something to people, and one other line is the secret.
func ParseIdentity(text string) (*Identity, error) {
	secret := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case secret != "":
			return nil, errors.New("there are two secrets in one identity")
		default:
			secret = line
		}
	}
	key, err := age.ParseX25519Identity(strings.ToUpper(secret))
	if err != nil {
		return nil, errors.New("it is no identity; one is a line that begins with AGE-SECRET-KEY-1") // without what was given
	}
	return identity(key)
}

func identity(key *age.X25519Identity) (*Identity, error) {
	seed, err := hkdf.Key(sha256.New, []byte(key.String()), nil, "anamnesis: signatures of a machine, 1", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return &Identity{key, ed25519.NewKeyFromSeed(seed)}, nil
}

// Secret is the line that ParseIdentity reads.
func (i *Identity) Secret() string { return i.key.String() }

// A Member is a machine that may read, as others know it.
type Member struct {
	Name     string `json:"name"`
	Age      string `json:"age"`  // its recipient
	Sign     string `json:"sign"` // its key for signatures
	Recovery bool   `json:"recovery,omitempty"`
}

// Member is this machine under a name.
func (i *Identity) Member(name string) Member {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unprintable(r) || r == utf8.RuneError {
			return '-'
		}
		return r
	}, name))
	name = shorten(name, maxName)
	if name == "" {
		name = "unknown"
	}
	return Member{Name: name, Age: i.key.Recipient().String(), Sign: i.signer()}
}

// shorten returns as much of the beginning of a text as fits, in whole characters.
func shorten(text string, size int) string {
	for len(text) > size {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// signer is the public key of what it signs.
func (i *Identity) signer() string { return encode(i.sign[ed25519.SeedSize:]) }

// Request is the line with which a machine asks to be let in. Nothing in it is secret.
func (m Member) Request() string { return m.Age + "." + m.Sign + "." + m.Name }

// ParseRequest reads such a line.
func ParseRequest(line string) (Member, error) {
	f := strings.SplitN(strings.TrimSpace(line), ".", 3)
	if len(f) != 3 {
		return Member{}, errors.New("it is no request of a machine; `anamnesis sync --seal` there prints one")
	}
	m := Member{Age: f[0], Sign: f[1], Name: f[2]}
	return m, m.check()
}

// check refuses a machine that cannot be one.
func (m Member) check() error {
	switch _, err := age.ParseX25519Recipient(m.Age); {
	case err != nil:
		return errors.New("a machine has no key that age knows")
	case len(decode(m.Sign)) != ed25519.PublicKeySize:
		return errors.New("a machine has no key for signatures")
	case m.Name == "" || len(m.Name) > maxName || !utf8.ValidString(m.Name) || strings.ContainsFunc(m.Name, unprintable):
		return errors.New("a machine has a name that cannot be shown")
	}
	return nil
}

// same reports whether two machines are one: their keys say so, whatever the names.
func (m Member) same(other Member) bool { return m.Age == other.Age && m.Sign == other.Sign }

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func decode(text string) []byte {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil
	}
	return data
}

// Encrypt returns a writer whose bytes go to w encrypted for the members. Closing it
// ends the file, and leaves w open.
func Encrypt(w io.Writer, to []Member) (io.WriteCloser, error) {
	all := make([]age.Recipient, 0, len(to))
	for _, m := range to {
		r, err := age.ParseX25519Recipient(m.Age)
		if err != nil {
			return nil, fmt.Errorf("encrypt for %s: %w", m.Name, err)
		}
		all = append(all, r)
	}
	return age.Encrypt(w, all...)
}

// Decrypt returns a reader of what was encrypted for this machine.
func (i *Identity) Decrypt(r io.Reader) (io.Reader, error) {
	plain, err := age.Decrypt(r, i.key)
	var none *age.NoIdentityMatchError
	switch {
	case errors.As(err, &none):
		return nil, ErrNotIn
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrForged, err)
	}
	return plain, nil
}

// signed is a text with the signature of a machine.
type signed struct {
	Body string `json:"body"`
	By   string `json:"by"` // its key for signatures
	Sig  string `json:"sig"`
}

// A signature is for one purpose: what is signed begins with its name.
const (
	forGroup    = "anamnesis group 1\n"
	forManifest = "anamnesis manifest 1\n"
)

func (i *Identity) seal(purpose string, v any) (signed, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return signed{}, err
	}
	return signed{
		Body: string(body), By: i.signer(),
		Sig: encode(ed25519.Sign(i.sign, append([]byte(purpose), body...))),
	}, nil
}

// open checks the signature, and reads the text into v. Whether By may sign is not its business.
func (s signed) open(purpose string, v any) error {
	key := decode(s.By)
	if len(key) != ed25519.PublicKeySize || !ed25519.Verify(key, []byte(purpose+s.Body), decode(s.Sig)) {
		return fmt.Errorf("%w: a signature is wrong", ErrForged)
	}
	return parse([]byte(s.Body), v)
}

// parse reads JSON with nothing behind it.
func parse(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrForged, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows its end", ErrForged)
	}
	return nil
}
