// Package policy reads the rules that a user wrote for the tools of an agent: what is
// denied, what is allowed without asking, what the agent is shown before a call.
//
// The rules stand in one file of the store, a JSON object a line. Nothing else writes
// it, it does not travel, and no file of a project is ever read: a repository that one
// clones must not be able to allow anything.
//
// Failure policy: a line that cannot be understood is no rule and is named; the other
// lines hold. A file that cannot be read denies nothing, which is said at the start of every
// session.
package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"
)

// File is the name of the file in the store's folder.
const File = "policy-rules.jsonl"

// A Decision is what a rule wants.
type Decision string

// The decisions.
const (
	Deny    Decision = "deny"    // the call does not happen
	Ask     Decision = "ask"     // the user is asked; no rule of the file says it
	Allow   Decision = "allow"   // the user is not asked; before a tool runs it is Context
	Context Decision = "context" // the agent is shown something
)

// A Scope is the moment at which a rule speaks.
type Scope string

// The scopes.
const (
	Any        Scope = "any"
	PreTool    Scope = "pretool"    // before a tool runs
	Permission Scope = "permission" // when the user would be asked
)

// A Rule is one line of the file.
type Rule struct {
	Line     int      `json:"line"`
	Scope    Scope    `json:"scope"`
	Tool     string   `json:"tool"`    // its name, "*" for every one
	Pattern  string   `json:"pattern"` // part of the command, or of the input; "" is in everything
	Decision Decision `json:"decision"`
	Sure     bool     `json:"sure"` // others are read and never act
	Message  string   `json:"message"`
	Context  string   `json:"context"`
}

// A Problem is a line that is no rule.
type Problem struct {
	Line int    `json:"line"`
	Why  string `json:"why"`
}

func (p Problem) String() string { return fmt.Sprintf("%s, line %d: %s", File, p.Line, p.Why) }

// A Policy is the file. The zero value has no rules.
type Policy struct {
	Rules    []Rule
	Problems []Problem
}

// Bounds of the file.
const (
	maxFile  = 1 << 20
	maxRules = 1000
	maxText  = 1000 // characters of a message
)

// Read reads the file at a path. That there is none is no error. A link is not
// followed: it may lead into somebody else's folder.
func Read(path string) (Policy, error) {
	fi, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Policy{}, nil
	case err == nil && !fi.Mode().IsRegular():
		err = errors.New("it is no regular file")
	case err == nil && fi.Size() > maxFile:
		err = fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			err = e.Err // the path once: what a session is shown of it is short
		}
		return Policy{}, fmt.Errorf("read the policy %s: %w", path, err)
	}
	return Parse(data), nil
}

// Parse reads the text of the file. Blank lines and those that begin with # are none.
func Parse(data []byte) (p Policy) {
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		r, err := parseRule(line)
		r.Line = n
		switch {
		case len(p.Rules)+len(p.Problems) >= maxRules:
			p.Problems = append(p.Problems, Problem{n, fmt.Sprintf("there are more than %d rules; this and the following do not hold", maxRules)})
			return p
		case err != nil:
			p.Problems = append(p.Problems, Problem{n, err.Error()})
		default:
			p.Rules = append(p.Rules, r)
		}
	}
	return p
}

