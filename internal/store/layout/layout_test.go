package layout_test

import (
	"strings"
	"testing"

	"anamnesis/internal/store/layout"
)

func TestOf(t *testing.T) {
	for name, want := range map[string]layout.Class{
		"memory/semantic/a.md":                                     layout.Note,
		"local/procedural/2026/11/a.md":                            layout.Note,
		"memory/semantic/a.entities.yaml":                          layout.Sidecar,
		"memory/tombstones/a.json":                                 layout.Tombstone,
		"memory/slots/a.txt":                                       layout.Slot,
		"memory/projects.yaml":                                     layout.Projects,
		"memory/.gitattributes":                                    layout.Attributes,
		"history/a/01K2M3N4P5Q6R7S8T9V0W1X2Y3-edit.md":             layout.History,
		"history/a/01K2M3N4P5Q6R7S8T9V0W1X2Y3-graph.entities.yaml": layout.History,
		"conflicts/a.json":                                         layout.Conflict,
		"conflicts/a.md":                                           layout.Conflict,
		"events/2026-11.jsonl":                                     layout.Events,
		"events/checkpoint.json":                                   layout.Events,
		"spool/a.0.json":                                           layout.Job,
		"spool/held/a.md":                                          layout.Held,
		"spool/retry/a.json":                                       layout.Job,
		"spool/batches/a.json":                                     layout.Job,

		"":                           layout.Unknown,
		"memory":                     layout.Unknown,
		"memory/a.md":                layout.Unknown,
		"memory/semantic":            layout.Unknown,
		"memory/semantic/a.txt":      layout.Unknown,
		"memory/semantic/.a.md":      layout.Unknown,
		"memory/semantic/.git/a.md":  layout.Unknown,
		"memory/semantic//a.md":      layout.Unknown,
		"memory/semantic/../a.md":    layout.Unknown,
		"memory/semantic/a\\b.md":    layout.Unknown,
		"memory/semantic/a\nb.md":    layout.Unknown,
		"memory/semantic/\xff.md":    layout.Unknown,
		"memory/tombstones/a/b.json": layout.Unknown,
		"memory/" + strings.Repeat("semantic/", 12) + "a.md": layout.Unknown,
		"history/a.md":                layout.Unknown,
		"history/a/b/c.md":            layout.Unknown,
		"conflicts/a/b.md":            layout.Unknown,
		"events/november.jsonl":       layout.Unknown,
		"spool/.tmp-anamnesis-1.json": layout.Unknown,
		"spool/poisoned/a.json":       layout.Unknown,
		"config.json":                 layout.Unknown,
		"redact.toml":                 layout.Unknown,
	} {
		if got := layout.Of(name); got != want {
			t.Errorf("Of(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	const path = "memory/semantic/a.md"
	if note, ok := layout.NoteOf(layout.SidecarOf(path)); !ok || note != path {
		t.Errorf("the sidecar of %s belongs to %q", path, note)
	}
	if _, ok := layout.NoteOf(path); ok {
		t.Error("a note is taken for a sidecar")
	}
	for _, name := range []string{path, layout.SidecarOf(path), layout.TombstoneOf("a"), layout.HeldOf("a"), layout.ConflictOf("a", ".json")} {
		if got := layout.Stem(name); got != "a" {
			t.Errorf("Stem(%q) = %q", name, got)
		}
	}
	if !layout.IsTemp(layout.TempPrefix+"1") || !layout.IsTemp(layout.SyncTempPrefix+"a.md") || layout.IsTemp(layout.TempPrefix) || layout.IsTemp("a.md") {
		t.Error("temporary files are not known by their names")
	}
	if !layout.IsLock(layout.LockOf("eval.jsonl")) || layout.IsLock("go.lock") || layout.IsLock("") {
		t.Error("locks are not known by their names")
	}
}
