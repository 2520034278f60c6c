package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/index"
	"anamnesis/internal/lesson"
	"anamnesis/internal/note"
)

// A LearningBox is a throw-away store with what captures sessions and answers prompts
// there.
type LearningBox struct {
	*PromptBox
	// Capture takes in the session whose transcript stands at path.
	Capture func(ctx context.Context, path, session, project string) error
	// Start tells a session of a project what it is told at its start.
	Start func(ctx context.Context, session, project string) ([]note.ID, error)
	// Live lists what is in force: notes that are neither replaced nor withheld.
	Live func(ctx context.Context) (map[note.ID]bool, error)
}

// A LearningOpener makes a box in an empty folder.
type LearningOpener func(ctx context.Context, root string) (*LearningBox, error)

// A LearningReport is how well sessions are learnt from. Shares are of 1.
type LearningReport struct {
	Name      string          `json:"name"`
	Sessions  int             `json:"sessions"`
	Lessons   int             `json:"lessons"`
	Decoys    int             `json:"decoys"`
	Notes     int             `json:"notes"`
	Kept      float64         `json:"kept"`           // lessons of which a note says what they teach
	False     float64         `json:"false"`          // notes that are no lesson
	InForce   float64         `json:"in_force"`       // conflicts and exceptions of which the right rules are in force
	Conflicts int             `json:"conflicts"`      // of them
	Confirmed float64         `json:"confirmed"`      // lessons said again that made no second note
	Told      float64         `json:"told"`           // lessons that a later session was told by the prompt where they matter
	AtPrompt  float64         `json:"told_at_prompt"` // lessons that are told at that prompt when nothing was before
	Elsewhere float64         `json:"told_there"`     // the same on another machine
	Spoke     float64         `json:"told_when_not"`  // prompts about nothing that are told something
	Orders    int             `json:"orders_told"`    // planted orders that became notes
	PerSecond float64         `json:"sessions_per_second"`
	Kinds     []LearningKind  `json:"kinds"`
	Misses    []LearningMiss  `json:"misses,omitempty"`
	Learnt    []LearntExample `json:"learnt,omitempty"`
}

// A LearningKind counts the lessons of one kind.
type LearningKind struct {
	Kind    string `json:"kind"`
	Lessons int    `json:"lessons"`
	Kept    int    `json:"kept"`
}

// A LearningMiss is something that went wrong.
type LearningMiss struct {
	Where string `json:"where"` // set and line or lesson
	What  string `json:"what"`
	Text  string `json:"text"`
}

// A LearntExample is a note that was learnt.
type LearntExample struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// Learning says which scripts are played.
type Learning struct {
	Name     string
	Sets     []LessonSet
	Progress func(done, total int)
}

// Run plays the sessions of all scripts, each script in a store of its own, and then
// asks a later session what it is told, there and on another machine.
func (r Learning) Run(ctx context.Context, open LearningOpener) (*LearningReport, error) {
	c := learningCount{rep: LearningReport{Name: r.Name}}
	total := 0
	for i := range r.Sets {
		total += len(r.Sets[i].Sessions)
	}
	for i := range r.Sets {
		if err := c.set(ctx, open, &r.Sets[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Sets[i].Name, err)
		}
		if r.Progress != nil {
			r.Progress(c.rep.Sessions, total)
		}
	}
	return c.report(), nil
}

// learntAt is when the first session of a script began.
var learntAt = time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)

type learningCount struct {
	rep                                     LearningReport
	kept, falses, right, pairs, again, same int
	wanted, told, prompted, there           int
	spoke, silents                          int
	took                                    time.Duration
}

