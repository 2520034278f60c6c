package imports

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/agent/foreigndb"
	"anamnesis/internal/note"
)

// A table of reflect.db that has a place here, and what becomes of its rows.
type table struct {
	name    string
	columns []string // the first one orders the rows
	take    func(*reflectReader, foreigndb.Row) error
}

// tables are read in this order: signals belong to learnings, and observations
// and fields name what they were made of.
var tables = []table{
	{"learnings", []string{
		"id", "title", "category", "confidence", "confidence_num", "status", "scope", "project_id", "source_path", "source_quote",
		"source_memory_ids", "proof_count", "session_id", "artifact_path", "commit_hash", "supersedes_learning_id",
		"superseded_by_learning_id", "forget_after", "created_at", "approved_at", "indexed_at", "revert_reason", "is_latest",
	}, (*reflectReader).learning},
	{"learning_signals", []string{"learning_id", "importance", "maturity"}, (*reflectReader).signals},
	{"observations", []string{
		"id", "content", "category", "scope", "status", "proof_count", "source_correction_ids", "retired_reason", "created_at", "updated_at",
	}, (*reflectReader).observation},
	{"slots", []string{
		"name", "project_id", "content", "scope", "description", "created_at", "last_edited_at",
	}, (*reflectReader).slot},
	{"project_persona", []string{
		"field_name", "project_id", "value", "confidence", "source_observation_ids", "created_at", "last_updated",
	}, (*reflectReader).persona},
	{"conventions_docs", []string{
		"project_id", "content", "created_at", "last_refreshed_at",
	}, (*reflectReader).conventions},
}

// leftTables are those that have no place here, and why.
var leftTables = []struct{ name, why string }{
	{"learning_history", "former forms of rows; the history of a note begins with its import"},
	{"observation_history", "former forms of rows; the history of a note begins with its import"},
	{"proposals", "steps of an approval"},
	{"events", "a log of what another program did"},
	{"metrics", "counters of another program"},
	{"sources", "files of agents; see import native"},
	{"index_jobs", "work of another index"},
	{"artifacts", "files that are imported as notes"},
	{"recall_events", "questions and counters of another program"},
	{"transcripts", "sessions; see import transcripts"},
	{"transcript_chunks", "pieces of sessions"},
	{"chunk_learnings", "pieces of sessions"},
	{"chunk_hashes", "pieces of sessions"},
	{"concept_index", "derived"},
	{"skills", "files of agents, which stay where they are"},
	{"commit_links", "commits of sessions; git has them"},
}

func (t table) read(ctx context.Context, r *reflectReader, db *foreigndb.DB) error {
	return db.Rows(ctx, t.name, t.columns, func(w foreigndb.Row) error {
		r.group("table "+t.name, 1, "")
		return t.take(r, w)
	})
}

