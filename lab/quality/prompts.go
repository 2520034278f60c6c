package quality

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// A PromptBox is a throw-away store with what answers prompts there.
type PromptBox struct {
	*Sandbox
	Start func(ctx context.Context, project, session string) (PageShown, error)
	Tell  func(ctx context.Context, a PromptAsked) (PromptShown, error)
}

// PageShown is what a session is shown at its start.
type PageShown struct {
	Lines  []note.ID // notes with a line
	Topics []note.ID // notes behind the line of a topic
	Tokens int
	Text   string
}

// A PromptOpener makes a box in an empty folder.
type PromptOpener func(ctx context.Context, root string) (*PromptBox, error)

// PromptAsked is one prompt of a session, as a hook gets it.
type PromptAsked struct {
	Project, Session, Text string
	Work                   []string // files that the agent touched since the prompt before
}

// PromptShown is what a hook tells.
type PromptShown struct {
	Shown  []note.ID
	Again  []note.ID // of them, lines that are repeated after many prompts
	Tokens int
	Why    string // why nothing more
}

// A PromptReport is how well prompts are shown what they need, and nothing else.
type PromptReport struct {
	Name      string       `json:"name"`
	Sessions  int          `json:"sessions"`
	Prompts   int          `json:"prompts"`
	Notes     float64      `json:"notes"`            // of a store, on average
	Wanted    int          `json:"wanted"`           // notes, over all prompts
	InContext float64      `json:"in_context"`       // share of the wanted notes that the page or the prompt showed
	OnPage    float64      `json:"on_page"`          // share of them with a line on the page
	ByTopic   float64      `json:"by_topic"`         // share of them that only the line of a topic stands for
	Shown     float64      `json:"told_when_wanted"` // share of the wanted notes that their prompt showed
	Spoke     float64      `json:"told_when_not"`    // share of the prompts that want silence
	Beside    int          `json:"beside"`           // notes that were shown with or instead of a wanted one
	Precision float64      `json:"precision"`        // share of the notes shown at prompts that were wanted there
	Repeats   int          `json:"repeats"`          // notes that were shown in the session before
	Again     int          `json:"again"`            // lines that were repeated after many prompts
	TokensPer float64      `json:"tokens_per_prompt"`
	PageSize  float64      `json:"page_tokens"`    // of a page, on average
	Session   float64      `json:"session_tokens"` // of a session: its page and all its prompts
	Kinds     []PromptKind `json:"kinds"`
	Misses    []PromptMiss `json:"misses,omitempty"`
}

// A PromptKind counts the prompts of one kind.
type PromptKind struct {
	Kind    string `json:"kind"`
	Prompts int    `json:"prompts"`
	Wanted  int    `json:"wanted"` // notes
	Shown   int    `json:"told"`   // of them
	Silent  int    `json:"silent"` // prompts that want silence
	Spoke   int    `json:"spoke"`  // of them
}

// A PromptMiss is a prompt that was not shown just what it should be.
type PromptMiss struct {
	Where  string   `json:"where"` // set and line
	Kind   string   `json:"kind"`
	Prompt string   `json:"prompt"`
	Wanted []string `json:"wanted"`
	Shown  []string `json:"told"`
	Why    string   `json:"why"`
}

// Prompts says which sessions are run.
type Prompts struct {
	Name     string
	Sets     []PromptSet
	Grow     int                           // notes of each store: notes of the other sets are added; 0 adds none
	Page     func(set string, p PageShown) // is handed the page of each set, if not nil
	Progress func(done, total int)
}

