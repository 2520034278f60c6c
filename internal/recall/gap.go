package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Gap is something that was asked for and that no note answers (SG6).
type Gap struct {
	Terms      string    `json:"normalized"` // the words it was asked with, sorted
	Query      string    `json:"query"`      // as it was last asked, redacted
	Sessions   int       `json:"sessions"`   // that asked
	Asks       int       `json:"asks"`
	First      time.Time `json:"first_ts"`
	Last       time.Time `json:"last_ts"`
	Weak       bool      `json:"weak,omitempty"`        // there was an answer each time, hardly one
	ResolvedBy note.ID   `json:"resolved_by,omitempty"` // the note that answers it now
}

// GapOptions select which gaps a report is about. The zero value means gaps of at
// least one session, all of them, without weak answers.
type GapOptions struct {
	MinSessions int
	Limit       int   // gaps that are returned at most; 0 means all
	Weak        bool  // weak answers too
	Resolved    bool  // those that are answered by now too
	Ask         Query // in what way Engine.Gaps asks again: its scope and its gate
}

// Gaps whose words overlap by this share are one, and a weak answer is one of
// which less than weakFactor times what the fixed gate asks for is covered. The
// signal of the calibrated gate is not a share of anything: it has no weak answers.
const (
	sameGap    = 0.6
	weakFactor = 2
)

// closed is the Count of a record that closes a gap by hand.
const closed = -1

// A reply is how well a question was answered.
type reply int

const (
	none reply = iota
	weak
	good
)

func (r *Result) reply() reply {
	switch g := r.Gate; {
	case len(r.Hits) == 0:
		return none
	case g != nil && g.Kind == "overlap" && g.Threshold > 0 && g.Signal < min(weakFactor*g.Threshold, (1+g.Threshold)/2):
		return weak
	}
	return good
}

// noteGap writes down that a question was not answered, or hardly. What was
// asked by nobody, or could not be answered because something failed, is no
// gap. A gap is text of a question: without a redactor, or where no such text may
// be kept (Options.GapLog), nothing is written.
func (e *Engine) noteGap(q Query, res *Result) {
	if !e.opts.GapLog || q.Synthetic || e.models.Redactor == nil {
		return
	}
	if res.Persona != nil {
		return
	}
	answer := res.reply()
	if answer == good || answer == none && len(res.Failed)+len(res.Missing) > 0 {
		return
	}
	text := loggedQuery(e.redact(q.Text).String())
	terms := contentTerms(text)
	if terms == "" {
		return
	}
	r := store.Record{Kind: store.Gap, Session: q.Session, Project: q.Project, Query: text, Text: terms}
	for _, h := range res.Hits {
		r.Notes = append(r.Notes, h.Row.ID)
	}
	_ = e.store.Events().Log(r) // a question is answered whether or not that can be written down
}

// maxLogged is how much of a question the event log keeps, in characters. The
// words of a gap are made of that much and, sorted, cut to as many.
const maxLogged = 200

// loggedQuery returns a redacted question as the event log keeps it: one line.
func loggedQuery(text string) string { return upTo(strings.Join(strings.Fields(text), " ")) }

// upTo cuts a line to maxLogged characters, between words where there are some.
func upTo(line string) string {
	r := []rune(line)
	if len(r) <= maxLogged {
		return line
	}
	cut := string(r[:maxLogged])
	if i := strings.LastIndexByte(cut, ' '); r[maxLogged] != ' ' && i > 0 {
		cut = cut[:i]
	}
	return cut
}

// masked is what the redactor puts in the place of a secret.
const masked = "[REDACTED]"

// contentTerms returns the words of a question that carry a topic, sorted.
func contentTerms(text string) string {
	tokens := slices.DeleteFunc(index.Tokens(strings.ReplaceAll(text, masked, " ")), index.Stopword)
	slices.Sort(tokens)
	return upTo(strings.Join(slices.Compact(tokens), " "))
}

// A gapCluster gathers records that ask for the same.
type gapCluster struct {
	Gap
	words    []string // of the first record
	sessions map[string]bool
}