// learning takes a row of the ledger. Where its note is a file, the file says
// what was learned, and the row what was believed of it: proofs and fate.
func (r *reflectReader) learning(w foreigndb.Row) error {
	l := r.byName[w["id"]]
	if stem := strings.TrimSuffix(path.Base(strings.ReplaceAll(w["artifact_path"], `\`, "/")), ".md"); l == nil && w["artifact_path"] != "" {
		l = r.byName[stem]
	}
	if l == nil && w["title"] != "" {
		l = r.titles[line(w["title"], 300)]
	}
	file := l != nil
	if !file {
		l = &learning{source: "reflect.db:learnings/" + line(w["id"], 80), name: w["id"], note: r.rowNote(w, w["title"], w["source_quote"])}
		l.note.Category = w["category"]
		l.note.Provenance.Confidence = confidenceOf(w["confidence_num"], w["confidence"])
		l.note.Provenance.Session = w["session_id"]
		l.note.Speculative = slices.Contains([]string{"detected", "pending", "proposed"}, w["status"])
		l.hint = w["source_path"]
		l.project = w["project_id"]
		l.scope(w["scope"])
		if l.note.Title == "" {
			return nil
		}
	}
	n := l.note
	if !n.Decided() {
		n.Status, n.StatusReason = statusOf(w["status"]), w["revert_reason"]
	}
	if !n.Decided() && w["is_latest"] == "0" {
		if n.Status = "superseded"; w["revert_reason"] != "" {
			n.Revert(w["revert_reason"])
		}
	}
	if n.ForgetAfter == "" {
		n.ForgetAfter = stampOf(w["forget_after"])
	}
	if w["commit_hash"] != "" && !slices.Contains(n.Commits, w["commit_hash"]) {
		n.Commits = append(n.Commits, w["commit_hash"])
	}
	l.by = firstOf(l.by, w["superseded_by_learning_id"])
	if old := w["supersedes_learning_id"]; old != "" {
		l.over = append(l.over, old)
	}
	before := n.ProofCount
	if l.prove(jsonTexts(w["source_memory_ids"]), w["proof_count"]); n.Sessions() == 0 {
		n.ProofCount = max(n.ProofCount, before)
	}
	if file {
		if r.byName[w["id"]] == nil {
			r.byName[w["id"]] = l
		}
		return nil
	}
	return r.add(l, w["id"])
}

// signals takes what reflect thought of a learning. There is no key for it; it
// is kept as it is where it says something.
func (r *reflectReader) signals(w foreigndb.Row) error {
	l := r.byName[w["learning_id"]]
	if l == nil {
		r.lost["signals of learnings that are not there"]++
		return nil
	}
	if n, err := strconv.Atoi(w["importance"]); err == nil && n != 50 && n >= 0 && n <= 100 {
		l.note.Extra = append(l.note.Extra, note.Field{Key: "importance", Raw: "importance: " + strconv.Itoa(n) + "\n"})
	}
	if m := w["maturity"]; m == "validated" || m == "core" {
		l.note.Extra = append(l.note.Extra, note.Field{Key: "maturity", Raw: "maturity: " + m + "\n"})
	}
	return nil
}

// observation takes a consolidated observation.
func (r *reflectReader) observation(w foreigndb.Row) error {
	n := r.rowNote(w, w["content"], "")
	n.Kind, n.Category = note.Observation, w["category"]
	if n.Status = statusOf(w["status"]); n.Status != "" {
		n.StatusReason = w["retired_reason"]
	}
	l := &learning{source: "reflect.db:observations/" + line(w["id"], 80), name: w["id"], note: n}
	l.scope(w["scope"])
	if p := w["scope"]; l.project == "" && p != "project" && !strings.Contains(p, ":") {
		l.project = p
	}
	l.made = jsonTexts(w["source_correction_ids"])
	var sessions []string
	for _, id := range l.made {
		if r.byName[id] == nil {
			sessions = append(sessions, id)
		}
	}
	l.prove(sessions, w["proof_count"])
	return r.put(l)
}

// slot takes a pinned slot. Those that a hook fills on its own stay on this machine.
func (r *reflectReader) slot(w foreigndb.Row) error {
	n := r.rowNote(w, w["name"], w["content"])
	n.Kind, n.KeyInsight = note.Slot, w["description"]
	if w["name"] == "pending_items" || w["name"] == "session_patterns" {
		n.Scope = note.Local
	}
	return r.put(r.named("slots", w, "slot-", w["name"], n))
}

// persona takes a field of a project's persona.
func (r *reflectReader) persona(w foreigndb.Row) error {
	n := r.rowNote(w, "persona: "+strings.ReplaceAll(w["field_name"], "_", " "), w["value"])
	n.Kind, n.Category = note.Observation, "persona"
	n.AddTags("persona", "field:"+w["field_name"])
	n.Provenance.Confidence = confidenceOf(w["confidence"], "")
	l := r.named("project_persona", w, "persona-", w["field_name"], n)
	l.made = jsonTexts(w["source_observation_ids"])
	return r.put(l)
}

// conventions takes the document that reflect made of the observations of a project.
func (r *reflectReader) conventions(w foreigndb.Row) error {
	n := r.rowNote(w, "Conventions of "+firstOf(w["project_id"], "all projects"), w["content"])
	n.Kind, n.Category = note.Observation, "conventions"
	n.AddTags("conventions")
	return r.put(r.named("conventions_docs", w, "conventions-", "doc", n))
}

// named makes a learning of a row whose key is a project and a name.
func (r *reflectReader) named(table string, w foreigndb.Row, prefix, name string, n *note.Note) *learning {
	project := w["project_id"]
	l := &learning{
		source: "reflect.db:" + table + "/" + line(firstOf(project, "global")+"/"+name, 120), note: n, project: project,
		name: prefix + strings.ToLower(string(hashID(project + "\x00" + name))[:12]),
	}
	return l
}

// put adds what has something to say.
func (r *reflectReader) put(l *learning) error {
	if l.note.Title == "" || l.note.Body == "" {
		r.group("empty rows", 1, "they say nothing")
		return nil
	}
	return r.add(l)
}

// rowNote makes the note of a row. A row with one text has it as title and body.
func (r *reflectReader) rowNote(w foreigndb.Row, title, body string) *note.Note {
	n := &note.Note{
		Type: note.Semantic, Title: line(title, 300), Body: firstOf(body, title), Scope: note.Portable, UserID: "self", WorkspaceID: "personal",
		Provenance: note.Provenance{Source: note.Learning, Confidence: 0.6},
		CreatedAt:  stampOf(w["created_at"]), UpdatedAt: stampOf(firstOf(w["updated_at"], w["last_edited_at"], w["last_updated"],
			w["last_refreshed_at"], w["created_at"])),
	}
	if n.CreatedAt == "" {
		n.CreatedAt = note.At(r.im.store.Now())
	}
	return n
}

// jsonTexts reads a JSON list of texts; what is none is a list of nothing.
func jsonTexts(s string) []string {
	var all []any
	if json.Unmarshal([]byte(s), &all) != nil {
		return nil
	}
	var out []string
	for _, v := range all {
		if t, ok := v.(string); ok && t != "" && len(t) <= 4096 && len(out) < 500 {
			out = append(out, t)
		}
	}
	return out
}
