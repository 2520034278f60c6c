package imports_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/imports"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"

	_ "modernc.org/sqlite"
)

const fullLearning = `---
type: learning
id: lrn-double-tax-1a2b3c
created: '2026-02-03T04:05:06Z'
updated: 2026-02-04
scope: project:shop
confidence: high
confidence_num: 0.85
learning_type: bug-fix
discovery_tokens: 1200
title: Tax is counted twice
tags: [tax, cart]
symptoms:
- the total is too high
- "rounding: off by a cent"
key_insight: Only the cart counts tax.
problem: The total has tax twice.
root_cause: Both layers call recalcTax.
fix: Call it in the cart only.
rule: One layer counts tax.
category: debugging-sessions
entities: [recalcTax, cart]
causal_relations:
- {source: double call, target: too high a total, type: causes}
- {source: a, target: b, type: frobnicates}
links:
- other-note
superseded_by: null
forget_after: '2027-01-01'
provenance:
  source_tool: claude
  source_path: /home/ada/.claude/projects/-src-shop/aaaa.jsonl
  session_id: aaaa
  content_hash: 00ff
  detected_at: '2026-02-03T04:05:06Z'
  source_memory_ids: [/home/ada/.claude/projects/-src-shop/aaaa.jsonl, /home/ada/.claude/projects/-src-shop/bbbb.jsonl]
  proof_count: 2
unverified_refs: [deadbee]
validated: true
framework: none: at all
severity: high
---

## Problem

The total has tax twice.
`

func (r *room) reflect() *imports.Plan {
	r.Helper()
	return r.plan(r.Reflect(r.Context(), imports.ReflectOptions{}))
}

func group(p *imports.Plan, name string) imports.Group {
	for _, g := range p.Groups {
		if g.Name == name {
			return g
		}
	}
	return imports.Group{}
}

