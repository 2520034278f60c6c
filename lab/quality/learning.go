package quality

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/index"
	"anamnesis/internal/learn"
	"anamnesis/internal/llm"
	"anamnesis/internal/note"
)

// A LearningBox is a throw-away store that captures sessions, lets a reader read them, and
// starts later sessions.
type LearningBox struct {
	*PromptBox
	// Capture takes in the session whose transcript stands at path.
	Capture func(ctx context.Context, path, session, project string) error
	// Read lets the reader read what waits.
	Read func(ctx context.Context) error
	// Start returns what a session of a project is injected at its start.
	Start func(ctx context.Context, session, project string) ([]note.ID, error)
}

// A LearningOpener makes a box in an empty folder, with a reader or, for nil, without.
type LearningOpener func(ctx context.Context, root string, reader llm.Generator) (*LearningBox, error)

// A LabelledSession is a session and what a careful reader kept of it.
type LabelledSession struct {
	ID, Project string
	Transcript  []byte // JSON Lines, as the default agent writes them
	Labels      []Label
	Questions   []LabelledQuestion
	NotRules    []string // words that a person typed or pasted and that lay nothing down
}

// A Label is a lesson.
type Label struct {
	Lesson string // the rule in the reader's words
	Words  string // the user's words that lay it down
}

// A LearningReport is how well sessions are learnt from. Shares are of 1; a share of nothing is 0.
type LearningReport struct {
	Name     string `json:"name"`
	Sessions int    `json:"sessions"`
	Lessons  int    `json:"lessons"` // with words that a person typed

	Notes     int     `json:"notes"` // in force without any reader
	Precision float64 `json:"precision"`
	Found     float64 `json:"found"` // lessons among them

	InSlice     float64 `json:"in_slice"`     // lessons whose words the reader sees
	SliceTokens int     `json:"slice_tokens"` // median

	ReaderNotes     int     `json:"reader_notes"` // in force with the scripted reader
	ReaderPrecision float64 `json:"reader_precision"`
	ReaderFound     float64 `json:"reader_recall"`
	SecondPlay      int     `json:"second_play"`    // notes that playing everything again adds
	Injected        float64 `json:"injected"`       // found lessons that the next session's start holds
	InjectedThere   float64 `json:"injected_there"` // the same on another machine

	PerSecond float64        `json:"sessions_per_second"`
	Misses    []LearningMiss `json:"misses,omitempty"`
	Learnt    []string       `json:"learnt,omitempty"`
}

// A LearningMiss is something that went wrong.
type LearningMiss struct {
	Session string `json:"session"`
	What    string `json:"what"`
	Text    string `json:"text"`
}

// Learning says which sessions are played.
type Learning struct {
	Name     string
	Sessions []LabelledSession
	Progress func(done, total int)
}

// Run plays the sessions in throw-away stores, one a project: without a reader, then with one
// that answers from the labels, then once more.
func (r Learning) Run(ctx context.Context, open LearningOpener) (*LearningReport, error) {
	c := learningCount{rep: LearningReport{Name: r.Name, Sessions: len(r.Sessions)}}
	var projects []string
	of := make(map[string][]LabelledSession)
	for _, s := range r.Sessions {
		if of[s.Project] == nil {
			projects = append(projects, s.Project)
		}
		of[s.Project] = append(of[s.Project], s)
	}
	done := 0
	for _, p := range projects {
		if err := c.project(ctx, open, p, of[p]); err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		if done += len(of[p]); r.Progress != nil {
			r.Progress(done, len(r.Sessions))
		}
	}
	return c.report(), nil
}

type learningCount struct {
	rep                      LearningReport
	right, found             int
	inSlice                  int
	readerRight, readerFound int
	injected, injectedThere  int
	sliceTokens              []int
	took                     time.Duration
	captured                 int
}

