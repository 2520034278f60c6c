package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

func checkRules(_ context.Context, p *Target) Result {
	if p.RulesErr != nil {
		return bad("mend the line that is named in redact.toml; until then nothing is captured and nothing travels", p.RulesErr.Error())
	}
	if p.Redactor == nil {
		return skip("there is no redactor")
	}
	return ok("they can be read")
}

// secretReaders is how many files are read and searched at once.
const secretReaders = 2

func checkSecrets(ctx context.Context, p *Target) Result {
	if p.Redactor == nil || p.Store == nil {
		return skip("there is no redactor")
	}
	files := p.travelling()
	found := make([][]string, len(files)) // the rules that find something
	allowed := make([]bool, len(files))
	deadline := time.Now().Add(p.budget)
	var next, looked atomic.Int64
	var wg sync.WaitGroup
	for range secretReaders {
		wg.Go(func() {
			for ctx.Err() == nil && time.Now().Before(deadline) {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				found[i], allowed[i] = p.secretsIn(files[i])
				looked.Add(1)
			}
		})
	}
	wg.Wait()
	n := int(looked.Load())
	progress := fmt.Sprintf("looked at %d of %s", n, plural(len(files), "file"))
	var names, rules []string
	let := 0
	for i, of := range found {
		switch {
		case len(of) == 0:
		case allowed[i]:
			let++
		default:
			names, rules = append(names, files[i].Path), append(rules, of...)
		}
	}
	if let > 0 {
		progress += fmt.Sprintf("; %d that you let go", let)
	}
	switch {
	case len(names) > 0:
		slices.Sort(rules)
		const named = 3 // files
		found := "what looks like a secret stands in " + plural(len(names), "file") + " (" + strings.Join(slices.Compact(rules), ", ") + ")"
		line := strings.Join(names[:min(len(names), named)], ", ")
		if more := len(names) - named; more > 0 {
			line += fmt.Sprintf(" and %d more", more)
		}
		return warn("take the secret out and change it where it is used; "+
			"`anamnesis review held` shows what does not travel yet", progress, found, line)
	case n < len(files):
		return info("`anamnesis doctor --only secrets` looks at all", progress+", the newest first; nothing was found")
	}
	return ok(progress)
}

// maxSearched is the largest file that is searched, in bytes.
const maxSearched = store.MaxNoteSize

// travelling lists the files that git carries to other machines, notes and
// their sidecars, the newest first. What is larger than any of ours is left out.
func (p *Target) travelling() (files []store.Ref) {
	for _, r := range p.shared.walk() {
		if r.Scope == note.Portable && r.Size <= maxSearched {
			files = append(files, r)
		}
	}
	for _, name := range p.shared.look().sidecars {
		fi, err := os.Lstat(p.Store.Path(name))
		if err == nil && store.ScopeOf(name) == note.Portable && fi.Size() <= maxSearched {
			files = append(files, store.Ref{Path: name, Scope: note.Portable, Size: fi.Size(), ModTime: fi.ModTime()})
		}
	}
	order := make([]dated, len(files)) // small, for there may be many
	for i := range files {
		order[i] = dated{files[i].ModTime.UnixNano(), int32(i)}
	}
	slices.SortFunc(order, func(a, b dated) int {
		if a.at != b.at {
			return cmp.Compare(b.at, a.at)
		}
		return strings.Compare(files[a.file].Path, files[b.file].Path)
	})
	sorted := make([]store.Ref, len(files))
	for i, o := range order {
		sorted[i] = files[o.file]
	}
	return sorted
}

// A dated is a file of a list with its time.
type dated struct {
	at   int64 // nanoseconds
	file int32
}

// secretsIn names the rules that find something in a file, and says whether its
// owner let it go.
func (p *Target) secretsIn(r store.Ref) (rules []string, allowed bool) {
	data, err := os.ReadFile(p.Store.Path(r.Path))
	if err != nil {
		return nil, false
	}
	for _, f := range p.Redactor.Find(string(data)) {
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	return rules, len(rules) > 0 && p.Allowed != nil && p.Allowed(strings.TrimPrefix(r.Path, "memory/"), data)
}
