package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestManyProcesses runs ten writers, readers and indexers at once: no command
// fails, and every note that was acknowledged is found in the end.
func TestManyProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	last := 3 * time.Second
	if os.Getenv("ANAMNESIS_CI") != "" || os.Getenv("ANAMNESIS_SOAK") != "" {
		last = 30 * time.Second
	}
	c := &crashRun{t: t, home: t.TempDir()}
	c.run("list", "--limit", "0")
	var mu sync.Mutex
	var added []string
	var writes []time.Duration
	commands := 0
	end := time.Now().Add(last)
	var wg sync.WaitGroup
	for w := range 10 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 1))
			for i := 0; time.Now().Before(end); i++ {
				word := fmt.Sprintf("word%dx%d", w, i)
				var args []string
				switch k := r.IntN(10); {
				case k < 6:
					args = []string{"add", "--title", "fact about " + word, "--body", "body of " + word, "--project", "many"}
				case k < 9:
					args = []string{"list", "--limit", "3"}
				default:
					args = []string{"reindex"}
				}
				began := time.Now()
				var out bytes.Buffer
				cmd := c.command("anamnesis", args...)
				cmd.Stdout, cmd.Stderr = &out, &out
				err := cmd.Run()
				took := time.Since(began)
				mu.Lock()
				commands++
				if err != nil {
					t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out.String())
				} else if args[0] == "add" {
					added = append(added, word)
					writes = append(writes, took)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(writes)
	if len(writes) == 0 {
		t.Fatal("nothing was written")
	}
	t.Logf("%d commands, %d notes in %v; a write took %v at the median, %v at worst (whole processes)",
		commands, len(added), last, writes[len(writes)/2].Round(time.Millisecond), writes[len(writes)-1].Round(time.Millisecond))
	if n := strings.Count(c.run("list", "--limit", "0"), "\n"); n != len(added) {
		t.Errorf("list shows %d notes, %d were added", n, len(added))
	}
	for i, word := range added {
		if i%max(1, len(added)/40) != 0 { // a process for each would take longer than the writing
			continue
		}
		out, err := c.command("anamnesis", "search", "--global", "--format", "simple", word).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "fact about "+word) {
			t.Errorf("search %s: %v\n%s", word, err, out)
		}
	}
}
