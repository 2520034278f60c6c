package reflection

import (
	"slices"
	"strings"

	"anamnesis/internal/claim"
	"anamnesis/internal/note"
)

// A SkillRule is a rule that was learnt after the file of a skill was written, and what it
// does to the file.
type SkillRule struct {
	Note  note.ID `json:"note"`
	Text  string  `json:"text"`              // the line that it becomes
	Turns string  `json:"turns,omitempty"`   // the line that it contradicts; "" when it says something more
	Where string  `json:"project,omitempty"` // of a rule of one project for a skill of all: that project
}

// learntHeading stands above what sessions taught a skill.
const learntHeading = "## Learnt in sessions"

// maxRuleLine is how long a line that a rule becomes may be, in characters.
const maxRuleLine = 300

// RefreshSkill returns what the file of a skill says when the rules are taken in: a line that
// a rule contradicts is replaced when it stands for itself (an item of a list, a paragraph of
// one line), and what is new comes below a heading at the end. A rule that the file says
// already changes nothing. former are notes that a rule replaced, by the rule's id. The front
// matter, code blocks and headings are left alone, and so is everything else, byte for byte, but
// for blank lines at the end.
// The skill is one of a project, or of all (note.Global): then a rule of one project is never
// put in the place of a line. Without any rule to take in text is returned as it is.
func RefreshSkill(text, project string, rules []*note.Note, former map[note.ID][]*note.Note) (string, []SkillRule) {
	end := "\n"
	if strings.Contains(text, "\r\n") {
		end = "\r\n"
	}
	lines := strings.SplitAfter(text, "\n")
	spoken := spokenLines(lines)
	var done []SkillRule
	var added []string
	for _, n := range rules {
		r := SkillRule{Note: n.ID, Text: strings.TrimRight(note.Line(note.RuleOf(n), maxRuleLine), " ")}
		if project == note.Global && n.Project != note.Global {
			r.Where, r.Text = n.Project, "In "+note.Line(n.Project, 100)+": "+r.Text
		}
		if r.Text == "" || strings.Contains(text, r.Text) {
			continue
		}
		at, how := lineOf(n, former[n.ID], lines, spoken)
		if how == claim.Same {
			continue
		}
		if at >= 0 {
			r.Turns = strings.TrimSpace(lines[at])
		}
		if at >= 0 && r.Where == "" && alone(lines, at) {
			indent, mark, _ := item(lines[at])
			lines[at] = indent + mark + r.Text + lineEndOf(lines[at])
			spoken[at] = ""
		} else {
			added = append(added, "- "+r.Text+end)
		}
		done = append(done, r)
	}
	if len(done) == 0 {
		return text, nil
	}
	return strings.Join(insertLearnt(lines, added, end), ""), done
}

// lineOf finds the line that a rule is about: that it contradicts, else that states it.
func lineOf(n *note.Note, former []*note.Note, lines, spoken []string) (at int, r claim.Relation) {
	at = -1
	rule := claim.Of(n)
	for i := range lines {
		if spoken[i] == "" {
			continue
		}
		line := claim.Text(spoken[i])
		was := claim.Compare(rule, line)
		if slices.ContainsFunc(former, func(old *note.Note) bool { return claim.Compare(claim.Of(old), line) == claim.Same }) {
			was = claim.Opposite
		}
		switch was {
		case claim.Opposite:
			return i, was
		case claim.Same, claim.Wider:
			r = claim.Same
		}
	}
	return at, r
}

// spokenLines returns what each line says as a sentence, "" for one that is left alone.
func spokenLines(lines []string) []string {
	spoken := make([]string, len(lines))
	fence, head := "", false
	for i, line := range lines {
		bare := strings.TrimSpace(line)
		switch {
		case i == 0 && bare == "---":
			head = true
		case head:
			head = bare != "---"
		case fence != "":
			if strings.HasPrefix(bare, fence) {
				fence = ""
			}
		case strings.HasPrefix(bare, "```"), strings.HasPrefix(bare, "~~~"):
			fence = bare[:3]
		case bare == "", strings.HasPrefix(bare, "#"), strings.HasPrefix(bare, "|"), strings.HasPrefix(bare, "<"):
		default:
			_, _, spoken[i] = item(line)
		}
	}
	return spoken
}

// item takes a line apart: what it is indented by, the mark of a list, and what it says.
func item(line string) (indent, mark, says string) {
	says = strings.TrimLeft(line, " \t")
	indent = line[:len(line)-len(says)]
	says = strings.TrimRight(says, "\r\n")
	rest := strings.TrimLeft(says, "0123456789")
	digits := len(says) - len(rest)
	for _, m := range []string{"- ", "* ", "+ ", ". ", ") "} {
		if after, ok := strings.CutPrefix(rest, m); ok && (digits > 0) == strings.Contains(".)", m[:1]) {
			return indent, says[:len(says)-len(after)], strings.TrimSpace(after)
		}
	}
	return indent, "", strings.TrimSpace(says)
}

// alone reports whether a line stands for itself: none before or behind it goes on with it.
func alone(lines []string, at int) bool {
	begins := func(i int) bool {
		if i < 0 || i >= len(lines) {
			return true
		}
		bare := strings.TrimSpace(lines[i])
		_, mark, _ := item(lines[i])
		return bare == "" || bare == "---" || mark != "" || strings.HasPrefix(bare, "#") || strings.HasPrefix(bare, "```")
	}
	_, mark, _ := item(lines[at])
	return begins(at+1) && (mark != "" || begins(at-1))
}

func lineEndOf(line string) string { return line[len(strings.TrimRight(line, "\r\n")):] }

// insertLearnt puts lines below the heading, which it writes at the end if there is none.
func insertLearnt(lines, added []string, end string) []string {
	if len(added) == 0 {
		return lines
	}
	at := slices.IndexFunc(lines, func(l string) bool { return strings.TrimSpace(l) == learntHeading })
	if at < 0 {
		last := len(lines) - 1
		for last >= 0 && strings.TrimSpace(lines[last]) == "" {
			last--
		}
		lines = slices.Clone(lines[:last+1])
		if last >= 0 && lineEndOf(lines[last]) == "" {
			lines[last] += end
		}
		return slices.Concat(lines, []string{end, learntHeading + end, end}, added)
	}
	to := at + 1
	for i := at + 1; i < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[i]), "#"); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			to = i + 1
		}
	}
	if lineEndOf(lines[to-1]) == "" {
		lines[to-1] += end
	}
	return slices.Insert(lines, to, added...)
}
