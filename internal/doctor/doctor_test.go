package doctor_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/doctor"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the table in docs/troubleshooting.md")

// TestHealthy examines an installation in which nothing is wrong.
func TestHealthy(t *testing.T) {
	b := healthy(t, 5)
	before := tree(t, b.dir)
	results := doctor.Examine(t.Context(), b.Target, nil)
	if diff := cmp.Diff(before, tree(t, b.dir)); diff != "" {
		t.Errorf("Examine changed something (-before +after):\n%s", diff)
	}
	var ids []string
	for _, r := range results {
		ids = append(ids, r.ID)
		if r.State != doctor.OK || r.Next != "" || r.Title == "" {
			t.Errorf("%+v", r)
		}
	}
	if diff := cmp.Diff(doctor.IDs(), ids); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if plan := doctor.Plan(t.Context(), b.Target, results); len(plan) > 0 {
		t.Errorf("plan for a healthy installation: %+v", plan)
	}
}

// TestNothing examines a patient of which nothing is known.
func TestNothing(t *testing.T) {
	for _, r := range doctor.Examine(t.Context(), &doctor.Target{}, nil) {
		if r.State == doctor.Bad || r.State == doctor.Warn || r.State != doctor.OK && r.Next == "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestRunaway has checks that panic, hang, and say terrible things.
func TestRunaway(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	token := "ghp_" + strings.Repeat("a1B2c3D4", 4) + "a1B2"
	checks := []doctor.Check{
		{ID: "fails", Run: func(context.Context, *doctor.Target) doctor.Result { panic("no\x1b[2J") }},
		{ID: "hangs", Run: func(context.Context, *doctor.Target) doctor.Result { <-never; return doctor.Result{} }},
		{ID: "obeys", Run: func(ctx context.Context, _ *doctor.Target) doctor.Result {
			<-ctx.Done()
			return doctor.Result{State: doctor.Info, Evidence: []string{"as far as it went"}, Next: "again"}
		}},
		{ID: "talks", Run: func(context.Context, *doctor.Target) doctor.Result {
			lines := []string{"key " + token, "\x1b]0;x\x07 \u202e \xff"}
			for range 500 {
				lines = append(lines, strings.Repeat("y", 10000))
			}
			return doctor.Result{State: doctor.Warn, Evidence: lines, Next: "n"}
		}},
		{ID: "works", Run: func(context.Context, *doctor.Target) doctor.Result {
			return doctor.Result{State: doctor.OK, Next: "x"}
		}},
	}
	b := healthy(t, 0)
	b.Limit, b.Patience = 2*time.Second, 50 // the others need a moment, too
	var got []string
	for _, r := range doctor.ExamineWith(t.Context(), b.Target, checks, nil) {
		got = append(got, fmt.Sprintf("%s %s %d", r.ID, r.State, len(r.Evidence)))
		if all := strings.Join(r.Evidence, "\n"); strings.Contains(all, token) || strings.ContainsAny(all, "\x1b\u202e") || len(all) > 20000 {
			t.Errorf("%s says %q", r.ID, all)
		}
		if r.State != doctor.OK && r.Next == "" || r.State == doctor.OK && r.Next != "" {
			t.Errorf("%s: next %q", r.ID, r.Next)
		}
	}
	want := []string{"fails bad 1", "hangs skipped 1", "obeys info 1", "talks warn 12", "works ok 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOnly(t *testing.T) {
	b := healthy(t, 0)
	var got []string
	for _, r := range doctor.Examine(t.Context(), b.Target, []string{"git", "sink\x1b", "permissions"}) {
		got = append(got, r.ID+" "+string(r.State))
	}
	if diff := cmp.Diff([]string{"permissions ok", "git ok", "sink skipped"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestJSON(t *testing.T) {
	got, err := json.Marshal(doctor.Result{ID: "git", Title: "git", State: doctor.OK, Took: 1500 * time.Microsecond})
	want := `{"id":"git","title":"git","state":"ok","evidence":[],"next":"","took_ms":1.5}`
	if err != nil || string(got) != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

// TestChecks wants every check to have a name and a sentence.
func TestChecks(t *testing.T) {
	ids := doctor.IDs()
	for _, c := range doctor.Checks {
		if c.ID == "" || c.Title == "" || !strings.HasSuffix(c.Doc, ".") || c.Run == nil {
			t.Errorf("check %q is not complete: %q, %q", c.ID, c.Title, c.Doc)
		}
	}
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != len(doctor.Checks) {
		t.Errorf("%d ids for %d checks", n, len(doctor.Checks))
	}
}

// TestDocs compares the table of the checks with the page.
func TestDocs(t *testing.T) {
	const begin, end = "<!-- checks: begin (generated) -->\n", "<!-- checks: end -->"
	name := filepath.Join("..", "..", "docs", "troubleshooting.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the table between %q and %q", name, begin, end)
	}
	want := head + begin + "\n" + checksDoc() + "\n" + end + tail
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		page = []byte(want)
	}
	if want != string(page) {
		t.Errorf("docs/troubleshooting.md is stale; run `go test ./internal/doctor -run TestDocs -update`")
	}
	for i, line := range strings.Split(head+tail, "\n") {
		if n := len([]rune(line)); n > 115 {
			t.Errorf("docs/troubleshooting.md: line %d outside the table has %d characters", i+1, n)
		}
	}
}

func BenchmarkExamine(b *testing.B) {
	p := healthy(b, 10000)
	for b.Loop() {
		for _, r := range doctor.Examine(b.Context(), p.Target, nil) {
			b.ReportMetric(float64(r.Took.Microseconds())/1000, r.ID+"-ms")
		}
	}
}

// checksDoc writes the table of all checks in docs/troubleshooting.md.
func checksDoc() string {
	var b strings.Builder
	b.WriteString("| check | what it looks at |\n|---|---|\n")
	for _, c := range doctor.Checks {
		b.WriteString("| `" + c.ID + "` | " + c.Doc + " |\n")
	}
	return b.String()
}
