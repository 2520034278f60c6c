package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"anamnesis/internal/note"
)

// The kinds of record.
const (
	Started       = "start"      // a session started; Text is its transcript, Model its agent
	SwitchedOff   = "off"        // a session started or ended whose hooks are switched off
	Injected      = "inject"     // notes shown at session start, Out the tokens
	Prompted      = "prompt"     // a prompt, and the notes it was shown; Text says why none, Near what came close, Out the tokens shown
	ToolShown     = "tool"       // rules shown before a tool ran; as with a prompt
	Tasked        = "task"       // a sub-agent was given a task: Query; Count is how many notes are about it
	SubagentShown = "subagent"   // notes shown to a sub-agent at its start; as with a prompt
	FollowedUp    = "followup"   // what became of notes that a session was shown; Text is the Verdict
	Policed       = "policy"     // a rule of the policy spoke before a tool ran; Text is what it decided
	Recalled      = "recall"     // notes returned to a search, Out the tokens
	Written       = "write"      // a note written; Text is the outcome
	Captured      = "capture"    // a session captured or skipped; Text says which, In the tokens of the session
	Damaged       = "damaged"    // Count lines of the file Text, a session, could not be read; Error says why the whole file could not
	HandedOut     = "handout"    // Count unread turns were shown to an agent, Out the tokens; Text says where: start or tool
	Answered      = "answer"     // an agent answered for unread turns with Count items; Text says how many were kept (Notes) and known
	Learnt        = "learn"      // a session taught something; Text is what it does to the notes that stand, Notes its note and that one
	Refused       = "refuse"     // Count sentences of a session read like orders to an agent, and were not learnt
	Dropped       = "dropped"    // an item of a reader's answer that was not kept; Query is its title, redacted, Text says why
	Drained       = "drain"      // a run over the spool; Count is the number of jobs
	Synced        = "sync"       // an exchange with the remote; Count is what was pulled, Text the result
	Shared        = "share"      // an exchange with a team's database; Count is the notes that went and came
	HookFailure   = "hook-error" // a hook that could not do its work
	HookRefused   = "hook-deny"  // an event that did not come from one of our hooks; Error says why
	Gap           = "gap"        // a question that memory did not answer; Text is its words, Notes a weak answer, Count below 0 closes it
	Asked         = "model"      // a model answered; Text is the purpose, Model its name, In and Out the tokens
	Unusable      = "unusable"   // an answer of a model that was not what it was asked for; Text is its class, Query the purpose
	Limited       = "quota"      // what the vendor of a model says about its quota; Text is an llm.Limit
	Notified      = "notify"     // a program of the user was run for the record Notes; Text is where that stands in the log
	Reflected     = "reflect"    // notes of a project distilled or merged; Text says which, Count from how many
)

// Consolidated is the kind of record of a pass over the learnings of all projects. Notes are
// the observations, Text is when the newest learning was made.
const Consolidated = "consolidate"

// Events are the event log. It is safe for concurrent use, by several processes too.
type Events struct {
	s     *Store
	wrote atomic.Bool
}

// Wrote reports whether this process has logged a change of a note.
func (e *Events) Wrote() bool { return e.wrote.Load() }

// A Record is one line of the event log: something that happened on this
// machine and belongs in no note (feature S9: what churns stays out of the
// markdown). Counters are folds of records.
type Record struct {
	V       int       `json:"v"`
	ID      note.ID   `json:"id"`
	At      string    `json:"at"`
	Kind    string    `json:"kind"`
	Session string    `json:"session,omitempty"`
	Project string    `json:"project,omitempty"`
	Notes   []note.ID `json:"notes,omitempty"`
	Near    []Near    `json:"near,omitempty"`
	Query   string    `json:"query,omitempty"`
	Count   int       `json:"count,omitempty"`
	MS      float64   `json:"ms,omitempty"`
	Text    string    `json:"text,omitempty"`
	Error   string    `json:"error,omitempty"`
	Model   string    `json:"model,omitempty"`
	In      int       `json:"in,omitempty"`
	Out     int       `json:"out,omitempty"`
	Read    int64     `json:"read,omitempty"` // of a session that was captured: the bytes of its records, up to the last whole one
}

// Shows reports whether a record is about something that a session was shown unasked.
func (r *Record) Shows() bool {
	return slices.Contains([]string{Injected, Prompted, ToolShown, SubagentShown}, r.Kind)
}