// project plays the sessions of one project.
func (c *learningCount) project(ctx context.Context, open LearningOpener, project string, sessions []LabelledSession) (err error) {
	root, err := os.MkdirTemp("", "anamnesis-eval-*")
	if err != nil {
		return fmt.Errorf("make a throw-away store: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	for i := range sessions {
		if err := c.look(&sessions[i]); err != nil {
			return err
		}
	}
	bare, err := c.play(ctx, open, filepath.Join(root, "bare"), project, sessions, nil, 1)
	if err != nil {
		return err
	}
	c.rep.Notes += len(bare)
	right, found := c.judge(sessions, bare, "without a reader")
	c.right, c.found = c.right+right, c.found+found
	with, err := c.play(ctx, open, filepath.Join(root, "with"), project, sessions, &scripted{sessions: sessions}, 1)
	if err != nil {
		return err
	}
	c.rep.ReaderNotes += len(with)
	right, found = c.judge(sessions, with, "with a reader")
	c.readerRight, c.readerFound = c.readerRight+right, c.readerFound+found
	if err := c.later(ctx, open, root, project, sessions, with); err != nil {
		return err
	}
	again, err := c.play(ctx, open, filepath.Join(root, "with"), project, sessions, &scripted{sessions: sessions}, 2)
	if err != nil {
		return err
	}
	c.rep.SecondPlay += len(again) - len(with)
	return nil
}

// look measures what a reader sees of a session.
func (c *learningCount) look(s *LabelledSession) error {
	read, err := agent.Default().Sessions.ReadSession(bytes.NewReader(s.Transcript), agent.Limits{})
	if err != nil {
		return err
	}
	said := learn.SaidIn(read, nil)
	slice := learn.SliceOf(read, nil, learn.SliceOptions{})
	if len(slice.Said) > 0 {
		c.sliceTokens = append(c.sliceTokens, len(slice.Text)/4)
	}
	for _, l := range s.Labels {
		if !slices.ContainsFunc(said, func(w learn.Said) bool { return holds(w.Text, l.Words) }) {
			continue // nobody typed it as the label has it
		}
		c.rep.Lessons++
		if holds(slice.Text, l.Words) {
			c.inSlice++
		} else {
			c.rep.Misses = append(c.rep.Misses, LearningMiss{s.ID, "is not in the slice", l.Words})
		}
	}
	return nil
}

// play captures the sessions and returns the notes in force.
func (c *learningCount) play(
	ctx context.Context, open LearningOpener, root, project string, sessions []LabelledSession, reader llm.Generator, times int,
) ([]*note.Note, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	box, err := open(ctx, root, reader)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	for i := range sessions {
		s := &sessions[i]
		path := filepath.Join(root, s.ID+".jsonl")
		if err := os.WriteFile(path, s.Transcript, 0o600); err != nil {
			return nil, err
		}
		began := time.Now()
		for range times {
			if err := box.Capture(ctx, path, s.ID, project); err != nil {
				return nil, fmt.Errorf("session %s: %w", s.ID, err)
			}
		}
		c.took, c.captured = c.took+time.Since(began), c.captured+times
		if err := box.Read(ctx); err != nil {
			return nil, fmt.Errorf("read session %s: %w", s.ID, err)
		}
	}
	if _, err := box.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return nil, err
	}
	return taught(ctx, box)
}

// judge counts the notes that are a label, and the labels that are a note.
func (c *learningCount) judge(sessions []LabelledSession, notes []*note.Note, how string) (right, found int) {
	hit := make(map[string]bool)
	for _, n := range notes {
		good := false
		for i := range sessions {
			for _, l := range sessions[i].Labels {
				if says(n, l) {
					good, hit[l.Words] = true, true
				}
			}
		}
		c.rep.Learnt = append(c.rep.Learnt, how+": "+n.Title)
		if good {
			right++
		} else {
			c.rep.Misses = append(c.rep.Misses, LearningMiss{n.Provenance.Session, "is no lesson (" + how + ")", n.Title})
		}
	}
	return right, len(hit)
}