// parseRule reads one line. A key that is not known makes it no rule: a misspelt pattern
// would be one that is in everything.
func parseRule(line []byte) (r Rule, err error) {
	var f struct {
		Scope, Tool, Pattern, Decision, Confidence, Message, Context *string
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return r, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.More() {
		return r, errors.New("something stands behind the object")
	}
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return strings.TrimSpace(*s)
	}
	r = Rule{
		Scope: Scope(strings.ToLower(text(f.Scope))), Tool: text(f.Tool), Decision: Decision(strings.ToLower(text(f.Decision))),
		Message: cut(text(f.Message)), Context: cut(text(f.Context)),
	}
	if f.Pattern != nil {
		r.Pattern = *f.Pattern
	}
	if r.Tool == "" {
		r.Tool = "*"
	}
	if r.Scope == "" {
		r.Scope = Any
	}
	if r.Decision == "" {
		r.Decision = Context
	}
	switch c := strings.ToUpper(text(f.Confidence)); c {
	case "", "HIGH":
		r.Sure = true
	case "MEDIUM", "LOW":
	default:
		return r, fmt.Errorf("confidence %q: use HIGH, MEDIUM or LOW", c)
	}
	switch {
	case !slices.Contains([]Scope{Any, PreTool, Permission}, r.Scope):
		return r, fmt.Errorf("scope %q: use any, pretool or permission", r.Scope)
	case !slices.Contains([]Decision{Deny, Allow, Context}, r.Decision):
		return r, fmt.Errorf("decision %q: use deny, allow or context", r.Decision)
	case r.Decision == Context && r.contextText() == "":
		return r, errors.New("it decides nothing and says nothing: give a decision, a message or a context")
	}
	return r, nil
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= maxText {
		return s
	}
	return string([]rune(s)[:maxText]) + "…"
}

// contextText is what the rule tells an agent.
func (r *Rule) contextText() string {
	if r.Context != "" {
		return r.Context
	}
	return r.Message
}

// A Verdict is what the rules say to a call.
type Verdict struct {
	Decision Decision // Deny, Allow or ""
	Message  string   // why
	Context  []string // what the agent is shown, at most maxContext lines
	Line     int      // of the rule that decided
}

// maxContext is how many rules tell something about one call.
const maxContext = 3

// Decide asks the rules about a call, in the order of the file. Before a tool runs the
// first rule that denies does; otherwise the agent is shown what the rules have to say.
// When the user would be asked, the first rule that denies or allows answers.
func (p *Policy) Decide(at Scope, tool string, input []byte) (v Verdict) {
	if len(p.Rules) == 0 {
		return v
	}
	subject := subjectOf(input)
	for i := range p.Rules {
		r := &p.Rules[i]
		if !r.Sure || r.Scope != Any && r.Scope != at || !r.holds(tool, subject) {
			continue
		}
		decides := r.Decision == Deny || at == Permission && r.Decision == Allow
		switch {
		case decides:
			v = Verdict{Decision: r.Decision, Line: r.Line}
			if r.Decision == Deny {
				v.Message = r.Message
			}
			return v
		case at == PreTool && len(v.Context) < maxContext && r.contextText() != "" && !slices.Contains(v.Context, r.contextText()):
			v.Context = append(v.Context, r.contextText())
		}
	}
	return v
}

// holds reports whether a rule is about a call.
func (r *Rule) holds(tool string, subject []string) bool {
	if r.Tool != "*" && !strings.EqualFold(r.Tool, tool) {
		return false
	}
	pattern := strings.ToLower(r.Pattern)
	return slices.ContainsFunc(subject, func(s string) bool { return strings.Contains(s, pattern) })
}

// subjectOf is what patterns are looked for in: the command of a call that has one, else
// its input with sorted keys; as it is, and with single blanks. All of it is in small
// letters.
func subjectOf(input []byte) []string {
	text := string(input)
	var members map[string]any
	if json.Unmarshal(input, &members) == nil {
		if command, ok := members["command"].(string); ok {
			text = command
		} else {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(false)
			if e.Encode(members) == nil {
				text = b.String()
			}
		}
	}
	text = strings.ToLower(strings.ReplaceAll(text, "\x00", ""))
	return []string{text, strings.Join(strings.Fields(text), " ")}
}

// Unhooked returns the tools that rules name and that are not among those of which an
// agent tells us: such rules do nothing.
func (p *Policy) Unhooked(tools []string) (some []string) {
	for i := range p.Rules {
		name := p.Rules[i].Tool
		same := func(tool string) bool { return strings.EqualFold(tool, name) }
		if name != "*" && !slices.ContainsFunc(tools, same) && !slices.Contains(some, name) {
			some = append(some, name)
		}
	}
	return some
}