// Run types the prompts of all sessions, each set in a separate store.
func (r Prompts) Run(ctx context.Context, open PromptOpener) (*PromptReport, error) {
	c := promptCount{rep: PromptReport{Name: r.Name}, kinds: make(map[string]int)}
	total := 0
	for _, s := range r.Sets {
		for _, session := range s.Sessions {
			total += len(session.Prompts)
		}
	}
	for i, s := range r.Sets {
		s.Notes = r.grown(i)
		c.page = r.Page
		step := func() {
			if r.Progress != nil {
				r.Progress(c.rep.Prompts, total)
			}
		}
		if err := c.set(ctx, open, s, step); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return c.report(), nil
}

// grown returns the notes of a set, and notes of the others up to Grow.
func (r Prompts) grown(i int) []Document {
	notes := slices.Clone(r.Sets[i].Notes)
	for n := 1; n < len(r.Sets); n++ {
		for _, d := range r.Sets[(i+n)%len(r.Sets)].Notes {
			if len(notes) >= r.Grow {
				return notes
			}
			d.ID, d.Meta.Project = r.Sets[(i+n)%len(r.Sets)].Name+"-"+d.ID, r.Sets[i].Project
			notes = append(notes, d)
		}
	}
	return notes
}

type promptCount struct {
	rep                   PromptReport
	page                  func(set string, p PageShown)
	notes, pages          int
	line, topic, context  int            // wanted notes
	shown, right          int            // notes at prompts
	kinds                 map[string]int // places in rep.Kinds
	wanted, found, tokens int
	silent, spoke         int
}

// set runs the sessions of one set.
func (c *promptCount) set(ctx context.Context, open PromptOpener, s PromptSet, step func()) (err error) {
	root, err := os.MkdirTemp("", "anamnesis-eval-*")
	if err != nil {
		return fmt.Errorf("make a throw-away store: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	box, err := open(ctx, root)
	if err != nil {
		return err
	}
	defer box.Close()
	names, err := Fill(box.Store, s.Notes)
	if err != nil {
		return err
	}
	if _, err := box.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return fmt.Errorf("index the notes: %w", err)
	}
	if _, err := box.Index.EmbedMissing(ctx, 0, nil); err != nil {
		return err
	}
	if _, err := box.Engine.CalibrateAll(ctx); err != nil {
		return fmt.Errorf("calibrate the gate: %w", err)
	}
	for i, session := range s.Sessions {
		c.rep.Sessions++
		name := fmt.Sprintf("eval-%d", i+1)
		page, err := box.Start(ctx, s.Project, name)
		if err != nil {
			return err
		}
		if c.page != nil && i == 0 {
			c.page(s.Name, page)
		}
		c.notes, c.pages = c.notes+len(s.Notes), c.pages+page.Tokens
		known := promptSession{names: names, before: make(map[string]bool), page: page}
		for _, p := range session.Prompts {
			got, err := box.Tell(ctx, PromptAsked{Project: s.Project, Session: name, Text: p.Text, Work: p.Work})
			if err := errors.Join(err, ctx.Err()); err != nil {
				return fmt.Errorf("line %d: %w", p.Line, err)
			}
			c.add(s, p, got, known)
			step()
		}
	}
	return nil
}

// A promptSession is what a session was shown so far.
type promptSession struct {
	names  map[note.ID]string
	before map[string]bool // at prompts
	page   PageShown
}

// context counts the wanted notes of a prompt that the session has in its context.
func (c *promptCount) inContext(p Prompt, k promptSession) {
	has := func(ids []note.ID, name string) bool {
		return slices.ContainsFunc(ids, func(id note.ID) bool { return k.names[id] == name })
	}
	for _, name := range p.Wanted {
		line, topic := has(k.page.Lines, name), has(k.page.Topics, name)
		if line {
			c.line++
		}
		if line || k.before[name] {
			c.context++
		} else if topic {
			c.topic++
		}
	}
}

// add counts the answer to one prompt.
func (c *promptCount) add(s PromptSet, p Prompt, got PromptShown, known promptSession) {
	names, before := known.names, known.before
	defer func() { c.inContext(p, known) }()
	c.shown += len(got.Shown)
	c.rep.Again += len(got.Again)
	at, ok := c.kinds[p.Kind]
	if !ok {
		at = len(c.rep.Kinds)
		c.kinds[p.Kind] = at
		c.rep.Kinds = append(c.rep.Kinds, PromptKind{Kind: p.Kind})
	}
	k := &c.rep.Kinds[at]
	k.Prompts++
	c.rep.Prompts++
	c.tokens += got.Tokens
	miss := PromptMiss{Where: fmt.Sprintf("%s:%d", s.Name, p.Line), Kind: p.Kind, Prompt: p.Text, Wanted: p.Wanted, Why: got.Why}
	for id, name := range names {
		miss.Why = strings.ReplaceAll(miss.Why, string(id), name)
	}
	right, beside := 0, 0
	for _, id := range got.Shown {
		name := names[id]
		miss.Shown = append(miss.Shown, name)
		if before[name] && !slices.Contains(got.Again, id) {
			c.rep.Repeats++
		}
		before[name] = true
		if slices.Contains(p.Wanted, name) {
			right++
		} else if len(p.Wanted) > 0 {
			beside++
		}
	}
	k.Wanted, k.Shown, c.wanted, c.found = k.Wanted+len(p.Wanted), k.Shown+right, c.wanted+len(p.Wanted), c.shown+right
	c.rep.Beside += beside
	c.right += right
	if len(p.Wanted) == 0 {
		k.Silent, c.silent = k.Silent+1, c.silent+1
		if len(got.Shown) > 0 {
			k.Spoke, c.spoke = k.Spoke+1, c.spoke+1
		}
	}
	if right < len(p.Wanted) || len(p.Wanted) == 0 && len(got.Shown) > 0 || beside > 0 {
		c.rep.Misses = append(c.rep.Misses, miss)
	}
}

func (c *promptCount) report() *PromptReport {
	c.rep.Shown = float64(c.found) / float64(max(1, c.wanted))
	c.rep.Spoke = float64(c.spoke) / float64(max(1, c.silent))
	c.rep.TokensPer = float64(c.tokens) / float64(max(1, c.rep.Prompts))
	c.rep.Wanted = c.wanted
	c.rep.Precision = float64(c.right) / float64(max(1, c.shown))
	c.rep.InContext = float64(c.context) / float64(max(1, c.wanted))
	c.rep.OnPage = float64(c.line) / float64(max(1, c.wanted))
	c.rep.ByTopic = float64(c.topic) / float64(max(1, c.wanted))
	sessions := float64(max(1, c.rep.Sessions))
	c.rep.Notes, c.rep.PageSize = float64(c.notes)/sessions, float64(c.pages)/sessions
	c.rep.Session = float64(c.pages+c.tokens) / sessions
	return &c.rep
}
