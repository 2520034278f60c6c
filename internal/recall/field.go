package recall

import (
	"strconv"
	"strings"

	"anamnesis/internal/note"
)

// maxField bounds the text of one field, in characters.
const maxField = 500

// FieldsOf returns the fields of a note that a query asks for (S1), empty ones
// left out: front matter keys, or sections of the body, so that a note that
// was written before there were fields answers too.
func FieldsOf(n *note.Note, names []string) map[string]string {
	got := make(map[string]string, len(names))
	for _, name := range names {
		if v := field(n, strings.ToLower(strings.TrimSpace(name))); v != "" {
			got[name] = clip(v, maxField)
		}
	}
	return got
}

// sections are the headings under which older notes keep what is a field now.
var sections = map[string][]string{
	"problem": {"problem", "symptoms"}, "fix": {"solution", "fix"}, "root_cause": {"root cause", "cause"},
	"rule": {"rule"}, "key_insight": {"key insight", "insight"}, "how_to_apply": {"how to apply"},
}

func field(n *note.Note, name string) string {
	value := ""
	switch name {
	case "title":
		value = n.Title
	case "problem":
		value = n.Problem
	case "root_cause":
		value = n.RootCause
	case "fix":
		value = n.Fix
	case "rule":
		value = n.Rule
	case "key_insight":
		value = n.KeyInsight
	case "how_to_apply":
		value = n.HowToApply
	case "category":
		value = n.Category
	case "learning_type":
		value = n.LearningType
	case "branch":
		value = n.Branch
	case "status":
		value = n.Status
	case "project":
		value = n.Project
	case "symptoms":
		value = strings.Join(n.Symptoms, ", ")
	case "tags":
		value = strings.Join(n.Tags, ", ")
	case "commits":
		value = strings.Join(n.Commits, ", ")
	case "anchors":
		value = strings.Join(n.Anchors, ", ")
	case "confidence", "confidence_num", "provenance.confidence":
		value = strconv.FormatFloat(n.Provenance.Confidence, 'g', -1, 64)
	case "proof_count", "provenance.proof_count":
		if n.ProofCount > 0 {
			value = strconv.Itoa(n.ProofCount)
		}
	case "source", "prov_source", "provenance.source":
		value = n.Provenance.Source
	case "created_at":
		value = string(n.CreatedAt)
	case "updated_at":
		value = string(n.UpdatedAt)
	default:
		for _, f := range n.Extra {
			if strings.EqualFold(f.Key, name) {
				_, text, _ := strings.Cut(f.Raw, ":")
				value = strings.Join(strings.Fields(strings.Trim(strings.TrimSpace(text), `"'`)), " ")
			}
		}
	}
	if value = strings.TrimSpace(value); value == "" {
		value = section(n.Body, sections[name])
	}
	return value
}

// section returns the text under a heading of the second level, or behind a bold label.
func section(body string, headings []string) string {
	lines := strings.Split(body, "\n")
	for _, want := range headings {
		for i, line := range lines {
			if h, ok := strings.CutPrefix(line, "## "); ok && strings.EqualFold(strings.TrimSpace(h), want) {
				end := i + 1
				for end < len(lines) && !strings.HasPrefix(lines[end], "## ") {
					end++
				}
				return strings.Join(strings.Fields(strings.Join(lines[i+1:end], " ")), " ")
			}
			if rest, ok := cutFold(line, "**"+want+":**"); ok && strings.TrimSpace(rest) != "" {
				return strings.TrimSpace(rest)
			}
		}
	}
	return ""
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", false
	}
	return s[len(prefix):], true
}

// clip cuts s to at most n characters.
func clip(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
