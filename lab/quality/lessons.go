package quality

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A LessonSet is what one user and their agent did on one project, as a script:
// sessions in which some lines teach something and many do not, and prompts of a later
// session. docs/md has the format of its file.
type LessonSet struct {
	Name     string
	Project  string
	Sessions []LessonSession
	Prompts  []Prompt // of a later session; Wanted are the ids of lessons
	Lessons  []PlantedLesson
	Decoys   int
}

// A LessonSession is one session of a script.
type LessonSession struct {
	Name  string
	Steps []Step
}

// A PlantedLesson is a line of a script that teaches something.
type PlantedLesson struct {
	ID       string
	Kind     string   // correction, rule, decision, reversal, exception, fixed
	Of       string   // the lesson that a reversal or an exception is about
	Keys     []string // what the note must say; "a/b" is either
	Text     string
	Again    int // how often another session says it again
	Reversed bool
}

// A Step is one thing that happens in a session.
type Step struct {
	Does   Doing
	Text   string // what is said; the command, path or address of a tool
	Tool   string
	Result string // of a tool
	Old    string // what an edit replaces, Result is what it writes
	Exit   int
	Lesson string // the lesson that the line teaches, or says again
	Decoy  string // the kind of a line that looks like a lesson and is none
	Line   int    // in the file of the set
}

// A Doing says who does a step.
type Doing int

// What happens in a session.
const (
	UserSays Doing = iota
	AgentSays
	ToolRuns
	FileEdited
)

//go:embed sessions
var builtInSessions embed.FS

// BuiltInLessons returns one half of the built-in scripts.
func BuiltInLessons(half string) (fs.FS, error) {
	return fs.Sub(builtInSessions, path.Join("sessions", half))
}

