package replica_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A desk is a machine of the property test, with what it has written and
// deleted. Lines are never written twice, so that one that is missing is lost.
type desk struct {
	replica.Backend
	options replica.Options
	files   *replicatest.Files
	lines   map[string]bool
}

var errPowerCut = errors.New("power cut")

func (d *desk) open(t *rapid.T, hub *replicatest.Hub, remote string) {
	d.options.Remote = remote
	b, err := hub.Open(d.options)
	if err != nil {
		t.Fatal(err)
	}
	d.Backend = b
}

// Machines edit, delete and sync in any order, some edits fall into the middle
// of a sync, some syncs die before the branch moves, the remote comes and goes.
// When everybody has synced twice all trees are the same, and no line is
// missing that nobody has deleted.
func TestEverybodyAgrees(t *testing.T) {
	storetest.SkipQuick(t)
	for i := range 10 { // of rapid's 100 cases
		t.Run(fmt.Sprint(i), func(t *testing.T) { rapid.Check(t, agree) })
	}
}

func agree(t *rapid.T) {
	hub := replicatest.NewHub()
	count, deleted := 0, make(map[string]bool)
	write := func(d *desk, path string) {
		if names, _ := d.files.List(); slices.ContainsFunc(names, func(name string) bool {
			return strings.HasPrefix(name, path+"/") || strings.HasPrefix(path, name+"/")
		}) {
			return // no folder can hold both
		}
		data, _ := d.files.Read(path)
		text := map[string]bool{}
		for line := range strings.Lines(string(data)) {
			text[line] = true
		}
		if kept := slices.Sorted(maps.Keys(text)); len(kept) > 0 && rapid.IntRange(0, 2).Draw(t, "delete a line") == 0 {
			line := rapid.SampledFrom(kept).Draw(t, "line")
			delete(text, line)
			deleted[line] = true
		}
		count++
		line := fmt.Sprintf("%s %d\n", path, count)
		text[line] = true
		d.lines[line] = true
		d.files.Write(path, []byte(strings.Join(slices.Sorted(maps.Keys(text)), "")))
	}
	pathOf := rapid.SampledFrom([]string{"semantic/a.md", "semantic/b.md", "procedural/c.md", "slots/d", "slots/d/e"})
	desks := make([]*desk, rapid.IntRange(2, 4).Draw(t, "machines"))
	quiet := false
	for i := range desks {
		d := &desk{files: new(replicatest.Files), lines: make(map[string]bool)}
		d.options = replica.Options{
			MachineID: fmt.Sprint("m", i), Remote: "r", Tree: d.files,
			Merger: func(replica.Tree) (replica.Merge, error) { return replicatest.Lines, nil },
			Settle: func(c replica.Conflict) error { // what found no place is kept, and counts as seen
				for line := range strings.Lines(string(c.Other)) {
					deleted[line] = true
				}
				return nil
			},
			Hold: func(string, []byte) string {
				if !quiet && rapid.IntRange(0, 9).Draw(t, "hold") == 0 {
					return "not today"
				}
				return ""
			},
		}
		d.options.Apply = func(changes []replica.Change) ([]string, error) {
			switch happens := rapid.IntRange(0, 9).Draw(t, "while applying"); {
			case quiet:
			case happens == 0:
				write(d, pathOf.Draw(t, "edited path"))
			case happens == 1:
				part := rapid.IntRange(0, len(changes)).Draw(t, "written")
				_, err := d.files.Apply(changes[:part])
				return nil, errors.Join(errPowerCut, err)
			}
			return d.files.Apply(changes)
		}
		d.open(t, hub, "r")
		desks[i] = d
	}
	for range rapid.IntRange(5, 60).Draw(t, "operations") {
		d := rapid.SampledFrom(desks).Draw(t, "machine")
		switch rapid.IntRange(0, 9).Draw(t, "operation") {
		case 0, 1, 2:
			write(d, pathOf.Draw(t, "path"))
		case 3:
			path := pathOf.Draw(t, "path")
			data, _ := d.files.Read(path)
			for line := range strings.Lines(string(data)) {
				deleted[line] = true
			}
			d.files.Write(path, nil)
		case 4:
			hub.Cut("r", rapid.Bool().Draw(t, "cut"))
		case 5:
			_, _ = d.Commit(t.Context(), nil)
		case 6:
			d.open(t, hub, rapid.SampledFrom([]string{"r", "s"}).Draw(t, "remote"))
			if rapid.IntRange(0, 3).Draw(t, "reset") == 0 {
				hub.Point("r", "nothing")
			}
		default:
			if out, err := d.Sync(t.Context()); err != nil && !errors.Is(err, errPowerCut) {
				t.Fatalf("%+v, %v", out, err)
			}
		}
	}
	hub.Cut("r", false)
	quiet = true
	for _, d := range desks {
		d.open(t, hub, "r")
	}
	for range 2 {
		for _, d := range desks {
			if out, err := d.Sync(t.Context()); err != nil || out.Offline {
				t.Fatalf("%+v, %v", out, err)
			}
		}
	}
	want := hub.Files("r")
	all := strings.Join(slices.Collect(maps.Values(want)), "")
	for i, d := range desks {
		have := make(map[string]string)
		names, _ := d.files.List()
		for _, name := range names {
			data, _ := d.files.Read(name)
			have[name] = string(data)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Fatalf("machine %d (-remote +tree):\n%s", i, diff)
		}
		for line := range d.lines {
			if !deleted[line] && !strings.Contains(all, line) {
				t.Fatalf("%q of machine %d is lost", line, i)
			}
		}
	}
}
