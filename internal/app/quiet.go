package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"anamnesis/internal/layout"
	"anamnesis/internal/store"
)

// quietFile is until when prompts are told nothing.
const quietFile = layout.Spool + "/quiet.json"

// A QuietAnswer says until when prompts are told nothing.
type QuietAnswer struct {
	Until string `json:"until"` // RFC 3339; "" when they are told something
}

// BeQuiet lets prompts of all sessions be told nothing for a while; 0 ends that.
func BeQuiet(r *Rooms, d time.Duration) (QuietAnswer, error) {
	if d <= 0 {
		return QuietAnswer{}, r.Store.Spool().Remove(quietFile)
	}
	if r.Store.ReadOnly() {
		return QuietAnswer{}, store.ErrReadOnly
	}
	a := QuietAnswer{r.Store.Now().Add(d).UTC().Format(time.RFC3339)}
	data, err := json.Marshal(a)
	if err == nil {
		err = r.Store.Spool().Write(quietFile, append(data, '\n'), true)
	}
	return a, err
}

// QuietUntil returns until when prompts are told nothing, zero when they are told
// something. A file that cannot be understood is silence: who wrote it wanted that.
func QuietUntil(s *store.Store) (time.Time, error) {
	data, err := os.ReadFile(s.Path(quietFile))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	var a QuietAnswer
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	until, perr := time.Parse(time.RFC3339, a.Until)
	if err = errors.Join(err, perr); err != nil {
		return time.Time{}, fmt.Errorf("read %s: %w; `anamnesis quiet off` removes it", s.Path(quietFile), err)
	}
	if !until.After(s.Now()) {
		return time.Time{}, nil
	}
	return until, nil
}

// Quiet says why prompts are told nothing now, "" when they are told something.
func (r *Rooms) Quiet() (string, error) {
	until, err := QuietUntil(r.Store)
	if err != nil || until.IsZero() {
		return "", err
	}
	return "it was asked to be quiet until " + until.Local().Format("2006-01-02 15:04"), nil
}