// Gaps makes a report of records of the event log, oldest first: most sessions
// first, then the latest. Those that were closed are left out until somebody
// asks again. Engine.Gaps reads the log and asks again.
func Gaps(records []store.Record, o GapOptions) []Gap {
	var clusters []*gapCluster
	for _, r := range records {
		words := strings.Fields(r.Text)
		if r.Kind != store.Gap || len(words) == 0 || len(r.Notes) > 0 && !o.Weak || !o.concerns(r) {
			continue
		}
		like := func(c *gapCluster) bool { return jaccard(c.words, words) >= sameGap }
		if r.Count == closed { // all that are like it: of some projects alone, one gap may be two
			clusters = slices.DeleteFunc(clusters, like)
			continue
		}
		at := slices.IndexFunc(clusters, like)
		if at < 0 {
			at = len(clusters)
			clusters = append(clusters, &gapCluster{Gap: Gap{Terms: r.Text, Weak: true}, words: words, sessions: make(map[string]bool)})
		}
		clusters[at].take(r)
	}
	var gaps []Gap
	for _, c := range clusters {
		if c.Sessions = len(c.sessions); c.Sessions >= o.MinSessions {
			gaps = append(gaps, c.Gap)
		}
	}
	slices.SortStableFunc(gaps, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), b.Last.Compare(a.Last), cmp.Compare(a.Terms, b.Terms))
	})
	return gaps
}

func (c *gapCluster) take(r store.Record) {
	at, _ := time.Parse(time.RFC3339, r.At)
	if c.Asks == 0 || at.Before(c.First) {
		c.First = at
	}
	if c.Asks == 0 || !at.Before(c.Last) {
		c.Last, c.Query = at, r.Query
	}
	c.Asks++
	c.Weak = c.Weak && len(r.Notes) > 0
	session := r.Session
	if session == "" {
		session = "unknown-" + at.Format(time.DateOnly)
	}
	c.sessions[session] = true
}

// concerns reports whether a record is of the projects that are asked about.
func (o *GapOptions) concerns(r store.Record) bool {
	return len(o.Ask.Projects) == 0 || r.Project == "" || slices.Contains(o.Ask.Projects, r.Project)
}

// reasked bounds how many gaps are asked again, a few milliseconds each.
const reasked = 100

// closingShare is the share of a question's words, by weight, that a note must hold
// to close a gap. What the gate lets through may be about the subject alone, and a
// gap that is closed is not shown any more.
const closingShare = 0.5

// Gaps reports what was asked for and is not answered. Each gap is asked again,
// so that a note that was written since closes it.
func (e *Engine) Gaps(ctx context.Context, o GapOptions) ([]Gap, error) {
	records, err := e.gapRecords()
	if err != nil {
		return nil, fmt.Errorf("list gaps: %w", err)
	}
	var gaps []Gap
	for i, g := range Gaps(records, o) {
		if o.Limit > 0 && len(gaps) == o.Limit {
			break
		}
		if i < reasked {
			q := o.Ask
			q.Text, q.K, q.Gate, q.Synthetic, q.NoCache = g.Query, 1, true, true, true
			res, err := e.Recall(ctx, q)
			if err != nil {
				return nil, fmt.Errorf("ask again for %q: %w", g.Terms, err)
			}
			if res.reply() == good && res.Hits[0].Coverage >= closingShare {
				g.ResolvedBy = res.Hits[0].Row.ID
			}
		}
		if g.ResolvedBy == "" || o.Resolved {
			gaps = append(gaps, g)
		}
	}
	return gaps, nil
}

// gapRecords reads the records of gaps in the event log, oldest first.
func (e *Engine) gapRecords() (records []store.Record, err error) {
	files, err := e.store.Events().Files()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, err := e.store.Events().Records(f, 0, func(r store.Record) {
			if r.Kind == store.Gap {
				records = append(records, r)
			}
		}); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// ErrNoGap means that no open gap is like the words that were to close one.
var ErrNoGap = errors.New("no open gap is like that; `anamnesis review gaps --global --min-sessions 1 --weak` lists them")

// CloseGap takes a gap of any project out of the report, until somebody asks for
// it again, and returns it. text is the question, in any words that are as near
// to it as those of two questions of one gap, or its words (Gap.Terms). Without
// such a gap nothing is written, and the error is ErrNoGap.
func (e *Engine) CloseGap(ctx context.Context, text string) (Gap, error) {
	text = strings.Join(strings.Fields(text), " ")
	records, err := e.gapRecords()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Gap{}, fmt.Errorf("close gap %q: %w", upTo(text), err)
	}
	open := Gaps(records, GapOptions{Weak: true})
	if e.models.Redactor != nil {
		text = loggedQuery(e.redact(text).String())
	}
	// The words of a gap are stems, and the stem of a stem may be another one.
	for _, terms := range []string{strings.ToLower(text), contentTerms(text)} {
		words := strings.Fields(terms)
		slices.Sort(words)
		words = slices.Compact(words)
		best := Gap{}
		near := 0.0
		for _, g := range open {
			if like := jaccard(strings.Fields(g.Terms), words); like >= sameGap && like > near {
				best, near = g, like
			}
		}
		if near > 0 {
			return best, e.store.Events().Log(store.Record{Kind: store.Gap, Text: best.Terms, Count: closed})
		}
	}
	return Gap{}, fmt.Errorf("close gap %q: %w", upTo(text), ErrNoGap)
}
