package replica

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// How long automatic syncs leave a remote alone after the first failure, and at most.
const (
	shortest = time.Minute
	longest  = time.Hour
)

// A Backoff is what a tree remembers about a remote that it could not reach.
type Backoff struct {
	Remote   string    `json:"remote"`
	Failures int       `json:"failures"`
	Next     time.Time `json:"next"`
}

// after counts one more failure.
func (p Backoff) after(now time.Time) Backoff {
	wait := longest
	if p.Failures < 6 {
		wait = min(shortest<<p.Failures, longest)
	}
	p.Failures++
	p.Next = now.Add(wait).UTC().Truncate(time.Second)
	return p
}

func (g *git) backoffFile() string { return filepath.Join(g.dir, ".git", "anamnesis-backoff.json") }

// Backoff reads the file; a damaged one is none.
func (g *git) Backoff() Backoff {
	var p Backoff
	data, err := os.ReadFile(g.backoffFile())
	if err != nil || json.Unmarshal(data, &p) != nil {
		return Backoff{}
	}
	return p
}

// SetBackoff writes the file, or removes it. It is not synced to the disk:
// losing it costs one attempt.
func (g *git) SetBackoff(p Backoff) error {
	if p == (Backoff{}) {
		if err := os.Remove(g.backoffFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	temp := g.backoffFile() + ".new"
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(temp, g.backoffFile())
}
