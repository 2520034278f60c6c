package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"anamnesis/internal/replica/seal"
)

// The files of Options.Seal. The first holds the secret of this machine, as age reads
// it; the other one nothing that is secret.
const (
	identityFile = "identity.txt"
	groupFile    = "group.json"
)

// keys are what a machine knows about who may read.
type keys struct {
	V     int             `json:"v"`
	Group seal.Group      `json:"group"` // as far as it knows, nil before
	Seen  map[string]seen `json:"seen"`  // by remote

	// Repelled is when machines that may not read any more were last found to have written, by name.
	Repelled map[string]time.Time `json:"repelled,omitempty"`

	self *seal.Identity
}

// seen is the newest state of a remote that this machine knew.
type seen struct {
	N  int64  `json:"n"`
	ID string `json:"id"` // of the file that says it
}

// maxRepelled is how many machines are remembered. Who may write to a hub can make up any number.
const maxRepelled = 16

// repelled remembers that a machine wrote that may not read any more.
func (k *keys) repelled(machine string, at time.Time) {
	if k.Repelled == nil {
		k.Repelled = make(map[string]time.Time)
	}
	k.Repelled[machine] = at.UTC().Truncate(time.Second)
	for len(k.Repelled) > maxRepelled {
		oldest := machine
		for name, t := range k.Repelled {
			if t.Before(k.Repelled[oldest]) {
				oldest = name
			}
		}
		delete(k.Repelled, oldest)
	}
}

// Seals reports whether a folder holds the keys of a machine.
func Seals(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, identityFile))
	return err == nil
}

func readKeys(dir string) (k keys, err error) {
	text, err := os.ReadFile(filepath.Join(dir, identityFile))
	if errors.Is(err, fs.ErrNotExist) {
		return k, fmt.Errorf("%w: this machine has no key in %s: `anamnesis sync --seal` makes one", ErrSealed, dir)
	}
	if err != nil {
		return k, fmt.Errorf("read the key of this machine: %w", err)
	}
	if k.self, err = seal.ParseIdentity(string(text)); err != nil {
		return k, fmt.Errorf("%w: %s: %w", ErrSealed, filepath.Join(dir, identityFile), err)
	}
	data, err := os.ReadFile(filepath.Join(dir, groupFile))
	if err == nil {
		err = json.Unmarshal(data, &k)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k, fmt.Errorf("%w: read who may read: %w; put the file back, or remove it and compare the name that the next sync tells",
			ErrSealed, err)
	}
	if k.Seen == nil {
		k.Seen = make(map[string]seen)
	}
	return k, nil
}

// write keeps the group. The identity is written once, by makeKeys.
func (k *keys) write(dir string) error {
	k.V = 1
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, groupFile), append(data, '\n'))
}

// makeKeys gives this machine an identity if it has none.
func makeKeys(dir string) (made bool, err error) {
	if Seals(dir) {
		return false, nil
	}
	i, err := seal.NewIdentity()
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	text := "# The key of this machine, for what it sends sealed: keep it to yourself. age reads it too.\n# public key: " +
		i.Member("").Age + "\n" + i.Secret() + "\n"
	return true, replaceFile(filepath.Join(dir, identityFile), []byte(text))
}