// Near is a note that was nearly shown.
type Near struct {
	ID  note.ID `json:"id,omitempty"` // "" when no note came near
	Why string  `json:"why"`          // it was not
}

// Limits of one record. A line of at most 4 KB is written by one call, which
// every system appends whole.
const (
	maxRecord = 4096
	maxQuery  = 200 // characters
	maxNotes  = 64
	maxText   = 500 // characters
	maxNear   = 5
)

// Log appends r to this month's log. It fills in V, ID and At. The query must
// be redacted by the caller; texts are cut, never refused. Hooks call Log: it
// takes no lock and waits for no disk.
func (e *Events) Log(r Record) error {
	if e.s.unwritable != nil {
		return e.s.unwritable
	}
	now := e.s.now().UTC()
	r.V, r.ID, r.At = 1, note.NewID(now), now.Format("2006-01-02T15:04:05.000Z")
	r.Query, r.Text, r.Error = clip(r.Query, maxQuery), clip(r.Text, maxText), clip(r.Error, maxText)
	r.Model = clip(r.Model, maxQuery)
	if len(r.Notes) > maxNotes {
		r.Notes = r.Notes[:maxNotes]
	}
	r.Near = slices.Clone(r.Near[:min(len(r.Near), maxNear)])
	for i := range r.Near {
		r.Near[i].Why = clip(r.Near[i].Why, maxQuery)
	}
	line, err := json.Marshal(r)
	for err == nil && len(line) >= maxRecord && len(r.Notes)+len(r.Text)+len(r.Error)+len(r.Query) > 0 {
		r.Notes, r.Text = r.Notes[:len(r.Notes)/2], clip(r.Text, len(r.Text)/4)
		r.Error, r.Query = clip(r.Error, len(r.Error)/4), clip(r.Query, len(r.Query)/4)
		line, err = json.Marshal(r)
	}
	if err != nil {
		return fmt.Errorf("log %s: %w", r.Kind, err)
	}
	name := e.s.Path("events/" + now.Format("2006-01") + ".jsonl")
	err = e.s.disk.Append(name, append(line, '\n'))
	if errors.Is(err, fs.ErrNotExist) {
		if err = e.s.disk.MkdirAll(e.s.Path("events")); err == nil {
			err = e.s.disk.Append(name, append(line, '\n'))
		}
	}
	if err != nil {
		return fmt.Errorf("log %s to %s: %w", r.Kind, name, err)
	}
	if r.Kind == Written || r.Kind == Reflected {
		e.wrote.Store(true)
	}
	return nil
}

// clip cuts s to at most n characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Files lists the months of the log, oldest first.
func (e *Events) Files() ([]string, error) {
	entries, err := e.s.entries("events")
	if err != nil {
		return nil, fmt.Errorf("read the event log: %w", err)
	}
	var months []string
	for _, entry := range entries {
		if month, ok := strings.CutSuffix(entry.Name(), ".jsonl"); ok && entry.Type().IsRegular() {
			if _, err := time.Parse("2006-01", month); err == nil {
				months = append(months, entry.Name())
			}
		}
	}
	slices.Sort(months)
	return months, nil
}

// Records reads one month's log from a byte offset and calls fold for each
// record, oldest first. It returns the offset after the last complete line, so
// that the next call goes on there. Lines that are no record are skipped.
func (e *Events) Records(file string, from int64, fold func(Record)) (next int64, err error) {
	f, err := os.Open(e.s.Path("events/" + file))
	if err != nil {
		return from, fmt.Errorf("read the event log: %w", err)
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || fi.Size() < from {
		from = 0 // the file was replaced by a shorter one
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return from, fmt.Errorf("read the event log: %w", err)
	}
	r := bufio.NewReaderSize(f, 64<<10)
	for next = from; ; {
		line, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // no record is that long
			next += int64(len(line))
			continue
		case errors.Is(err, io.EOF):
			return next, nil
		case err != nil:
			return next, fmt.Errorf("read the event log: %w", err)
		}
		next += int64(len(line))
		var rec Record
		if line = bytes.TrimSpace(line); len(line) > 0 && utf8.Valid(line) && json.Unmarshal(line, &rec) == nil && rec.Kind != "" {
			fold(rec)
		}
	}
}

// Size returns the size of the log in bytes.
func (e *Events) Size() int64 {
	var size int64
	files, _ := e.Files()
	for _, f := range files {
		if fi, err := os.Stat(e.s.Path("events/" + f)); err == nil {
			size += fi.Size()
		}
	}
	return size
}