func TestReflectNote(t *testing.T) {
	r := newRoom(t)
	r.write(".learnings/documents/lrn-double-tax-1a2b3c.md", fullLearning)
	r.write(".learnings/documents/lrn-double-tax-1a2b3c.entities.yaml", `document_id: lrn-double-tax-1a2b3c
extracted_at: '2026-02-03T04:05:06Z'
entities:
- {name: EU VAT, type: concept, description: the tax}
relationships:
- {source: double call, target: EU VAT, type: caused_by, description: x, strength: 7, tcommit: '2026-02-03T04:05:06Z'}
- {from: a, to: b, type: uses}
`)
	p := r.reflect()
	if len(r.notes()) != 0 {
		t.Fatal("a plan wrote notes")
	}
	r.apply(p)
	n := r.titled("Tax is counted twice")
	want := &note.Note{
		ID: "lrn-double-tax-1a2b3c", Type: note.Procedural, Title: "Tax is counted twice", Body: "## Problem\n\nThe total has tax twice.",
		Project: "shop", MachineID: "box", Scope: note.Portable, UserID: "self", WorkspaceID: "personal",
		Provenance: note.Provenance{Source: note.Learning, Confidence: 0.85, Session: "aaaa"},
		CreatedAt:  "2026-02-03T04:05:06+00:00", UpdatedAt: "2026-02-04T00:00:00+00:00", Tags: []string{"tax", "cart", "tool:claude", "import"},
		Category: "debugging-sessions", LearningType: "bug-fix", Problem: "The total has tax twice.",
		Symptoms: []string{"the total is too high", "rounding: off by a cent"}, RootCause: "Both layers call recalcTax.",
		Fix: "Call it in the cart only.", Rule: "One layer counts tax.", KeyInsight: "Only the cart counts tax.",
		UnverifiedRefs: []string{"deadbee"}, ForgetAfter: "2027-01-01T00:00:00+00:00", Validated: "true",
		Evidence: []note.Evidence{{Session: "claude/aaaa"}, {Session: "claude/bbbb"}}, ProofCount: 2, ImportHash: n.ImportHash,
		Extra: []note.Field{{Key: "discovery_tokens", Raw: "discovery_tokens: 1200\n"}, {Key: "links", Raw: "links:\n- other-note\n"}, {Key: "severity", Raw: "severity: high\n"}},
	}
	if got, want := string(n.Format()), string(want.Format()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	ref, err := r.store.Find(n.ID)
	if err != nil {
		t.Fatal(err)
	}
	side, warnings, err := r.store.ReadSidecar(ref.Path)
	if err != nil || len(warnings) > 0 || side == nil || len(side.Entities) != 3 || len(side.Edges) != 2 || side.DocumentID != n.ID || side.Edges[0].Strength != 7 {
		t.Errorf("%+v %v %v", side, warnings, err)
	}
	for name, found := range map[string]int{"learnings": 1, "sidecars": 1, "field causal_relations": 1, "field framework": 1} {
		if g := group(p, name); g.Found != found {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if got := r.reflect().Totals(); got.Unchanged != 1 || got.New+got.Update != 0 {
		t.Errorf("again: %+v %+v", got, r.reflect().Items)
	}
	// A field that changes there changes here; what was added here stays.
	r.edit(n.ID, func(n *note.Note) { n.AddTags("mine") })
	r.write(".learnings/documents/lrn-double-tax-1a2b3c.md", strings.Replace(fullLearning, "One layer counts tax.", "Exactly one layer counts tax.", 1))
	r.apply(r.reflect())
	if n := r.titled("Tax is counted twice"); n.Rule != "Exactly one layer counts tax." || !n.HasTag("mine") {
		t.Errorf("%+v", n)
	}
}

func TestReflectKinds(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	doc := func(name, front, body string) {
		r.write(".learnings/documents/"+name, "---\n"+front+"---\n"+body+"\n")
	}
	doc("old id with spaces.md", "id: old id with spaces\ntitle: spaced\n", "One.")
	doc("newer.md", "id: newer\ntitle: newer\nsupersedes: older\n", "Two.")
	doc("older.md", "id: older\ntitle: older\nsuperseded_by: newer\n", "Three.")
	doc("episodes/ep-20260101-000000.md", "type: episode\nid: ep-20260101-000000\nproject: shop\n", "# What happened\n\nMuch.")
	doc("obs-1.md", "type: observation\nid: obs-1\nscope: global\nstatement: Ada prefers tabs\nstatus: active\n", "## Observation\n\nTabs.")
	doc("fleet.md", "title: from the fleet\nquarantine: true\nscope: domain:ops\n", "Four.")
	doc("memories/shop/m.md", "name: x\ndescription: y\n", "Five, kept by an agent.")
	doc(".forgotten/gone.md", "id: gone\ntitle: gone\n", "Six.")
	doc("CON.md", "title: a device\n", "Seven.")
	doc("bare.md", "title: bare scope\nscope: project\n", "Eight.")
	r.write(".learnings/archived/arch.md", "---\nid: arch\ntitle: arch\n---\nNine.\n")
	r.write(".learnings/shards/blog/documents/sh.md", "---\nid: sh\ntitle: of a shard\n---\nTen.\n")
	r.write(".learnings/documents/no-front.md", "# Just text\n\nEleven.\n")
	r.write(".learnings/documents/bomb.md", "---\ntitle: bomb\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b]\ntags: *c\n---\nTwelve.\n")
	r.write(".learnings/documents/deep.md", "---\ntitle: deep\nx: "+strings.Repeat("{a: ", 5000)+"\n---\nThirteen.\n")
	r.write(".learnings/documents/bad.md", "---\ntitle: Use it: always\ntags: [a, b\nid: bad\u00ff\n---\nFourteen.\n")
	r.write(".learnings/documents/huge.md", strings.Repeat("x", 10<<20))
	r.write(".learnings/documents/vanished.history.yaml", "- snapshot_at: x\n")
	r.write(".learnings/review-queue/x.yaml", "slug: x\n")
	p := r.reflect()
	r.want(p, "huge.md", imports.Refused, "split it")
	r.apply(p)
	for title, check := range map[string]func(*note.Note) bool{
		"spaced": func(n *note.Note) bool { return n.ImportedID == "old id with spaces" && len(n.ID) == 26 },
		"newer": func(n *note.Note) bool {
			return slices.Equal(n.Supersedes, []note.ID{"older"}) && n.Project == note.Global
		},
		"older":            func(n *note.Note) bool { return n.Status == "superseded" },
		"What happened":    func(n *note.Note) bool { return n.Type == note.Episodic && n.Project == "shop" },
		"Ada prefers tabs": func(n *note.Note) bool { return n.Kind == note.Observation && n.Type == note.Semantic },
		"from the fleet":   func(n *note.Note) bool { return n.Quarantine && n.HasTag("domain:ops") && n.Project == note.Global },
		"gone":             func(n *note.Note) bool { return n.Status == "archived" },
		"arch":             func(n *note.Note) bool { return n.Status == "archived" },
		"of a shard":       func(n *note.Note) bool { return n.Project == "blog" },
		"a device":         func(n *note.Note) bool { return n.ImportedID == "CON" },
		"bare scope":       func(n *note.Note) bool { return n.Project == "unknown" },
		"Just text":        func(n *note.Note) bool { return n.ID == "no-front" },
		"bomb": func(n *note.Note) bool {
			return n.Body == "Twelve." && !strings.Contains(strings.Join(n.Tags, ","), "x")
		},
		"deep":           func(n *note.Note) bool { return n.Body == "Thirteen." },
		"Use it: always": func(n *note.Note) bool { return n.Body == "Fourteen." && n.ImportedID != "" },
	} {
		if n := r.titled(title); !check(n) {
			t.Errorf("%s:\n%s", title, n.Format())
		}
	}
	if n := r.notes()["m"]; n == nil || n.Project != "shop" || n.Provenance.Source != note.Import {
		t.Errorf("a memory of an agent: %+v", n)
	}
	for _, name := range []string{"histories without a note", "review queue"} {
		if g := group(p, name); g.Found != 1 || !g.Left || g.Why == "" {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if got := r.reflect().Totals(); got.New+got.Update != 0 {
		for _, it := range r.reflect().Items {
			if it.Action == imports.Adds || it.Action == imports.Updates {
				t.Errorf("again: %+v", it)
			}
		}
	}
}

// An id that a note of somebody else has is not taken.
func TestReflectIDs(t *testing.T) {
	r := newRoom(t)
	r.write(".learnings/documents/a.md", "---\nid: mine\ntitle: theirs\n---\nOne thing.\n")
	r.write(".learnings/documents/b.md", "---\nid: MINE\ntitle: in capitals\n---\nAnother thing.\n")
	own := &note.Note{ID: "mine", Type: note.Semantic, Title: "my own", Body: "A third thing.", Project: "x", MachineID: "box", Scope: note.Portable, UserID: "self", WorkspaceID: "personal", Provenance: note.Provenance{Source: note.Human, Confidence: 1}, CreatedAt: "2026-01-01", UpdatedAt: "2026-01-01"}
	r.must(func() error { _, _, err := storetest.Put(r.store, own, store.Ref{}, "update"); return err })
	r.apply(r.reflect())
	r.apply(r.reflect())
	if all := r.notes(); len(all) != 3 || all["mine"].Title != "my own" || r.titled("theirs").ImportedID != "mine" || r.titled("in capitals").ImportedID != "MINE" {
		t.Errorf("%v", all)
	}
}

// database makes a reflect.db in the shape of the original's.
func (r *room) database(statements ...string) string {
	r.Helper()
	path := r.write(".reflect/reflect.db", "")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		r.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range append([]string{"PRAGMA journal_mode=WAL"}, statements...) {
		if _, err := db.ExecContext(r.Context(), s); err != nil {
			r.Fatalf("%s: %v", s, err)
		}
	}
	return path
}

const learningsTable = `CREATE TABLE learnings (id TEXT PRIMARY KEY, title TEXT, category TEXT DEFAULT 'Unknown', confidence TEXT DEFAULT 'LOW',
	confidence_num REAL DEFAULT .3, status TEXT DEFAULT 'pending', scope TEXT DEFAULT 'project', source_path TEXT, source_quote TEXT,
	source_memory_ids TEXT DEFAULT '[]', proof_count INTEGER DEFAULT 1, session_id TEXT, artifact_path TEXT, commit_hash TEXT,
	supersedes_learning_id TEXT, superseded_by_learning_id TEXT, forget_after TEXT, created_at TEXT, revert_reason TEXT, is_latest INTEGER DEFAULT 1)`

func TestReflectDatabase(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	r := newRoom(t)
	r.write(".learnings/documents/lrn-a.md", "---\nid: lrn-a\ntitle: of a file\n---\nIt has a row.\n")
	r.write(".claude/projects/-src-shop/aaaa.jsonl", `{"type":"user","sessionId":"aaaa","cwd":"/src/shop","timestamp":"2026-05-01T10:00:00Z","message":{"role":"user","content":"x"}}`+"\n")
	path := r.database(learningsTable,
		`INSERT INTO learnings (id, title, artifact_path, status, source_memory_ids, proof_count, scope, commit_hash, created_at)
			VALUES ('0001', 'another title', '/home/ada/.learnings/documents/lrn-a.md', 'indexed', '["/home/ada/.claude/projects/-src-shop/aaaa.jsonl"]', 3, 'global', 'abc1234', '2026-01-01T00:00:00Z')`,
		`INSERT INTO learnings (id, title, source_quote, source_path, superseded_by_learning_id, is_latest, created_at)
			VALUES ('0002', 'never use foo', 'don''t use foo', '/home/ada/.claude/projects/-src-shop/aaaa.jsonl', '0003', 0, '2026-01-02T00:00:00Z')`,
		`INSERT INTO learnings (id, title, status, scope, forget_after, created_at) VALUES ('0003', 'use foo after all', 'approved', 'project:shop', '2027-01-01', '2026-01-03T00:00:00Z')`,
		`INSERT INTO learnings (id, title, status, revert_reason, scope, proof_count) VALUES ('0004', 'a wrong idea', 'reverted', 'it was wrong', 'global', 4)`,
		`INSERT INTO learnings (id, title, source_quote, scope) VALUES ('0005', 'a huge one', '`+strings.Repeat("huge ", 220_000)+`', 'global')`,
		`CREATE TABLE learning_signals (learning_id TEXT PRIMARY KEY, importance INTEGER DEFAULT 50, maturity TEXT DEFAULT 'draft', recall_count INTEGER)`,
		`INSERT INTO learning_signals VALUES ('0003', 80, 'core', 7), ('gone', 60, 'draft', 0)`,
		`CREATE TABLE observations (id TEXT, content TEXT, category TEXT, scope TEXT, status TEXT, proof_count INTEGER, source_correction_ids TEXT, retired_reason TEXT, created_at TEXT)`,
		`INSERT INTO observations VALUES ('obs-1', 'The team writes table tests.', 'testing', 'shop', 'active', 2, '["0003","s-77"]', NULL, '2026-01-04'),
			('obs-2', 'The team uses tabs.', 'style', 'global', 'retired', 1, '[]', 'they do not', '2026-01-04')`,
		`CREATE TABLE slots (project_id TEXT, name TEXT, content TEXT, scope TEXT, description TEXT)`,
		`INSERT INTO slots VALUES ('', 'persona', 'A careful engineer.', 'global', 'who the user is'), ('shop', 'pending_items', 'write the tests', 'project', ''), ('shop', 'guidance', '', 'project', '')`,
		`CREATE TABLE project_persona (project_id TEXT, field_name TEXT, value TEXT, confidence REAL, source_observation_ids TEXT)`,
		`INSERT INTO project_persona VALUES ('shop', 'test_style', 'tables', 0.9, '["obs-1"]')`,
		`CREATE TABLE conventions_docs (project_id TEXT, content TEXT)`,
		`INSERT INTO conventions_docs VALUES ('shop', '# Conventions')`,
		`CREATE TABLE recall_events (id TEXT)`,
		`INSERT INTO recall_events VALUES ('1'), ('2')`,
	)
	before := listing(t, filepath.Dir(path))
	p := r.reflect()
	if after := listing(t, filepath.Dir(path)); after != before {
		t.Errorf("reading changed the folder of the database:\n%s\n%s", before, after)
	}
	if len(p.Problems) != 0 {
		t.Errorf("%v", p.Problems)
	}
	r.apply(p)
	for title, check := range map[string]func(*note.Note) bool{
		"of a file": func(n *note.Note) bool {
			return n.ID == "lrn-a" && len(n.Evidence) == 1 && n.Evidence[0].Session == "claude/aaaa" && n.ProofCount == 1 && slices.Equal(n.Commits, []string{"abc1234"})
		},
		"never use foo": func(n *note.Note) bool {
			return n.Status == "superseded" && n.Project == "shop" && n.Body == "don't use foo" && n.Speculative
		},
		"use foo after all": func(n *note.Note) bool {
			return slices.Equal(n.Supersedes, []note.ID{"0002"}) && n.ForgetAfter != "" && len(n.Extra) == 2 && n.Extra[0].Raw == "importance: 80\n" && !n.Speculative
		},
		"a wrong idea": func(n *note.Note) bool {
			return n.Status == "reverted" && n.StatusReason == "it was wrong" && n.ProofCount == 4
		},
		"The team writes table tests.": func(n *note.Note) bool {
			return n.Kind == note.Observation && n.Project == "shop" && slices.Equal(n.DerivedFrom, []note.ID{"0003"}) && n.Evidence[0].Session == "reflect/s-77"
		},
		"The team uses tabs.": func(n *note.Note) bool { return n.Status == "archived" && n.StatusReason == "they do not" },
		"persona": func(n *note.Note) bool {
			return n.Kind == note.Slot && n.Project == note.Global && n.Scope == note.Portable
		},
		"pending_items": func(n *note.Note) bool { return n.Kind == note.Slot && n.Project == "shop" && n.Scope == note.Local },
		"persona: test style": func(n *note.Note) bool {
			return n.Body == "tables" && n.Provenance.Confidence == 0.9 && n.DerivedFrom[0] == "obs-1"
		},
		"Conventions of shop": func(n *note.Note) bool { return n.HasTag("conventions") },
		"a huge one":          func(n *note.Note) bool { return len(n.Body) <= 1<<20 },
	} {
		if n := r.titled(title); !check(n) {
			t.Errorf("%s:\n%.600s", title, n.Format())
		}
	}
	if g := group(p, "table recall_events"); g.Found != 2 || !g.Left {
		t.Errorf("%+v", g)
	}
	if g := group(p, "table learnings"); g.Found != 5 || g.Left {
		t.Errorf("%+v", g)
	}
	if got := r.reflect().Totals(); got.New+got.Update != 0 {
		t.Errorf("again: %+v %+v", got, r.reflect().Items)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "anamnesis-import-*")); len(left) > 0 {
		t.Errorf("copies stay behind: %v", left)
	}
}

// listing names the files of a folder with their sizes and times.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, e.Name(), fi.Size(), fi.ModTime())
	}
	return b.String()
}

// An old, a damaged and a malicious database never stop the files.
func TestReflectBadDatabase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		make    func(r *room)
		problem bool
		notes   int
	}{
		{"no database", func(*room) {}, false, 1},
		{"no SQLite", func(r *room) { r.write(".reflect/reflect.db", strings.Repeat("this is no database ", 500)) }, true, 1},
		{"empty", func(r *room) { r.write(".reflect/reflect.db", "") }, false, 1},
		{"a folder", func(r *room) { r.write(".reflect/reflect.db/x", "") }, true, 1},
		{"cut", func(r *room) {
			path := r.database(learningsTable, `INSERT INTO learnings (id, title, source_quote) VALUES ('1', 'x', '`+strings.Repeat("long ", 20_000)+`')`)
			if err := os.Truncate(path, 8192); err != nil {
				r.Fatal(err)
			}
		}, true, 1},
		{"few columns", func(r *room) {
			r.database(`CREATE TABLE learnings (id TEXT, title TEXT)`, `INSERT INTO learnings VALUES ('1', 'an old one')`)
		}, false, 2},
		{"other types", func(r *room) {
			r.database(`CREATE TABLE learnings (id, title, proof_count, created_at, source_memory_ids)`,
				`INSERT INTO learnings VALUES (1, x'ff00fe', 'many', -1e300, '{"a":1}'), (2, NULL, NULL, NULL, NULL), (3, 'good', 2, 1700000000, '[1,null,"s"]')`)
		}, false, 3},
		{"an endless view", func(r *room) {
			r.database(`CREATE VIEW learnings AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, id AS title FROM n`)
		}, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRoom(t)
			r.write(".learnings/documents/a.md", "---\nid: a\ntitle: a file\n---\nIt comes in.\n")
			tt.make(r)
			p := r.reflect()
			if (len(p.Problems) > 0) != tt.problem {
				t.Errorf("problems %v", p.Problems)
			}
			r.apply(p)
			r.titled("a file")
			if n := len(r.notes()); n != tt.notes {
				t.Errorf("%d notes, want %d", n, tt.notes)
			}
		})
	}
}