// ReadLessonSets reads the files of a folder that end in .txt, in the order of names.
func ReadLessonSets(folder fs.FS) (sets []LessonSet, err error) {
	files, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("the folder has no .txt file of sessions")
	}
	for _, name := range files {
		text, err := readPromptFile(folder, name)
		if err != nil {
			return nil, err
		}
		set, err := ParseLessonSet(strings.TrimSuffix(name, ".txt"), text)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// ParseLessonSet reads a script.
func ParseLessonSet(name string, text []byte) (LessonSet, error) {
	p := lessonParser{set: LessonSet{Name: name}}
	for line := range bytes.Lines(bytes.ToValidUTF8(text, nil)) {
		p.n++
		if err := p.line(strings.TrimRight(string(line), " \t\r\n")); err != nil {
			return LessonSet{}, fmt.Errorf("line %d: %w", p.n, err)
		}
	}
	return p.set, p.check()
}

type lessonParser struct {
	set  LessonSet
	n    int
	more *string
}

func (p *lessonParser) line(line string) error {
	if line == "" || line[0] == '#' {
		return nil
	}
	if line[0] == '|' {
		if p.more == nil {
			return errors.New("nothing stands above that it could go on with")
		}
		if *p.more != "" {
			*p.more += "\n"
		}
		*p.more += strings.TrimPrefix(strings.TrimPrefix(line, "|"), " ")
		return nil
	}
	p.more = nil
	head, keys, text, err := cutLine(line)
	if err != nil {
		return err
	}
	switch head[0] {
	case "project":
		p.set.Project = text
		return nil
	case "session":
		p.set.Sessions = append(p.set.Sessions, LessonSession{Name: text})
		return nil
	case "ask", "silent":
		p.set.Prompts = append(p.set.Prompts, Prompt{Kind: head[0], Text: text, Wanted: slices.Clone(head[1:]), Line: p.n})
		return nil
	}
	if len(p.set.Sessions) == 0 {
		return errors.New("it stands in no session")
	}
	return p.step(head, keys, text)
}

// cutLine cuts a line into the words before its colon, the keys in brackets, and the text.
func cutLine(line string) (head, keys []string, text string, err error) {
	before, rest, ok := strings.Cut(line, ":")
	if at := strings.IndexByte(before, '['); at >= 0 {
		end := strings.Index(line, "]:")
		if end < 0 {
			return nil, nil, "", fmt.Errorf("%.40q: the keys have no end", line)
		}
		keys, before, rest = strings.Fields(strings.ToLower(line[at+1:end])), line[:at], line[end+2:]
	}
	head = strings.Fields(before)
	if !ok || len(head) == 0 {
		return nil, nil, "", fmt.Errorf("%.40q is no line of a script", line)
	}
	return head, keys, strings.TrimSpace(rest), nil
}

// step reads a line that is part of a session.
func (p *lessonParser) step(head, keys []string, text string) error {
	s := Step{Text: text, Line: p.n}
	word := func(i int) string {
		if i < len(head) {
			return head[i]
		}
		return ""
	}
	switch head[0] {
	case "user":
	case "say":
		s.Does = AgentSays
	case "tool":
		s.Does, s.Tool = ToolRuns, word(1)
	case "edit":
		s.Does, s.Tool, s.Text = FileEdited, "Edit", strings.Join(head[1:], " ")
		s.Old, s.Result, _ = strings.Cut(text, "=>")
		s.Old, s.Result = strings.TrimSpace(s.Old), strings.TrimSpace(s.Result)
	case "out", "fail", "fixed":
		return p.result(head, keys, text, "")
	case "lesson":
		l := PlantedLesson{ID: word(1), Kind: word(2), Of: word(3), Keys: keys, Text: text}
		if l.Kind == "" || len(keys) == 0 {
			return errors.New("a lesson has an id, a kind and keys")
		}
		p.set.Lessons, s.Lesson = append(p.set.Lessons, l), l.ID
	case "same":
		if l := p.lesson(word(1)); l != nil {
			l.Again++
		}
		s.Lesson = word(1)
	case "decoy":
		return p.decoy(head[1:], text)
	default:
		return fmt.Errorf("%q is no line of a script", head[0])
	}
	p.add(s)
	return nil
}

// add adds a step; what goes on below it goes on with what a person says.
func (p *lessonParser) add(s Step) {
	session := &p.set.Sessions[len(p.set.Sessions)-1]
	session.Steps = append(session.Steps, s)
	last := &session.Steps[len(session.Steps)-1]
	if p.more = &last.Text; last.Does == ToolRuns {
		p.more = &last.Result
	}
}

// result reads what the tool above answered.
func (p *lessonParser) result(head, keys []string, text, decoy string) error {
	steps := p.set.Sessions[len(p.set.Sessions)-1].Steps
	if len(steps) == 0 || steps[len(steps)-1].Does != ToolRuns {
		return errors.New("no tool stands above that could answer")
	}
	last := &steps[len(steps)-1]
	last.Result, last.Decoy, p.more = text, decoy, &last.Result
	switch {
	case head[0] == "fail" && len(head) == 2:
		_, err := fmt.Sscan(head[1], &last.Exit)
		return err
	case head[0] == "fixed" && len(head) == 2 && len(keys) > 0:
		last.Lesson = head[1]
		p.set.Lessons = append(p.set.Lessons, PlantedLesson{ID: head[1], Kind: "fixed", Keys: keys, Text: last.Text})
	case head[0] != "out":
		return errors.New("a failure has a number, a fix an id and keys")
	}
	return nil
}

// decoy reads a line that looks like a lesson and is none.
func (p *lessonParser) decoy(head []string, text string) error {
	if len(head) == 0 {
		return errors.New("a decoy has a kind")
	}
	p.set.Decoys++
	kind := head[0]
	if len(head) > 1 && head[1] == "out" {
		return p.result(head[1:], nil, text, kind)
	}
	before, rest, _ := strings.Cut(text, ":")
	words := strings.Fields(before)
	s := Step{Text: text, Decoy: kind, Line: p.n}
	switch {
	case len(words) == 1 && words[0] == "say":
		s.Does, s.Text = AgentSays, strings.TrimSpace(rest)
	case len(words) == 2 && words[0] == "tool":
		s.Does, s.Tool, s.Text = ToolRuns, words[1], strings.TrimSpace(rest)
	}
	if len(head) == 3 && head[1] == "fail" {
		if _, err := fmt.Sscan(head[2], &s.Exit); err != nil {
			return err
		}
	}
	p.add(s)
	return nil
}

func (p *lessonParser) lesson(id string) *PlantedLesson {
	for i := range p.set.Lessons {
		if p.set.Lessons[i].ID == id {
			return &p.set.Lessons[i]
		}
	}
	return nil
}

// check looks at a script as a whole.
func (p *lessonParser) check() error {
	if p.set.Project == "" || len(p.set.Sessions) == 0 {
		return errors.New("a script has a project and sessions")
	}
	seen := make(map[string]bool)
	for _, l := range p.set.Lessons {
		if seen[l.ID] {
			return fmt.Errorf("two lessons are called %q", l.ID)
		}
		seen[l.ID] = true
		if l.Of == "" {
			continue
		}
		of := p.lesson(l.Of)
		if of == nil {
			return fmt.Errorf("there is no lesson %q", l.Of)
		}
		of.Reversed = of.Reversed || l.Kind == "reversal"
	}
	for _, q := range p.set.Prompts {
		for _, id := range q.Wanted {
			if !seen[id] {
				return fmt.Errorf("line %d: there is no lesson %q", q.Line, id)
			}
		}
	}
	return nil
}
