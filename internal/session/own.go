package session

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"anamnesis/internal/agent"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/text/shell"
)

// programs are the names under which this program is called in a shell: its own, and that of its package of npm.
var programs = []string{"anamnesis", "anamnesis-memory"}

// tools are the tools of our MCP server. Agents put the name that their user gave the server before them.
var tools = strings.Fields("memory_search memory_get memory_list memory_write memory_handoff memory_slot memory_status memory_review " +
	"memory_forget memory_sync memory_hook")

// OwnTool reports whether the name of a tool, as an agent writes it, is one of our MCP server.
func OwnTool(name string) bool {
	return slices.ContainsFunc(tools, func(tool string) bool {
		before, ok := strings.CutSuffix(name, tool)
		return ok && strings.TrimRightFunc(before, unicode.IsLetter) == before
	})
}

// An Own finds the calls in a session that printed what this program knows: calls of it, and looks into its store.
type Own struct {
	Store string // its folder
	Home  string // the user's

	dir   string
	wrote []string // files that took the output of such a call, and ids of those calls
}

// SetAside moves the output of such calls from Result to Answer, and marks the calls. What it says is memory already,
// and may be forgotten later. Of a command line that did more, the rest stays.
func (o Own) SetAside(s *agent.Session) {
	o.Store, o.Home, o.dir = filepath.ToSlash(o.Store), filepath.ToSlash(o.Home), filepath.ToSlash(s.Dir)
	turns := s.All()
	for i := range turns {
		for j := range turns[i].Tools {
			o.take(&turns[i].Tools[j])
		}
	}
}

func (o *Own) take(u *agent.ToolUse) {
	line := commandLine(*u)
	own, rest := false, ""
	switch {
	case OwnTool(u.Name):
		own = true
	case line != "":
		own, rest = o.runs(line)
	default:
		own = o.names(u.Input)
	}
	if !own {
		return
	}
	u.Answer, u.Result = u.Result, ""
	if u.ID != "" {
		o.wrote = append(o.wrote, u.ID)
	}
	if rest != "" {
		u.Input, _ = json.Marshal(map[string]string{"command": rest}) // a string has a form in JSON
	} else {
		u.Own = u.Path == ""
	}
}

// names reports whether a member of a call is a file of the store.
func (o *Own) names(input json.RawMessage) bool {
	var members map[string]json.RawMessage
	if !o.mayConcern(string(input), o.dir) || json.Unmarshal(input, &members) != nil {
		return false
	}
	for _, value := range members {
		var file string
		if json.Unmarshal(value, &file) == nil && o.within(file, o.dir) {
			return true
		}
	}
	return false
}

// mayConcern reports whether a text can name this program or its store; it spares the reading of most calls.
func (o *Own) mayConcern(s, dir string) bool {
	return strings.Contains(s, programs[0]) || strings.Contains(s, "ANAMNESIS") || strings.Contains(s, "tool-results") ||
		strings.Contains(s, path.Base(o.Store)) || o.within(".", dir) ||
		slices.ContainsFunc(o.wrote, func(file string) bool { return strings.Contains(s, path.Base(file)) })
}

// runs reports whether a command line calls this program or reads its store, and returns what else it does; "" when that
// is nothing but moving about.
func (o *Own) runs(line string) (own bool, rest string) {
	if !o.mayConcern(line, o.dir) {
		return false, ""
	}
	dir, more := o.dir, false
	for _, part := range shell.Parts(line) {
		commands := shell.Commands(part)
		if strings.Contains(part, `:\`) || strings.Contains(part, ".exe") { // no shell of Windows escapes with a backslash
			commands = append(commands, shell.Commands(strings.ReplaceAll(part, `\`, "/"))...)
		}
		if o.concerns(commands, dir, 0) {
			own = true
			for i := range commands {
				o.wrote = append(o.wrote, commands[i].Wrote...)
			}
			continue
		}
		for i := range commands {
			if f := commands[i].Forms[0]; f[0] == "cd" && len(f) > 1 {
				dir = o.place(f[1], dir)
			}
			more = more || !shell.Silent(commands[i].Forms)
		}
		rest += part
	}
	if !own || !more {
		return own, ""
	}
	return true, strings.TrimRight(rest, " \t\r\n;&|")
}

// maxInner is how many substitutions within each other are looked at.
const maxInner = 3

// concerns reports whether one of some commands calls this program or reads its store.
func (o *Own) concerns(commands []shell.Command, dir string, depth int) bool {
	if depth > maxInner {
		return false
	}
	if len(commands) > 0 && o.within(".", dir) && !shell.Silent(commands[0].Forms) {
		return true
	}
	for i := range commands {
		c := &commands[i]
		for _, form := range c.Forms {
			name, _, _ := strings.Cut(shell.Program(form[0]), "@")
			if slices.Contains(programs, name) || strings.Contains(form[0], " ") && o.concerns(shell.Commands(form[0]), dir, depth+1) {
				return true
			}
		}
		words := c.Forms[0][1:]
		if shell.Silent(c.Forms) {
			words = nil
		}
		if slices.ContainsFunc(slices.Concat(words, c.Files), func(word string) bool { return o.within(word, dir) }) {
			return true
		}
		if slices.ContainsFunc(c.Inner, func(line string) bool { return o.concerns(shell.Commands(line), dir, depth+1) }) {
			return true
		}
	}
	return false
}

// place returns the absolute form of a path that a command names in a folder.
func (o *Own) place(word, dir string) string {
	word = strings.ReplaceAll(word, `\`, "/")
	for _, name := range []string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(word, name); ok && (rest == "" || rest[0] == '/') {
			word = o.Home + rest
		}
	}
	for _, name := range []string{"$ANAMNESIS_HOME", "${ANAMNESIS_HOME}"} {
		if rest, ok := strings.CutPrefix(word, name); ok {
			word = o.Store + rest
		}
	}
	if !path.IsAbs(word) && !strings.Contains(word, ":") {
		word = path.Join(dir, word)
	}
	return path.Clean(word)
}

// within reports whether a word names the store or a file in it, or one that took what this program printed.
func (o *Own) within(word, dir string) bool {
	if word == "" || len(word) > 4096 || strings.Contains(word, "\n") {
		return false
	}
	file := o.place(word, dir)
	if o.Store != "" && (file == o.Store || strings.HasPrefix(file, o.Store+"/")) {
		return true
	}
	for _, folder := range []string{layout.Memory, layout.Sessions} { // of another machine, or another user
		if strings.Contains(file+"/", "/.anamnesis/"+folder+"/") {
			return true
		}
	}
	saved := strings.Contains(file, "/tool-results/") // where a client puts a long output, under the name of its call
	base := path.Base(file)
	if saved && strings.HasPrefix(base, "hook-") {
		return true
	}
	return slices.ContainsFunc(o.wrote, func(to string) bool {
		return o.place(to, dir) == file || saved && strings.Contains(base, to)
	}) || saved && slices.ContainsFunc(tools, func(tool string) bool { return strings.Contains(base, tool) })
}
