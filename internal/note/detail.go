package note

import "strings"

// A Detail is a field of a note that says something: what to do, or what happened.
type Detail struct {
	Key  string // in the front matter: "root_cause"
	Text string // on one line
}

// String is the detail as a reader sees it: "root cause: the cache is shared".
func (d Detail) String() string { return strings.ReplaceAll(d.Key, "_", " ") + ": " + d.Text }

// Details returns what the fields of n say that neither its title nor its body says, what to do before what happened. The rule of a
// quoted note is what an agent made of the user's title.
func Details(n *Note) (all []Detail) {
	if n.Kind != "" && n.Kind != Observation { // the fields of a slot or a skill describe it
		return nil
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	said := strings.ToLower(flat(n.Title) + "\n" + flat(n.Body))
	for _, d := range [...]Detail{
		{"rule", n.Rule},
		{"key_insight", n.KeyInsight},
		{"fix", n.Fix},
		{"how_to_apply", n.HowToApply},
		{"problem", n.Problem},
		{"symptoms", strings.Join(n.Symptoms, "; ")},
		{"root_cause", n.RootCause},
	} {
		d.Text = flat(d.Text)
		if bare := strings.ToLower(strings.TrimRight(d.Text, ".")); bare != "" && !strings.Contains(said, bare) {
			all = append(all, d)
			said += "\n" + bare
		}
	}
	return all
}

// Whole is what n says besides its title, for a reader who opens it: its fields, a line each, and its body. What an agent wrote below a
// title of the user's own begins on one line, behind the words that say so (ByAgent).
func Whole(n *Note) string {
	var parts []string
	for _, d := range Details(n) {
		parts = append(parts, d.String())
	}
	between, last := "\n", "\n"
	switch {
	case n.UserSaid() && n.Quoted():
		between, last = "; ", "; "
	case strings.Contains(n.Body, "\n"):
		last = "\n\n"
	}
	text := strings.Join(parts, between)
	if text != "" && n.Body != "" {
		text += last
	}
	return ByAgent(n, text+strings.TrimRight(n.Body, "\n"))
}

// ByAgent returns text, a part of n below its title, and marks it as an agent's where only the title of n is the user's word.
func ByAgent(n *Note, text string) string {
	if text != "" && n.UserSaid() && n.Quoted() {
		return agentsWords + text
	}
	return text
}

// agentsWords come before what the user did not write, in a note that is the user's word.
const agentsWords = "Noted by an agent: "
