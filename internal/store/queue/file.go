package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// version is that of the files that are written. In files of version 1 the payload
// stands among the other keys, and the kind may be missing.
const version = 2

// What stands around a payload: how long a reason may be, and how long the file
// may be without its payload, in bytes.
const (
	maxReason = 200
	headLimit = 2 << 10
)

// errNewer says that a file is a job which this version does not understand.
var errNewer = errors.New("a job of a newer version")

var errNoJob = errors.New("the file holds no job")

// parse reads the file of a job in the folder of a kind; name is without its
// ending. The error is errNewer for what has to be left to a newer version.
func parse(k Kind, name string, data []byte) (Job, error) {
	j := Job{kind: k}
	if err := json.Unmarshal(data, &j); err != nil {
		return j, fmt.Errorf("%w: %w", errNoJob, err)
	}
	if j.V > version || j.V > 0 && j.Kind != k.name && (j.Kind != "" || j.V > 1) {
		return j, fmt.Errorf("%w: version %d, kind %.40q", errNewer, j.V, j.Kind)
	}
	var old struct { // of version 1, of a summary that is to be tried again
		Tries int       `json:"tries"`
		Due   time.Time `json:"due"`
	}
	if j.V == 1 {
		if err := json.Unmarshal(data, &old); err != nil {
			return j, fmt.Errorf("%w: %w", errNoJob, err)
		}
		j.Attempts, j.NotBefore, j.Payload = old.Tries, old.Due, data
	}
	attempts, numbered := strings.CutPrefix(name, string(j.ID)+".")
	_, err := note.ParseID(string(j.ID))
	if numbered && err == nil {
		j.Attempts, err = strconv.Atoi(attempts)
	}
	if err != nil || j.V < 1 || len(j.Payload) == 0 || j.Attempts < 0 || j.Due().IsZero() || !numbered && (j.V > 1 || name != string(j.ID)) {
		return j, errNoJob
	}
	return j, nil
}