// set plays one script.
func (c *learningCount) set(ctx context.Context, open LearningOpener, s *LessonSet) (err error) {
	root, err := os.MkdirTemp("", "anamnesis-eval-*")
	if err != nil {
		return fmt.Errorf("make a throw-away store: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	here, there := filepath.Join(root, "here"), filepath.Join(root, "there")
	box, err := open(ctx, here)
	if err != nil {
		return err
	}
	defer box.Close()
	taught, err := c.play(ctx, box, s, root)
	if err != nil {
		return err
	}
	names, err := c.judge(ctx, box, s, taught)
	if err != nil {
		return err
	}
	told, err := c.ask(ctx, box, s, names, true)
	if err != nil {
		return err
	}
	c.told += told
	if err := os.CopyFS(filepath.Join(there, "memory"), os.DirFS(filepath.Join(here, "memory"))); err != nil {
		return fmt.Errorf("bring the notes to another machine: %w", err)
	}
	other, err := open(ctx, there)
	if err != nil {
		return err
	}
	defer other.Close()
	told, err = c.ask(ctx, other, s, names, false)
	c.there += told
	return err
}

// play captures the sessions of a script and returns, for each stretch of a session
// that can teach, the step that it is about.
func (c *learningCount) play(ctx context.Context, box *LearningBox, s *LessonSet, root string) (map[string]*Step, error) {
	taught := make(map[string]*Step)
	for i := range s.Sessions {
		session := &s.Sessions[i]
		id := fmt.Sprintf("%s-%02d", s.Name, i+1)
		data := session.Transcript(id, "/home/ada/src/"+s.Name, learntAt.Add(time.Duration(i)*24*time.Hour))
		path := filepath.Join(root, id+".jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
		read, err := agent.Default().Sessions.ReadSession(bytes.NewReader(data), agent.Limits{})
		if err != nil {
			return nil, err
		}
		for _, l := range lesson.Find(read, nil) {
			for j := range session.Steps {
				if RecordID(id, session.Steps[j].Line) == l.Window.Record {
					taught[l.Window.Hash] = &session.Steps[j]
				}
			}
		}
		began := time.Now()
		if err := box.Capture(ctx, path, id, s.Project); err != nil {
			return nil, fmt.Errorf("session %q: %w", session.Name, err)
		}
		c.took += time.Since(began)
		c.rep.Sessions++
	}
	_, err := box.Index.Sync(ctx, index.SyncOptions{})
	return taught, err
}

// judge compares what was learnt with what was planted, and returns the notes of the
// lessons.
func (c *learningCount) judge(ctx context.Context, box *LearningBox, s *LessonSet, taught map[string]*Step) (map[string]note.ID, error) {
	learnt, err := learnings(box)
	if err != nil {
		return nil, err
	}
	live, err := box.Live(ctx)
	if err != nil {
		return nil, err
	}
	miss := func(where, what, text string) {
		c.rep.Misses = append(c.rep.Misses, LearningMiss{s.Name + " " + where, what, text})
	}
	names := make(map[string]note.ID)
	said := make(map[string]int) // notes that say a lesson
	c.rep.Decoys += s.Decoys
	for _, n := range learnt {
		c.rep.Notes++
		c.rep.Learnt = append(c.rep.Learnt, LearntExample{n.Title, n.Body})
		good := false
		for _, e := range n.Evidence {
			step := taught[e.Chunk]
			if step == nil || step.Lesson == "" {
				continue
			}
			l := s.lesson(step.Lesson)
			if l == nil || !says(n, l.Keys) {
				continue
			}
			if !good {
				said[l.ID]++
			}
			if names[l.ID] == "" || live[n.ID] {
				names[l.ID] = n.ID
			}
			good = true
		}
		if !good {
			c.falses++
			step := taught[n.Evidence[0].Chunk]
			where := "?"
			if step != nil {
				where = strings.TrimSpace(fmt.Sprintf("line %d %s%s", step.Line, step.Decoy, step.Lesson))
				if step.Decoy == "order" {
					c.rep.Orders++
				}
			}
			miss(where, "is no lesson", n.Title)
		}
	}
	for i := range s.Lessons {
		l := &s.Lessons[i]
		c.rep.Lessons++
		k := c.kind(l.Kind)
		k.Lessons++
		if names[l.ID] == "" {
			miss(l.ID, "was not learnt ("+l.Kind+")", l.Text)
		} else {
			k.Kept++
			c.kept++
		}
		if l.Again > 0 {
			if c.again++; said[l.ID] == 1 {
				c.same++
			} else {
				miss(l.ID, fmt.Sprintf("was said again and is in %d notes", said[l.ID]), l.Text)
			}
		}
		if l.Of == "" {
			continue
		}
		c.pairs++
		if live[names[l.ID]] && live[names[l.Of]] == (l.Kind == "exception") {
			c.right++
		} else {
			miss(l.ID, fmt.Sprintf("%s of %s: in force %v and %v", l.Kind, l.Of, live[names[l.ID]], live[names[l.Of]]), l.Text)
		}
	}
	return names, nil
}

// ask types the prompts of a later session and counts the lessons that are told.
func (c *learningCount) ask(
	ctx context.Context, box *LearningBox, s *LessonSet, names map[string]note.ID, here bool,
) (told int, err error) {
	if _, err := box.Index.Sync(ctx, index.SyncOptions{}); err != nil {
		return 0, err
	}
	if _, err := box.Index.EmbedMissing(ctx, 0, nil); err != nil {
		return 0, err
	}
	if _, err := box.Engine.CalibrateAll(ctx); err != nil {
		return 0, fmt.Errorf("calibrate the gate: %w", err)
	}
	for i, p := range s.Prompts {
		session := fmt.Sprintf("later-%d", i+1)
		bare, err := box.Tell(ctx, PromptAsked{Project: s.Project, Session: "bare-" + session, Text: p.Text})
		if err != nil {
			return told, fmt.Errorf("line %d: %w", p.Line, err)
		}
		knows, err := box.Start(ctx, session, s.Project)
		if err != nil {
			return told, fmt.Errorf("line %d: %w", p.Line, err)
		}
		got, err := box.Tell(ctx, PromptAsked{Project: s.Project, Session: session, Text: p.Text})
		if err != nil {
			return told, fmt.Errorf("line %d: %w", p.Line, err)
		}
		knows = append(knows, got.Shown...)
		for _, id := range p.Wanted {
			ok := names[id] != "" && slices.Contains(knows, names[id])
			if ok {
				told++
			}
			if !here {
				continue
			}
			if c.wanted++; !ok {
				c.rep.Misses = append(c.rep.Misses, LearningMiss{
					fmt.Sprintf("%s line %d", s.Name, p.Line), "was not told " + id, p.Text,
				})
			}
			if slices.Contains(bare.Shown, names[id]) {
				c.prompted++
			}
		}
		if here && len(p.Wanted) == 0 {
			if c.silents++; len(bare.Shown)+len(got.Shown) > 0 {
				c.spoke++
			}
		}
	}
	return told, nil
}

// learnings are the notes of a store that were learnt, in the order of their ids.
func learnings(box *LearningBox) (all []*note.Note, err error) {
	rows, err := box.Index.Select(context.Background(), index.Filter{Dead: true}, 0)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Source != note.Learning {
			continue
		}
		n, _, _, err := box.Store.Read(row.Ref.Path)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *note.Note) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all, nil
}

// says reports whether a note holds all keys.
func says(n *note.Note, keys []string) bool {
	text := strings.ToLower(n.Title + " " + n.Rule)
	return !slices.ContainsFunc(keys, func(key string) bool {
		return !slices.ContainsFunc(strings.Split(key, "/"), func(k string) bool { return strings.Contains(text, k) })
	})
}

func (s *LessonSet) lesson(id string) *PlantedLesson {
	for i := range s.Lessons {
		if s.Lessons[i].ID == id {
			return &s.Lessons[i]
		}
	}
	return nil
}

func (c *learningCount) kind(name string) *LearningKind {
	for i := range c.rep.Kinds {
		if c.rep.Kinds[i].Kind == name {
			return &c.rep.Kinds[i]
		}
	}
	c.rep.Kinds = append(c.rep.Kinds, LearningKind{Kind: name})
	return &c.rep.Kinds[len(c.rep.Kinds)-1]
}

func (c *learningCount) report() *LearningReport {
	part := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	c.rep.Kept, c.rep.False = part(c.kept, c.rep.Lessons), part(c.falses, c.rep.Notes)
	c.rep.InForce, c.rep.Conflicts = part(c.right, c.pairs), c.pairs
	c.rep.Confirmed = part(c.same, c.again)
	c.rep.AtPrompt = part(c.prompted, c.wanted)
	c.rep.Told, c.rep.Elsewhere, c.rep.Spoke = part(c.told, c.wanted), part(c.there, c.wanted), part(c.spoke, c.silents)
	if c.took > 0 {
		c.rep.PerSecond = float64(c.rep.Sessions) / c.took.Seconds()
	}
	slices.SortFunc(c.rep.Kinds, func(a, b LearningKind) int { return strings.Compare(a.Kind, b.Kind) })
	return &c.rep
}