// later starts the next session here and on another machine.
func (c *learningCount) later(
	ctx context.Context, open LearningOpener, root, project string, sessions []LabelledSession, notes []*note.Note,
) error {
	count := func(root string) (n int, err error) {
		box, err := open(ctx, root, nil)
		if err != nil {
			return 0, err
		}
		defer box.Close()
		if _, err := box.Index.Sync(ctx, index.SyncOptions{}); err != nil {
			return 0, err
		}
		shown, err := box.Start(ctx, "later", project)
		for _, m := range notes {
			if slices.Contains(shown, m.ID) && slices.ContainsFunc(sessions, func(s LabelledSession) bool {
				return slices.ContainsFunc(s.Labels, func(l Label) bool { return says(m, l) })
			}) {
				n++
			}
		}
		return n, err
	}
	here, err := count(filepath.Join(root, "with"))
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(root, "there", "memory"), os.DirFS(filepath.Join(root, "with", "memory"))); err != nil {
		return fmt.Errorf("bring the notes to another machine: %w", err)
	}
	there, err := count(filepath.Join(root, "there"))
	c.injected, c.injectedThere = c.injected+here, c.injectedThere+there
	return err
}

// taught are the notes in force that sessions taught, in the order of their ids.
func taught(ctx context.Context, box *LearningBox) (all []*note.Note, err error) {
	rows, err := box.Index.Select(ctx, index.Filter{Sources: note.LearntSources, Now: box.Store.Now()}, 0)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		n, _, _, err := box.Store.Read(row.Ref.Path)
		if err != nil {
			return nil, err
		}
		if row.SupersededBy == "" && n.Live(box.Store.Now()) {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *note.Note) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, nil
}

// says reports whether a note was made of the words of a label.
func says(n *note.Note, l Label) bool {
	return slices.ContainsFunc(n.Evidence, func(e note.Evidence) bool { return holds(l.Words, e.Quote) || holds(e.Quote, l.Words) })
}

// comparedRunes is how many characters of the words of a label are looked up: labels are cut.
const comparedRunes = 60

// holds reports whether a text holds words, whatever signs stand between them.
func holds(text, words string) bool {
	w := note.CutRunes(note.Normalize(strings.TrimSuffix(words, "…")), comparedRunes)
	return len(w) >= 4 && strings.Contains(note.Normalize(text), w)
}

func (c *learningCount) report() *LearningReport {
	part := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	median := func(of []int) int {
		if len(of) == 0 {
			return 0
		}
		slices.Sort(of)
		return of[len(of)/2]
	}
	r := &c.rep
	r.Precision, r.Found = part(c.right, r.Notes), part(c.found, r.Lessons)
	r.InSlice = part(c.inSlice, r.Lessons)
	r.ReaderPrecision, r.ReaderFound = part(c.readerRight, r.ReaderNotes), part(c.readerFound, r.Lessons)
	r.Injected, r.InjectedThere = part(c.injected, c.readerRight), part(c.injectedThere, c.readerRight)
	r.SliceTokens = median(c.sliceTokens)
	if c.took > 0 {
		r.PerSecond = float64(c.captured) / c.took.Seconds()
	}
	return r
}

// scripted is a reader that answers from labels: the rules whose words stand in the slice.
type scripted struct{ sessions []LabelledSession }

// Name implements llm.Generator.
func (s *scripted) Name() string { return "scripted/labels" }

// Generate implements llm.Generator.
func (s *scripted) Generate(_ context.Context, p llm.Prompt) (string, error) {
	user := p.User.String()
	rules := []learn.Rule{}
	for i := range s.sessions {
		for _, l := range s.sessions[i].Labels {
			if !holds(user, l.Words) || slices.ContainsFunc(rules, func(r learn.Rule) bool { return r.Quote == l.Words }) {
				continue
			}
			r := learn.Rule{Title: cmp.Or(l.Lesson, l.Words), Quote: l.Words, When: []string{}, Holds: learn.Project}
			r.Title = note.Line(r.Title, learn.MaxRuleTitle)
			rules = append(rules, r)
		}
	}
	answer, err := json.Marshal(map[string]any{"rules": rules[:min(len(rules), learn.MaxRules)]})
	return string(answer), err
}

var _ llm.Generator = (*scripted)(nil)
