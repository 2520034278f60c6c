package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"anamnesis/internal/ingest"
)

// A repair that is killed at any write has lost no byte of a file of entities, and the next
// one does the rest.
func TestRepairGraphKilled(t *testing.T) {
	const twice = "entities:\n- {name: pool}\n- {name: pools, description: kept}\n"
	prepare := func() string {
		root := t.TempDir()
		s := on(t, root, nil)
		write(t, s.Path("memory/semantic/a.md"), string(noteBytes("a", "one")))
		write(t, s.Path("memory/semantic/a.entities.yaml"), twice)
		write(t, s.Path("memory/semantic/gone.entities.yaml"), twice)
		return root
	}
	kept := func(root, id, now string) bool {
		names, _ := filepath.Glob(filepath.Join(root, "history", id, "*-graph.entities.yaml"))
		names = append(names, filepath.Join(root, now))
		for _, name := range names {
			if data, err := os.ReadFile(name); err == nil && string(data) == twice {
				return true
			}
		}
		return false
	}
	d := newCrashDisk(0)
	s := on(t, prepare(), d)
	opened := d.Steps()
	if err := ingest.RepairGraph(t.Context(), ingest.New(s, nil, nil, ingest.Options{}), true); err != nil {
		t.Fatal(err)
	}
	total := d.Steps() - opened
	for stop := 1; stop <= total; stop++ {
		root := prepare()
		if err := ingest.RepairGraph(t.Context(), ingest.New(on(t, root, newCrashDisk(opened+stop)), nil, nil, ingest.Options{}), true); !errors.Is(err, errCrash) {
			t.Fatalf("step %d: %v", stop, err)
		}
		for id, now := range map[string]string{"a": "memory/semantic/a.entities.yaml", "gone": "memory/semantic/gone.entities.yaml"} {
			if !kept(root, id, now) {
				t.Errorf("step %d: what the file of %s said is lost", stop, id)
			}
		}
		s := on(t, root, nil)
		if err := ingest.RepairGraph(t.Context(), ingest.New(s, nil, nil, ingest.Options{}), true); err != nil {
			t.Fatalf("step %d, again: %v", stop, err)
		}
		if wrong, all, err := ingest.LookAtGraph(t.Context(), s); err != nil || len(wrong) > 0 || all != 1 {
			t.Errorf("step %d: left are %+v of %d, %v", stop, wrong, all, err)
		}
	}
}
