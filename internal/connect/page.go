package connect

import (
	"fmt"
	"strings"
)

// Page writes the page of an agent for docs/agents: what memory does with it, and where.
func (c *Client) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nThis page is generated.\n\n", c.Title)
	fmt.Fprintf(&b, "`anamnesis init` connects it when its folder is found; `anamnesis init --agent %s` does it by name, and\n"+
		"`anamnesis uninstall --agent %s` takes it back.\n\n", c.Name, c.Name)
	if c.driven() {
		b.WriteString("It is tested by driving the released client against a model server of our own.\n\n")
	} else {
		b.WriteString("It is tested by files and payloads in the exact shape of its files; the client itself is not driven by our tests.\n\n")
	}
	b.WriteString("| ability | how far | |\n|---|---|---|\n")
	for _, a := range c.Abilities() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", a.Name, a.State, a.Why)
	}
	b.WriteString("\n## What is written\n\n")
	home := "~/" + c.Folder
	if c.Settings != nil {
		events := make([]string, 0, 10)
		for _, hook := range c.Settings.PlainHooks("x") {
			if n := len(events); n == 0 || events[n-1] != hook.Event {
				events = append(events, hook.Event)
			}
		}
		fmt.Fprintf(&b, "- `%s`: hooks at %s.\n", slashed(c.Settings.SettingsPath(home)), strings.Join(events, ", "))
	}
	if c.Servers != nil {
		fmt.Fprintf(&b, "- `%s`: our MCP server.\n", slashed(c.Servers.ServersPath("~", home)))
	} else if c.Registers != nil {
		words := c.Registers.Add("anamnesis", Env{}, []string{"anamnesis"})
		fmt.Fprintf(&b, "- our MCP server, by `%s`.\n", strings.Join(words[:3], " "))
	}
	if c.Tools != nil {
		fmt.Fprintf(&b, "- `%s`: for each of our tools that reads or proposes, that it is called without a question.\n",
			slashed(c.Tools.Path("~", home)))
	}
	if c.Rules != nil {
		fmt.Fprintf(&b, "- `%s`: a short block of rules between two marks.\n", slashed(c.Rules("~", home)))
	}
	b.WriteString("\nNothing else in these files changes, and `uninstall` gives back their bytes. A file that cannot be read without doubt\n" +
		"is left alone, and named with line and column.\n")
	if a, ok := c.Settings.(Advisor); ok {
		fmt.Fprintf(&b, "\n## What is left to you\n\n%s\n", a.ToDo())
	}
	c.pageOfSessions(&b)
	return b.String()
}

// pageOfSessions writes where the agent's sessions are, and how it reads them.
func (c *Client) pageOfSessions(b *strings.Builder) {
	if c.Sessions == nil {
		return
	}
	b.WriteString("\n## Sessions\n\n`anamnesis import transcripts --agent " + c.Name +
		"` shows the notes that its past sessions would make; it keeps them in\n")
	for _, p := range c.Sessions.SessionFiles() {
		fmt.Fprintf(b, "`%s` ", p)
	}
	b.WriteString("below its folder.\n")
	if c.Servers != nil && c.Registers == nil {
		b.WriteString("\nTo let it read them for what still holds, type in a project: \"Read my unread sessions with memory_unread and " +
			"answer each with memory_learn\".\n")
	}
}

func slashed(path string) string { return strings.ReplaceAll(path, `\`, "/") }
