package agent

// InProjects are tools that keep the sessions of agents in the folder of a project: what they know is
// read, and nothing of ours is put anywhere. SessionFiles and names of files are relative to that folder,
// where the sessions took place unless they say otherwise. A session has the id that its client gave it
// where the tool says that.
var InProjects = []*Harness{
	{Name: "specstory", Title: "SpecStory", Sessions: &specstorySessions},
	{Name: "aider", Title: "aider", Sessions: &aiderSessions},
}

// ProjectTools are the names of the tools that keep sessions in projects, in files or in git.
func ProjectTools() (names []string) {
	for _, h := range InProjects {
		names = append(names, h.Name)
	}
	return append(names, Entire.Name)
}

// toolMade makes the use of a tool out of what a text says of it. Input is an object.
func (c *builder) toolMade(name, key, value, path, result string) ToolUse {
	u := ToolUse{Name: name, Input: boundInput([]byte(`{`+QuoteJSON(key)+`:`+QuoteJSON(value)+`}`), c.limits.Input)}
	u.Result = clip(result, c.limits.Result)
	if validFile(path) {
		u.Path = path
		c.files.add(path)
	}
	return u
}

// A fence follows the fences of code in a text.
type fence struct {
	ticks int // of the one that is open, 0 outside
	mark  byte
}

// line takes a line, and reports whether it stands inside a fence or is the mark of one.
func (f *fence) line(s []byte) (inside, mark bool) {
	i := 0
	for i < len(s) && i < 4 && s[i] == ' ' {
		i++
	}
	n := 0
	for i+n < len(s) && (s[i] == '`' || s[i] == '~') && s[i+n] == s[i] {
		n++
	}
	switch {
	case n >= 3 && f.ticks == 0:
		f.ticks, f.mark = n, s[i]
		return true, true
	case n >= f.ticks && f.ticks > 0 && s[i] == f.mark && len(trimLine(s[i+n:])) == 0:
		f.ticks = 0
		return true, true
	}
	return f.ticks > 0, false
}
