package quality

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Document is a line of a corpus: a note.
type Document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
	Meta  struct {
		Project    string `json:"project"`
		Group      string `json:"group"`
		Date       string `json:"date"`
		Speaker    string `json:"speaker"`
		Status     string `json:"status"`
		Supersedes idList `json:"supersedes"`
	} `json:"meta"`
}

// idList is one id or several.
type idList []string

func (l *idList) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		if one != "" {
			*l = idList{one}
		}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// A Question is a line of a file of queries.
type Question struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Meta struct {
		Group string `json:"group"`
	} `json:"meta"`
}

// maxLine bounds a line of a set, in bytes.
const maxLine = 16 << 20

// ReadLines reads a file of JSON lines.
func ReadLines[T any](name string, check func(*T) error) ([]T, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	return readLines(name, f, check)
}

func readLines[T any](name string, r io.Reader, check func(*T) error) ([]T, error) {
	var all []T
	scan := bufio.NewScanner(r)
	scan.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; scan.Scan(); n++ {
		line := bytes.TrimSpace(scan.Bytes())
		if len(line) == 0 {
			continue
		}
		var v T
		err := json.Unmarshal(line, &v)
		if err == nil {
			err = check(&v)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s, line %d: %w", name, n, err)
		}
		all = append(all, v)
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read %s: it has no lines", name)
	}
	return all, nil
}

// ReadCorpus reads the notes of a set. Ids are the set's own; each may occur once.
func ReadCorpus(name string) ([]Document, error) {
	seen := make(map[string]bool)
	return ReadLines(name, func(d *Document) error {
		switch {
		case d.ID == "":
			return errors.New("no id")
		case seen[d.ID]:
			return fmt.Errorf("id %q occurs twice", d.ID)
		}
		seen[d.ID] = true
		return nil
	})
}

// ReadQuestions reads the questions of a set.
func ReadQuestions(name string) ([]Question, error) {
	seen := make(map[string]bool)
	return ReadLines(name, func(q *Question) error {
		switch {
		case q.ID == "":
			return errors.New("no id")
		case seen[q.ID]:
			return fmt.Errorf("id %q occurs twice", q.ID)
		}
		seen[q.ID] = true
		return nil
	})
}

// imported is a second of the day on which notes without a date were written:
// by chance, so that nothing is ranked by the order of a file, and none of them
// seem to have been written together.
func imported(id string) time.Time {
	h := fnv.New32a()
	h.Write([]byte(id))
	return time.Date(2025, 1, 1, 0, 0, int(h.Sum32()%86400), 0, time.UTC)
}

// Fill writes the notes of a corpus into an empty store and returns the
// corpus's id of each note. The files are not synced: the store is thrown away.
func Fill(s *store.Store, docs []Document) (map[note.ID]string, error) {
	ids := make(map[string]note.ID, len(docs))
	names := make(map[note.ID]string, len(docs))
	for i, d := range docs {
		id := note.ID(fmt.Sprintf("eval%08d", i+1))
		ids[d.ID], names[id] = id, d.ID
	}
	for _, d := range docs {
		n := d.note(ids)
		path := s.Path(store.NotePath(n.Scope, n.Type, n.ID))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, fmt.Errorf("write note %s: %w", d.ID, err)
		}
		if err := os.WriteFile(path, n.Format(), 0o600); err != nil {
			return nil, fmt.Errorf("write note %s: %w", d.ID, err)
		}
	}
	return names, nil
}

// note makes a note of a document.
func (d *Document) note(ids map[string]note.ID) *note.Note {
	n := &note.Note{
		ID: ids[d.ID], Type: note.Semantic, Scope: note.Portable, Title: strings.TrimSpace(d.Title), Body: strings.TrimSpace(d.Text),
		Project: d.Meta.Project, MachineID: "eval", UserID: "self", WorkspaceID: "personal",
		Provenance: note.Provenance{Source: note.Import, Confidence: 1}, Status: d.Meta.Status,
	}
	if n.Project == "" {
		n.Project = d.Meta.Group
	}
	if n.Project == "" {
		n.Project = "eval"
	}
	if who := d.Meta.Speaker; who != "" && !strings.HasPrefix(n.Body, who) {
		n.Body = who + ": " + n.Body
	}
	if n.Title == "" {
		n.Title = "note"
	}
	at, ok := ParseDate(d.Meta.Date)
	if !ok {
		at = imported(d.ID)
	}
	if ok && d.Meta.Group != "" { // what a group said at one time is one conversation
		n.Provenance.Session = d.Meta.Group + " " + at.Format(time.RFC3339)
	}
	n.CreatedAt, n.UpdatedAt = note.At(at), note.At(at)
	for _, old := range d.Meta.Supersedes {
		if id, ok := ids[old]; ok {
			n.Supersedes = append(n.Supersedes, id)
		}
	}
	return n
}

// dates are the forms of a date that sets use.
var dates = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02 (Mon) 15:04", "2006/01/02",
	"3:04 pm on 2 January, 2006", "2 January, 2006", "2 January 2006", "January 2, 2006", "Jan 2, 2006", time.RFC1123, time.RFC1123Z,
}

// ParseDate reads a date in one of the forms that sets use.
func ParseDate(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	for _, form := range dates {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
