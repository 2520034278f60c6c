package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"anamnesis/internal/config"

	"github.com/spf13/cobra"
)

// run1 runs the program with a line of arguments and returns what it printed.
func run1(t *testing.T, args ...string) string {
	t.Helper()
	var out, diag bytes.Buffer
	if code := Main(args, strings.NewReader(""), &out, &diag); code != 0 {
		t.Fatalf("anamnesis %s exited with %d and said %q", strings.Join(args, " "), code, diag.String())
	}
	return out.String()
}

// TestCommandList checks that --help lists each command below the title of its group.
func TestCommandList(t *testing.T) {
	help := run1(t, "--help")
	listed, title := make(map[string]string), ""
	for line := range strings.Lines(help) {
		if name, ok := strings.CutPrefix(line, "  "); ok && title != "" {
			listed[strings.Fields(name)[0]] = title
		} else {
			title = strings.TrimSpace(line)
		}
	}
	titles := make(map[string]string)
	for _, g := range groups {
		titles[g.ID] = g.Title
	}
	for _, c := range commands {
		if c.group != "" && (titles[c.group] == "" || listed[c.name] != titles[c.group]) {
			t.Errorf("--help lists %s below %q, not below %q", c.name, listed[c.name], titles[c.group])
		}
		if c.group != "" && c.path != "" {
			t.Errorf("%s is listed, and moved to %s", c.name, c.path)
		}
	}
	for line := range strings.Lines(help) {
		if len(line) > 110 {
			t.Errorf("--help: a line of %d columns: %s", len(line), line)
		}
	}
}

// TestFormerNames checks that a command that was moved answers to both of its names.
func TestFormerNames(t *testing.T) {
	for _, c := range commands {
		if c.path == "" {
			continue
		}
		former := run1(t, c.name, "--help")
		now := run1(t, append(strings.Fields(c.path), "--help")...)
		replaced := strings.NewReplacer("anamnesis "+c.name, "anamnesis "+c.path, "for "+c.name+"\n", "for "+c.path[strings.Index(c.path, " ")+1:]+"\n")
		if strip(replaced.Replace(former)) != strip(now) {
			t.Errorf("%s and %s differ:\n%s\n%s", c.name, c.path, former, now)
		}
	}
}

// strip takes the runs of spaces out of a text: columns are as wide as the longest name.
func strip(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestTopics checks that each command that a topic names exists, with its flags.
func TestTopics(t *testing.T) {
	root := (&program{environ: config.Process}).root(commands...)
	named := regexp.MustCompile(`(?m)^  anamnesis (.*?)(   |$)`)
	for _, topic := range topicNames {
		if cmd, _, err := root.Find([]string{topic}); err == nil && cmd != root {
			t.Errorf("the topic %s is a command, too", topic)
		}
		text := run1(t, "help", topic)
		found := named.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("the topic %s names no command", topic)
		}
		for _, line := range found {
			checkLine(t, root, "topic "+topic, line[1])
		}
		if n := strings.Count(text, "\n"); n > 40 {
			t.Errorf("the topic %s has %d lines", topic, n)
		}
	}
}

// checkLine checks that a command line names a command of ours and flags that it has.
func checkLine(t *testing.T, root *cobra.Command, where, line string) {
	t.Helper()
	cmd, rest, err := root.Find(splitLine(line))
	if err != nil || cmd == root {
		t.Errorf("%s: there is no command for %q (%v)", where, line, err)
		return
	}
	for _, word := range rest {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case !strings.HasPrefix(word, "-") || word == "-" || word == "--":
		case cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && (len(name) != 1 || cmd.Flags().ShorthandLookup(name) == nil):
			t.Errorf("%s: %s has no flag %s", where, cmd.CommandPath(), word)
		}
	}
}

// splitLine splits a command line of an example into words, with quotes as a shell has them.
func splitLine(line string) (words []string) {
	for _, m := range regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		words = append(words, m[1]+m[2]+m[3])
	}
	return words
}
