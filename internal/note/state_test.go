package note_test

import (
	"testing"
	"time"

	"anamnesis/internal/note"
)

// The keys that were ever written, and the state that each says.
func TestState(t *testing.T) {
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	past, later := note.At(now.Add(-time.Hour)), note.At(now.Add(time.Hour))
	made := note.Provenance{Source: note.Learning}
	for name, tt := range map[string]struct {
		n     note.Note
		k     note.Known
		state note.State
		waits note.Reason
	}{
		"nothing is said":            {note.Note{}, note.Known{}, note.Standing, ""},
		"superseded by a note":       {note.Note{Status: "archived"}, note.Known{By: "b"}, note.Replaced, ""},
		"said to be superseded":      {note.Note{Status: "superseded"}, note.Known{}, note.Replaced, ""},
		"archived":                   {note.Note{Status: "archived", Quarantine: true}, note.Known{}, note.Archived, ""},
		"reverted":                   {note.Note{Status: "reverted"}, note.Known{}, note.Archived, ""},
		"rejected":                   {note.Note{Status: "rejected"}, note.Known{}, note.Archived, ""},
		"said to be expired":         {note.Note{Status: "expired"}, note.Known{}, note.Expired, ""},
		"a word of somebody else":    {note.Note{Status: "wip"}, note.Known{}, note.Standing, ""},
		"its time is over":           {note.Note{ForgetAfter: past, Quarantine: true}, note.Known{Now: now}, note.Expired, ""},
		"its time ends now":          {note.Note{ForgetAfter: note.At(now)}, note.Known{Now: now}, note.Expired, ""},
		"its time is to come":        {note.Note{ForgetAfter: later}, note.Known{Now: now}, note.Standing, ""},
		"the time is unknown":        {note.Note{ForgetAfter: past}, note.Known{}, note.Standing, ""},
		"a time that is none":        {note.Note{ForgetAfter: "soon"}, note.Known{Now: now}, note.Standing, ""},
		"quarantine":                 {note.Note{Quarantine: true}, note.Known{Now: now}, note.Proposed, note.Quarantined},
		"a machine worded it":        {note.Note{Provenance: made}, note.Known{}, note.Standing, note.Unread},
		"its owner has read it":      {note.Note{Provenance: made, Reviewed: past, Trusted: true}, note.Known{}, note.Standing, ""},
		"the file says so":           {note.Note{Provenance: made, Reviewed: past, Tags: []string{note.ReviewedTag}}, note.Known{}, note.Standing, note.Unvouched},
		"both are in force":          {note.Note{Provenance: made, ConflictOf: "b"}, note.Known{}, note.Standing, note.Contradiction},
		"a person wrote it":          {note.Note{Provenance: note.Provenance{Source: note.Human}, ConflictOf: "b", Trusted: true}, note.Known{}, note.Standing, ""},
		"changed outside":            {note.Note{Provenance: note.Provenance{Source: note.Human}}, note.Known{}, note.Standing, note.Unvouched},
		"a draft":                    {note.Note{Quarantine: true}, note.Known{Draft: true}, note.Proposed, note.NearDuplicate},
		"a draft against a note":     {note.Note{ConflictOf: "b"}, note.Known{Draft: true}, note.Proposed, note.Contradiction},
		"a draft that is decided":    {note.Note{Status: "archived", StatusReason: "decided"}, note.Known{Draft: true}, note.Archived, ""},
		"a draft in another state":   {note.Note{Status: "wip"}, note.Known{Draft: true}, note.Archived, ""},
		"a draft has no time to end": {note.Note{ForgetAfter: past}, note.Known{Now: now, Draft: true}, note.Proposed, note.NearDuplicate},
	} {
		if state, waits := tt.n.State(tt.k); state != tt.state || waits != tt.waits {
			t.Errorf("%s: %s, %q; want %s, %q", name, state, waits, tt.state, tt.waits)
		}
	}
}

// What is decided about a note, and taken back.
func TestDecide(t *testing.T) {
	n := note.Note{}
	if n.Archive("over"); !n.IsArchived() || !n.Decided() || n.StatusReason != "over" || n.Live(time.Time{}) {
		t.Errorf("archived: %+v", n)
	}
	if n.Revert("gone"); n.IsArchived() || !n.Decided() || n.Live(time.Time{}) {
		t.Errorf("reverted: %+v", n)
	}
	if n.Reopen(); n.Decided() || n.StatusReason != "" || !n.Live(time.Time{}) {
		t.Errorf("reopened: %+v", n)
	}
}
