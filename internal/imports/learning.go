package imports

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
)

// A learning is a note of reflect on its way to become one of ours.
type learning struct {
	source  string // where it stands
	name    string // its id there
	stem    string // the name of its file
	project string // what it says about its project; see projectOf
	note    *note.Note
	side    *note.Sidecar
	by      string   // the id there of what superseded it
	over    []string // the ids there of what it supersedes
	made    []string // the ids there of what it was made of
	lost    []string // keys that had no place
	hint    string   // a path that may tell the project
	former  []version
}

// taken are the keys whose meaning a learning's note carries in a key of ours,
// or which are left out on purpose: paths of this machine and hashes of files.
var taken = []string{
	"type", "id", "title", "created", "updated", "created_at", "updated_at", "captured_at", "scope", "confidence", "confidence_num",
	"learning_type", "tags", "symptoms", "key_insight", "problem", "root_cause", "fix", "rule", "how_to_apply", "category", "entities",
	"causal_relations", "superseded_by", "supersedes", "forget_after", "provenance", "project_id", "project", "unverified_refs",
	"validated", "speculative", "quarantine", "branch", "commits", "commit_hash", "anchors", "status", "status_reason", "revert_reason",
	"session_id", "proof_count", "statement", "prov_source",
}

// noText returns why a file cannot be a learning, "" when it may be one: it is no
// text, or there is not one word in it. Front matter is its own sign, so that
// behind one a stray control character is borne with.
func noText(data []byte) string {
	text := string(data)
	_, _, front := readFront(decoded(data))
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	binary := func(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\v\f\r\x1b", r) }
	switch {
	case !utf8.ValidString(text):
		return "it is not UTF-8; if it is text, convert it"
	case strings.ContainsRune(text, 0):
		return "it holds a NUL, so it is no text; move it away"
	case !front && strings.ContainsFunc(text, binary):
		return "it holds control characters and no front matter, so it is no learning; move it away"
	case !strings.ContainsFunc(text, word):
		return "there is no word in it; write it or delete it"
	}
	return ""
}

// parseLearning reads a note of reflect. It never fails: a text without front
// matter is a note that consists of a body.
func parseLearning(stem, text string) *learning {
	f, body, _ := readFront(text)
	text = strings.TrimRight(strings.TrimLeft(body, "\n"), " \t\n")
	str := func(keys ...string) string { return f.get(keys...).text }
	n := &note.Note{
		Type: note.Semantic, Body: text, Scope: note.Portable, UserID: "self", WorkspaceID: "personal",
		Provenance: note.Provenance{Source: note.Learning, Confidence: confidenceOf(str("confidence_num"), str("confidence"))},
		Category:   str("category"), LearningType: str("learning_type"), Problem: str("problem"), RootCause: str("root_cause"), Fix: str("fix"),
		Rule: str("rule"), KeyInsight: str("key_insight"), HowToApply: str("how_to_apply"), Branch: str("branch"),
		Symptoms: f.get("symptoms").texts(), Commits: append(f.get("commits").texts(), f.get("commit_hash").texts()...),
		UnverifiedRefs: f.get("unverified_refs").texts(), Anchors: f.get("anchors").texts(),
		Status: statusOf(str("status")), StatusReason: str("status_reason", "revert_reason"),
		Tags:      f.get("tags").texts(),
		CreatedAt: stampOf(str("created", "created_at", "captured_at")), UpdatedAt: stampOf(str("updated", "updated_at")),
		ForgetAfter: stampOf(str("forget_after")),
		Speculative: truth(str("speculative")), Quarantine: truth(str("quarantine")),
	}
	if v := strings.ToLower(str("validated")); v == "true" || v == "false" {
		n.Validated = v
	}
	l := &learning{
		name: str("id"), stem: stem, note: n, by: str("superseded_by"), over: f.get("supersedes").texts(),
		project: str("project_id", "project"),
	}
	l.kind(f)
	if s := str("prov_source"); s == note.Human || s == note.User { // whose word it is only an entry point knows
		n.Provenance.Source = note.Import
	} else if slices.Contains(note.Sources, s) { // a note of this program, as a team's repository has it
		n.Provenance.Source = s
		if t := note.Type(f.get("type").text); slices.Contains(note.Types, t) {
			n.Type = t
		}
	}
	l.scope(str("scope"))
	l.provenance(f)
	n.Title = titleOf(str("title"), str("statement"), text, stem)
	if n.Body == "" {
		n.Body = firstOf(str("statement"), n.KeyInsight, n.Rule, n.Problem)
	}
	l.relations(f)
	for i := range f {
		switch {
		case f[i].bad != nil && f[i].val.empty():
			l.lost = append(l.lost, f[i].key)
		case !slices.Contains(taken, f[i].key) && !f[i].val.empty():
			n.Extra = append(n.Extra, note.Field{Key: f[i].key, Raw: strings.TrimRight(f[i].raw, " \t\n") + "\n"})
		}
	}
	return l
}

// kind decides which of our types a note of theirs is.
func (l *learning) kind(f front) {
	n := l.note
	switch f.get("type").text {
	case "episode":
		n.Type, n.Provenance.Source = note.Episodic, note.Import
	case "observation":
		n.Kind = note.Observation
		if f.get("status").text == "retired" {
			n.Archive(n.StatusReason)
		}
	default:
		doing := slices.Contains([]string{"correction", "bug-fix", "anti-pattern"}, n.LearningType)
		if doing || n.Fix != "" || n.Rule != "" || n.HowToApply != "" {
			n.Type = note.Procedural
		}
	}
	if slices.Contains(n.Tags, "speculative") {
		n.Speculative = true
	}
}

// scope reads how far a learning reaches.
func (l *learning) scope(s string) {
	kind, of, _ := strings.Cut(s, ":")
	switch of = strings.TrimSpace(of); kind {
	case "project":
		if l.project = firstOf(of, l.project); l.project == "" {
			l.project = somewhere
		}
	case "domain":
		l.note.AddTags("domain:" + of)
	}
}

// somewhere is the project of what belongs to one that is not named.
const somewhere = "\x00"

// provenance reads where a learning came from: sessions become evidence, and
// everything that names a file of this machine is left out.
func (l *learning) provenance(f front) {
	p := f.get("provenance")
	n := l.note
	n.Provenance.Session = firstOf(p.get("session_id").text, f.get("session_id").text)
	if n.CreatedAt == "" {
		n.CreatedAt = stampOf(p.get("detected_at").text)
	}
	l.hint = p.get("source_path").text
	proofs := firstOf(p.get("proof_count").text, f.get("proof_count").text)
	sources := p.get("source_memory_ids").texts()
	l.made = p.get("source_correction_ids").texts()
	l.prove(sources, proofs)
	for _, key := range []string{"source_tool", "source_provider"} {
		if tool := p.get(key).text; tool != "" && keyWord(tool) {
			n.AddTags("tool:" + strings.ToLower(tool))
		}
	}
}

// prove adds the sessions that support a learning. A count without sessions
// stays a count.
func (l *learning) prove(sources []string, count string) {
	n := l.note
	for _, s := range sources {
		if e := (note.Evidence{Session: sessionOf(s)}); e.Session != "" && !slices.Contains(n.Evidence, e) && len(n.Evidence) < 500 {
			n.Evidence = append(n.Evidence, e)
		}
	}
	c, _ := strconv.Atoi(count)
	switch seen := n.Sessions(); {
	case seen > 0:
		if n.ProofCount = seen; c > seen {
			l.lost = append(l.lost, "proof_count")
		}
	case c > 1 && c < 1_000_000:
		n.ProofCount = c
	}
}

// sessionOf names a session without the path of its file.
func sessionOf(source string) string {
	name := path.Base(strings.ReplaceAll(strings.TrimSpace(source), `\`, "/"))
	for _, suffix := range []string{".zst", ".jsonl", ".json", ".md"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if _, err := note.ParseID(name); err != nil {
		if name == "" || name == "." || name == "/" {
			return ""
		}
		name = string(hashID(name))
	}
	from := "reflect"
	if h, _ := agent.ByPath(source); h != nil && h.Sessions != nil {
		from = h.Name
	}
	return from + "/" + name
}

// relations turns entities and causes in the front matter into a sidecar.
func (l *learning) relations(f front) {
	side := &note.Sidecar{ExtractedAt: l.note.CreatedAt}
	for _, name := range f.get("entities").texts() {
		if len(side.Entities) < 200 {
			side.Entities = append(side.Entities, note.Entity{Name: line(name, 200), Type: note.Concept})
		}
	}
	for _, r := range f.get("causal_relations").list {
		e := note.Edge{
			Source: line(r.get("source").text, 200), Target: line(r.get("target").text, 200),
			Relation: note.Relation(r.get("type").text), Strength: note.DefaultStrength,
		}
		if e.Source != "" && e.Target != "" && slices.Contains(note.Relations, e.Relation) && len(side.Edges) < 500 {
			side.Edges = append(side.Edges, e)
		} else {
			l.lost = append(l.lost, "causal_relations")
		}
	}
	if len(side.Entities)+len(side.Edges) > 0 {
		l.side = side
	}
}

// titleOf finds a title: the first that says something of the title itself, a
// statement, a heading, the first line, the name of the file.
func titleOf(title, statement, body, stem string) string {
	first, _, _ := strings.Cut(body, "\n")
	for _, s := range []string{title, statement, strings.TrimLeft(first, "# "), stem} {
		if s = line(s, 300); s != "" {
			return s
		}
	}
	return "untitled"
}

func firstOf(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// confidenceOf reads a number, else a tier.
func confidenceOf(number, tier string) float64 {
	for _, s := range []string{number, tier} { // a note of ours has the number under the name of the tier
		if c, err := strconv.ParseFloat(s, 64); err == nil && c >= 0 && c <= 1 {
			return c
		}
	}
	switch strings.ToUpper(tier) {
	case "HIGH", "H":
		return 0.9
	case "LOW", "L":
		return 0.3
	}
	return 0.6
}

// statusOf keeps the states that take a note out of recall. The others are
// steps of an approval that ends with the import.
func statusOf(s string) string {
	if s = strings.ToLower(s); s == "retired" {
		return "archived"
	}
	if !note.Ends(s) {
		return ""
	}
	return s
}

// stampOf returns the canonical form of a time, "" for what is none.
func stampOf(s string) note.Stamp {
	t, ok := note.Stamp(s).Time()
	if !ok || t.Year() < 1970 || t.Year() > 9999 {
		return ""
	}
	return note.At(t)
}

func truth(s string) bool {
	s = strings.ToLower(s)
	return s == "true" || s == "yes" || s == "1"
}

// keyWord reports whether s may stand in a tag.
func keyWord(s string) bool {
	return len(s) <= 40 && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}
