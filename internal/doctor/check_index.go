package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"anamnesis/internal/index"
)

const remake = "`anamnesis doctor reindex` rebuilds it from the notes; nothing is lost"

func checkIndex(ctx context.Context, p *Target) Result {
	if p.Index == nil && p.IndexErr != nil {
		return bad("move the index away (index*.db* in the store): the next command rebuilds it from the notes, and nothing is lost",
			p.IndexErr.Error())
	}
	if p.Index == nil {
		return skip("there is no index")
	}
	look, cancel := context.WithTimeout(ctx, max(p.budget, time.Millisecond))
	defer cancel()
	err := p.Index.Check(look)
	hurried := err != nil && look.Err() != nil
	switch {
	case hurried && ctx.Err() != nil:
		return skip("there was no time to look at it")
	case err != nil && !hurried:
		return bad(remake, err.Error())
	}
	st, err := p.Index.Statistics(ctx)
	if err != nil {
		return bad(remake, err.Error())
	}
	evidence := []string{plural(st.Notes, "note") + ", " + plural(st.Passages, "passage")}
	if p.Store != nil && !p.Store.ReadOnly() {
		if why := unwritableIndex(p.Store.Root()); why != "" {
			return bad("`anamnesis doctor reindex` replaces it; until then every command makes a temporary index", append(evidence, why)...)
		}
	}
	if hurried {
		evidence = append(evidence, "its pages were looked at for as long as a quick look takes; `anamnesis doctor --only index` looks at "+
			"all of them")
	}
	return ok(evidence...)
}

// unwritableIndex says which file of the index may not be written, "" when all may.
// Opening one and closing it again would drop the locks that this process has on it.
func unwritableIndex(root string) string {
	files, _ := filepath.Glob(filepath.Join(root, "index*.db*"))
	for _, name := range files {
		if !strings.Contains(filepath.Base(name), ".foreign-") && !writable(name) {
			return name + " cannot be written by you"
		}
	}
	return ""
}

func checkDrift(ctx context.Context, p *Target) Result {
	if p.Index == nil || p.Store == nil {
		return skip("there is no index")
	}
	sum, files, walked, err := p.Index.State(ctx)
	if err != nil {
		return bad(remake, err.Error())
	}
	refs := p.shared.walk()
	for _, r := range refs {
		sum ^= index.Fingerprint(r.Path, r.Size, r.ModTime.UnixNano())
	}
	if sum == 0 && files == len(refs) {
		return ok(plural(files, "file") + ", all as the index knows them")
	}
	if walked.IsZero() {
		return info("`anamnesis doctor reindex`, or just ask something", plural(len(refs), "note")+" on the disk, and the index was never made")
	}
	known, err := p.Index.Files(ctx, nil)
	if err != nil {
		return bad(remake, err.Error())
	}
	fresh, changed := 0, 0
	for _, r := range refs {
		f, there := known[r.Path]
		delete(known, r.Path)
		switch {
		case !there:
			fresh++
		case f.Size != r.Size || f.ModTime != r.ModTime.UnixNano():
			changed++
		}
	}
	line := fmt.Sprintf("the index was brought into step %s; since then %d new, %d changed, %d gone", ago(p.now().Sub(walked)), fresh,
		changed, len(known))
	if p.now().Sub(walked) > 24*time.Hour {
		return warn("`anamnesis doctor drain`; if it happens again, the background run does not start: "+
			"look at the checks firing and hook-errors", line)
	}
	return info("nothing to do: the next question or session brings it into step (`anamnesis doctor drain` does it now)", line)
}

func checkProblems(ctx context.Context, p *Target) Result {
	if p.Index == nil {
		return skip("there is no index")
	}
	found, err := p.Index.Problems(ctx)
	if err != nil {
		return bad(remake, err.Error())
	}
	if len(found) == 0 {
		return ok("none")
	}
	notes, sidecars := 0, 0
	for _, f := range found {
		if f.Sidecar {
			sidecars++
		} else {
			notes++
		}
	}
	var lines []string
	if notes > 0 {
		lines = append(lines, plural(notes, "file")+", whose text no search finds")
	}
	if sidecars > 0 {
		lines = append(lines, plural(sidecars, "sidecar")+", of which something is left out")
	}
	for _, f := range found[:min(len(found), maxLines)] {
		lines = append(lines, clean(f.Path, 200)+": "+f.Reason)
	}
	return warn("`anamnesis restore --damaged` brings back what was a note; mend the front matter or the sidecar of the others, or "+
		"move the files out of memory/ and local/; docs/format.md says what a note is", lines...)
}

// setAside lists the files that were moved out of the index' place.
func setAside(root string) (paths []string, size int64) {
	found, _ := filepath.Glob(filepath.Join(root, "index*.db.foreign-*"))
	for _, path := range found {
		if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() {
			paths, size = append(paths, path), size+fi.Size()
		}
	}
	return paths, size
}

func checkSetAside(_ context.Context, p *Target) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	paths, size := setAside(p.Store.Root())
	if len(paths) == 0 {
		return ok("none")
	}
	return info("delete them when the program that made them is gone; `anamnesis doctor --fix` asks first",
		append([]string{bytes(size)}, paths...)...)
}
