package mcp

import (
	"unicode/utf8"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// maxDone is how many tokens the answer of a tool has that changed something.
const maxDone = 60

// done is the answer of a tool that changed something. Whoever called knows what was written;
// memory_get reads the note as it stands.
//
// The id stands in front of the mark: capture cuts out what the marks enclose, and joins the call
// with the note by its id.
type done struct {
	ID      note.ID   `json:"id,omitempty"`
	Begin   string    `json:"begin,omitempty"` // the marks, if the message repeats text of notes
	Outcome string    `json:"outcome"`
	Near    []note.ID `json:"near,omitempty"` // notes about the same matter
	Message string    `json:"message"`
	Until   string    `json:"until,omitempty"`

	repeats bool // the message repeats text of notes
}

// small returns the answer with its marks, cut to maxDone.
func (d done) small(start, end string) done {
	if d.repeats {
		d.Begin, d.Until = start, end
	}
	d.Message = name(d.Message)
	for {
		data, err := compact(d)
		over := utf8.RuneCount(data) - maxDone*recall.CharsPerToken
		letters := utf8.RuneCountInString(d.Message)
		switch {
		case err != nil || over <= 0 || letters <= 1 && len(d.Near) == 0:
			return d
		case len(d.Near) > 0:
			d.Near = d.Near[:len(d.Near)-1]
		default:
			d.Message = clip(d.Message, max(0, letters-1-max(1, over/2)), "…") // a letter may be two in JSON
		}
	}
}

// written is the answer to a call that wrote a note.
func written(out ingest.Outcome) done {
	d := done{Outcome: out.Result.String()}
	if out.Note != nil {
		d.ID = out.Note.ID
	}
	why := name(out.Why)
	switch out.Result {
	case ingest.Created:
		d.Message, why = "written as a new note", ""
		if out.Note != nil && out.Note.Quarantine {
			d.Message = "written into quarantine, because it reads like orders: no session is shown it until the user keeps it (`anamnesis review`)"
		}
		if out.Twin != nil {
			d.Message += "; nearly the same as " + string(out.Twin.ID)
		}
	case ingest.Updated:
		d.Message, why = "an existing note was updated", ""
	case ingest.Unchanged:
		d.Message, why = "known already; nothing was changed", ""
	case ingest.Held:
		d.Message = "not written yet; the user decides: `anamnesis review`"
	default:
		d.Message = "not written"
	}
	if len(out.Waits) > 0 {
		d.Message += "; its triggers wait for the user: `anamnesis review`"
	}
	if out.Redacted {
		d.Message += "; what looked like a secret was masked"
	}
	if out.Stale != nil {
		d.Message += "; the file is safe and will be found after the next indexing"
	}
	if why != "" {
		d.Message += ": " + why
	}
	d.repeats = why != ""
	return d
}
