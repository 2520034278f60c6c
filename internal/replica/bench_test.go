package replica_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/replica"
)

// BenchmarkSync compares a sync of 10,000 notes, or as many as
// ANAMNESIS_BENCH_NOTES says (2,000 at least), of which none, one or 1,000
// have changed here or there, with the commands that somebody would type for
// it. Both run in one go, on a remote by path.
func BenchmarkSync(b *testing.B) {
	notes := 10000
	if n, err := strconv.Atoi(os.Getenv("ANAMNESIS_BENCH_NOTES")); err == nil {
		notes = max(n, 2000)
	}
	for _, changed := range []int{0, 1, 1000} {
		b.Run(fmt.Sprintf("push/%d/bare", changed), func(b *testing.B) {
			dir := stocked(b, notes)
			compare(b, dir, changed, func() { bareCycle(b, dir, "--ff-only") })
		})
		b.Run(fmt.Sprintf("push/%d/ours", changed), func(b *testing.B) {
			dir := stocked(b, notes)
			s := syncer(b, dir)
			compare(b, dir, changed, func() { syncOnce(b, s) })
		})
	}
	for _, changed := range []int{1, 1000} {
		for _, who := range []string{"bare", "ours"} {
			b.Run(fmt.Sprintf("merge/%d/%s", changed, who), func(b *testing.B) {
				dir := stocked(b, notes)
				other := filepath.Join(b.TempDir(), "other")
				command(b, b.TempDir(), "clone", "-q", filepath.Join(filepath.Dir(dir), "remote.git"), other)
				s := syncer(b, dir)
				round := 0
				for b.Loop() {
					b.StopTimer()
					round++
					command(b, other, "pull", "-q", "--ff-only")
					edit(b, other, 0, changed, round)
					command(b, other, "commit", "-qam", "x")
					command(b, other, "push", "-q")
					edit(b, dir, notes/2, changed, round)
					b.StartTimer()
					if who == "bare" {
						bareCycle(b, dir, "--no-ff")
					} else if out := syncOnce(b, s); out.Pulled == 0 {
						b.Fatalf("%+v", out)
					}
				}
			})
		}
	}
}

func compare(b *testing.B, dir string, changed int, sync func()) {
	round := 0
	sync()
	for b.Loop() {
		b.StopTimer()
		round++
		edit(b, dir, 0, changed, round)
		b.StartTimer()
		sync()
	}
}

// bareCycle is a sync by hand.
func bareCycle(b *testing.B, dir, how string) {
	command(b, dir, "status", "--porcelain")
	command(b, dir, "add", "-A")
	_ = git(dir, "commit", "-q", "-m", "x").Run()
	command(b, dir, "fetch", "-q", "origin")
	if command(b, dir, "rev-list", "--count", "main..origin/main") != "0\n" {
		command(b, dir, "merge", "-q", how, "-m", "x", "origin/main")
	}
	command(b, dir, "push", "-q", "origin", "main")
}

func syncer(b *testing.B, dir string) replica.Backend {
	s, err := replica.Open(replica.Options{
		Dir: dir, MachineID: "bench", Remote: filepath.Join(filepath.Dir(dir), "remote.git"), Env: os.Environ(),
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func syncOnce(b *testing.B, s replica.Backend) replica.Outcome {
	out, err := s.Sync(b.Context())
	if err != nil || out.Offline {
		b.Fatalf("%+v, %v", out, err)
	}
	return out
}

// stocked makes a tree with notes that a remote has too.
func stocked(b *testing.B, notes int) string {
	b.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		b.Skip("git is not on PATH")
	}
	dir := filepath.Join(b.TempDir(), "memory")
	command(b, b.TempDir(), "init", "-q", "--bare", "--initial-branch=main", filepath.Join(filepath.Dir(dir), "remote.git"))
	if err := os.MkdirAll(filepath.Join(dir, "semantic"), 0o700); err != nil {
		b.Fatal(err)
	}
	edit(b, dir, 0, notes, 0)
	syncOnce(b, syncer(b, dir))
	time.Sleep(1100 * time.Millisecond) // git trusts no file of the second of its index
	syncOnce(b, syncer(b, dir))
	return dir
}

func edit(b *testing.B, dir string, from, count, round int) {
	text := strings.Repeat("A note of usual length, about the tests of the login.\n", 11)
	for i := from; i < from+count; i++ {
		at := filepath.Join(dir, "semantic", fmt.Sprintf("%05d.md", i))
		if err := os.WriteFile(at, fmt.Appendf(nil, "%s%d %d\n", text, i, round), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

func command(b *testing.B, dir string, args ...string) string {
	b.Helper()
	cmd := git(dir, args...)
	cmd.Args = append(cmd.Args[:1], append([]string{"-c", "gc.auto=0", "-c", "maintenance.auto=false"}, cmd.Args[1:]...)...)
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}
