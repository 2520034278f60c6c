package quality

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A PromptSet is a store of notes about one project, and sessions of prompts with the
// notes that should be shown at each. docs/md has the format of its file.
type PromptSet struct {
	Name     string
	Project  string
	Notes    []Document
	Sessions []PromptSession
}

// A PromptSession is what one user typed in one session.
type PromptSession struct {
	Name    string
	Prompts []Prompt
}

// A Prompt is what a user typed, and what memory should say to it.
type Prompt struct {
	Kind   string
	Text   string
	Wanted []string // documents; none means silence
	Work   []string // files that the agent touched just before
	Line   int      // in the file of the set
}

//go:embed prompts
var builtIn embed.FS

// The halves of the built-in sessions: the first was in view when the rules of prompts
// were made, the second was not.
const (
	TuningHalf  = "tuning"
	HeldOutHalf = "heldout"
)

// BuiltInPrompts returns one half of the built-in sessions.
func BuiltInPrompts(half string) (fs.FS, error) { return fs.Sub(builtIn, path.Join("prompts", half)) }

// maxPromptSet bounds the file of a set, in bytes.
const maxPromptSet = 4 << 20

// ReadPromptSets reads the files of a folder that end in .txt, in the order of names.
func ReadPromptSets(folder fs.FS) ([]PromptSet, error) {
	files, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("the folder has no .txt file of sessions")
	}
	var sets []PromptSet
	for _, name := range files {
		text, err := readPromptFile(folder, name)
		if err != nil {
			return nil, err
		}
		set, err := ParsePromptSet(strings.TrimSuffix(name, ".txt"), text)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		sets = append(sets, set)
	}
	return sets, nil
}

func readPromptFile(folder fs.FS, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxPromptSet+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case len(text) > maxPromptSet:
		return nil, fmt.Errorf("read %s: it is longer than %d bytes", name, maxPromptSet)
	}
	return text, nil
}

// ParsePromptSet reads the file of a set. A line is "project: KEY", "note ID: title",
// "session: name", "work FILE ...", or a prompt: "KIND [ID ...]: text". A line that
// begins with "| " goes on with the note or the prompt above it. Empty lines and lines
// that begin with # are left out.
func ParsePromptSet(name string, text []byte) (PromptSet, error) {
	p := promptParser{set: PromptSet{Name: name}, ids: make(map[string]bool)}
	n := 0
	for line := range bytes.Lines(bytes.ToValidUTF8(text, nil)) {
		n++
		if err := p.line(strings.TrimRight(string(line), " \t\r\n"), n); err != nil {
			return PromptSet{}, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := p.check(); err != nil {
		return PromptSet{}, err
	}
	return p.set, nil
}

type promptParser struct {
	set  PromptSet
	ids  map[string]bool
	work []string
	more *string // what a line that goes on is added to
}

func (p *promptParser) line(line string, n int) error {
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
	if files, ok := strings.CutPrefix(line, "work "); ok {
		p.work, p.more = append(p.work, strings.Fields(files)...), nil
		return nil
	}
	head, text, ok := strings.Cut(line, ":")
	words := strings.Fields(head)
	if !ok || len(words) == 0 {
		return fmt.Errorf("%.40q is no note and no prompt", line)
	}
	return p.entry(words, strings.TrimSpace(text), n)
}

// entry reads a line with a colon.
func (p *promptParser) entry(words []string, text string, n int) error {
	p.more = nil
	switch words[0] {
	case "project":
		p.set.Project = text
	case "note":
		if len(words) != 2 || p.ids[words[1]] || text == "" {
			return errors.New("a note has its own id and a title")
		}
		p.ids[words[1]] = true
		d := Document{ID: words[1], Title: text}
		p.set.Notes = append(p.set.Notes, d)
		p.more = &p.set.Notes[len(p.set.Notes)-1].Text
	case "session":
		p.set.Sessions, p.work = append(p.set.Sessions, PromptSession{Name: text}), nil
	default:
		if len(p.set.Sessions) == 0 {
			return errors.New("a prompt stands in no session")
		}
		s := &p.set.Sessions[len(p.set.Sessions)-1]
		s.Prompts = append(s.Prompts, Prompt{Kind: words[0], Text: text, Wanted: slices.Clone(words[1:]), Work: p.work, Line: n})
		p.work, p.more = nil, &s.Prompts[len(s.Prompts)-1].Text
	}
	return nil
}

// check looks at a set as a whole.
func (p *promptParser) check() error {
	if p.set.Project == "" || len(p.set.Notes) == 0 {
		return errors.New("a set has a project and notes")
	}
	for i := range p.set.Notes {
		p.set.Notes[i].Meta.Project = p.set.Project
	}
	for _, s := range p.set.Sessions {
		for _, prompt := range s.Prompts {
			if prompt.Text == "" {
				return fmt.Errorf("line %d: the prompt is empty", prompt.Line)
			}
			for _, id := range prompt.Wanted {
				if !p.ids[id] {
					return fmt.Errorf("line %d: there is no note %q", prompt.Line, id)
				}
			}
		}
	}
	return nil
}
