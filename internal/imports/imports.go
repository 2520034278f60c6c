// Package imports brings in what other memories hold: the memories that coding
// agents keep for themselves, their past sessions, and the notes and database
// of the program reflect.
//
// Every importer makes a Plan first. A plan reads, maps and compares, and writes
// nothing; Apply carries it out. What is applied a second time changes nothing,
// and what was stopped goes on where it was: each note is decided separately,
// through the one door in (package ingest), or as a session by package capture.
//
// A source never takes back what its owner did here. A note that was edited,
// archived, deleted or forgotten since it came in stays so; the plan says why.
// What is read is not trusted: of symbolic links only those to folders are followed that the user made, sizes and counts
// are bounded, databases are opened as a copy, and texts are redacted before
// they are compared.
//
// Failure policy: one bad file, row or session is named in the plan or in the
// report and never stops the others. What stops a run is the store itself: it
// is locked, read-only or full. Then the report says what was done before.
package imports

import (
	"os"

	"anamnesis/internal/capture"
	"anamnesis/internal/index"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/redact"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// Homes are the folders in which other memories stand, absolute. What is empty
// is not looked at.
type Homes struct {
	Agents    map[string]string // of coding agents, by the names they have in package agent
	Memories  map[string]string // folders to which agents have moved their own memories, by the same names
	Learnings string            // ~/.learnings, the notes of reflect
	Reflect   string            // ~/.reflect, its state
}

// Options say what is imported for whom.
type Options struct {
	MachineID string // ids of new notes are made with it, so that two machines with equal paths do not share notes
	Homes     Homes

	// Checkpoints opens what a tool keeps of sessions in the repository that holds a folder; nil where there
	// is none.
	Checkpoints func(folder string) *replica.Branch
}

// An Importer makes plans and carries them out.
type Importer struct {
	store    *store.Store
	index    *index.Index
	ingester *ingest.Ingester
	recorder *capture.Recorder
	redactor *redact.Redactor
	opts     Options
}

// New returns an Importer. The redactor is the one that the ingester has.
func New(s *store.Store, ix *index.Index, g *ingest.Ingester, rec *capture.Recorder, r *redact.Redactor, o Options) *Importer {
	return &Importer{store: s, index: ix, ingester: g, recorder: rec, redactor: r, opts: o}
}

// What a plan is about.
const (
	fromNative      = "native"
	FromTranscripts = "transcripts"
	fromReflect     = "reflect"
)

// An Action says what becomes of an item.
type Action string

// The actions. Apply acts on the first three.
const (
	Adds      Action = "new"
	Updates   Action = "update"
	Keeps     Action = "keep"      // a session that is kept word for word, and makes no note
	Unchanged Action = "unchanged" // it is here as it is there
	Skipped   Action = "skipped"   // it does not come in, and nobody need do anything
	Refused   Action = "refused"   // it cannot come in; its owner may want to know
)

// An Item is one thing that was found.
type Item struct {
	Source  string    `json:"source"` // where it stands, and in it which
	Action  Action    `json:"action"`
	Why     string    `json:"why,omitempty"`
	ID      note.ID   `json:"id,omitempty"`
	Type    note.Type `json:"type,omitempty"`
	Title   string    `json:"title,omitempty"`
	Project string    `json:"project,omitempty"`
	Bytes   int64     `json:"bytes,omitempty"`

	// Unreadable is how many lines of a session could not be read. A plan counts them of a session of which nothing
	// is made: of any other it looks at the ends only, and Apply counts them.
	Unreadable int `json:"unreadable,omitempty"`

	draft   *draft
	session *capture.Request
}

// A Group is a kind of thing that a source holds.
type Group struct {
	Name  string `json:"name"`
	Found int    `json:"found"`
	Left  bool   `json:"left"` // there is no place for it here; Why says what it is
	Why   string `json:"why,omitempty"`
}

// Totals count items by what becomes of them.
type Totals struct {
	New       int   `json:"new"`
	Update    int   `json:"update"`
	Keep      int   `json:"keep"` // sessions that are kept word for word and make no note
	Unchanged int   `json:"unchanged"`
	Skipped   int   `json:"skipped"`
	Refused   int   `json:"refused"`
	Files     int   `json:"files"` // files that were looked at
	Bytes     int64 `json:"bytes"` // of the items that are new or change
}

// A Plan says what an import would do.
type Plan struct {
	From     string   `json:"from"`
	Items    []Item   `json:"items"`
	Groups   []Group  `json:"groups,omitempty"`   // what was found, and what of it has no place here
	Problems []string `json:"problems,omitempty"` // sources that could not be read

	files int
	temp  string // folder of transcripts that were taken out of a repository
}

// Discard removes what the plan took out of a repository. It is no plan any more.
func (p *Plan) Discard() {
	if p.temp != "" {
		_ = os.RemoveAll(p.temp)
	}
}

// Totals counts the items of p.
func (p *Plan) Totals() Totals {
	t := Totals{Files: p.files}
	for i := range p.Items {
		it := &p.Items[i]
		switch it.Action {
		case Adds:
			t.New++
		case Updates:
			t.Update++
		case Keeps:
			t.Keep++
		case Unchanged:
			t.Unchanged++
		case Skipped:
			t.Skipped++
		case Refused:
			t.Refused++
		}
		if it.acts() {
			t.Bytes += it.Bytes
		}
	}
	return t
}

func (it *Item) acts() bool { return it.Action == Adds || it.Action == Updates || it.Action == Keeps }

// problem notes a source that could not be read.
func (p *Plan) problem(err error) { p.Problems = append(p.Problems, err.Error()) }