// Secrets stay out of every key, also of the unknown ones.
func TestReflectRedacts(t *testing.T) {
	r := newRoom(t)
	key := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	r.write(".learnings/documents/a.md", strings.ReplaceAll("---\nid: a\ntitle: t K\nrule: K\nbranch: K\nstrange:\n- K\nstranger: K\nentities: [K]\nevidence: x\n---\nBody K.\n", "K", key))
	r.apply(r.reflect())
	for ref := range r.store.Walk() {
		for _, name := range []string{ref.Path, strings.TrimSuffix(ref.Path, ".md") + ".entities.yaml"} {
			data, err := os.ReadFile(r.store.Path(name))
			if err != nil || strings.Contains(string(data), key) {
				t.Errorf("%v\n%s", err, data)
			}
		}
	}
	if got := r.reflect().Totals(); got.Unchanged != 1 {
		t.Errorf("%+v", r.reflect().Items)
	}
}

// A run that was stopped between a note and its entities writes those later.
func TestReflectStoppedBeforeSidecar(t *testing.T) {
	r := newRoom(t)
	r.write(".learnings/documents/a.md", "---\nid: a\ntitle: t\nentities: [cart]\n---\nBody.\n")
	r.apply(r.reflect())
	ref, err := r.store.Find("a")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{strings.TrimSuffix(ref.Path, ".md") + ".entities.yaml", "imports.json"} {
		if err := os.Remove(r.store.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	p := r.reflect()
	r.want(p, "a.md", imports.Updates, "entities are missing")
	r.apply(p)
	if side, _, err := r.store.ReadSidecar(ref.Path); err != nil || side == nil || len(side.Entities) != 1 {
		t.Errorf("%+v %v", side, err)
	}
	r.want(r.reflect(), "a.md", imports.Unchanged, "")
}
