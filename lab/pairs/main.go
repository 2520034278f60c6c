// Program pairs makes the pairs of texts that the bi-encoder is trained on.
//
//	go run -C lab ./pairs -out pairs.jsonl.gz -leak DIR
//
// It fetches the sources of sources.go, each at a pinned version and compared with
// its checksum, and takes pairs out of them: a short text that somebody could ask
// with, and the passage that answers it. What kinds there are is shown in kinds.go.
// A pair that shares eight words in a row with a file below DIR is left out, so
// that nothing a development set holds is learned. The same sources make the same
// bytes.
//
// Failure policy: a source that cannot be had, or is not what it was, ends the run.
// A file that cannot be parsed gives no pairs.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "", "the file of pairs to write, gzip")
	cache := flag.String("cache", filepath.Join(os.TempDir(), "anamnesis-pairs"), "folder for the sources")
	leak := flag.String("leak", "", "folder of evaluation data that no pair may repeat")
	manifest := flag.Bool("manifest", false, "print SOURCES.md and stop")
	only := flag.String("only", "", "the name of the one source to read")
	flag.Parse()
	var err error
	switch {
	case *manifest:
		err = list(os.Stdout)
	case *out == "":
		err = fmt.Errorf("-out is missing: name the file to write")
	default:
		err = collect(context.Background(), *cache, *leak, *out, *only, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

// collect writes the pairs of all sources and says how many there are of what.
func collect(ctx context.Context, cache, leak, out, only string, log io.Writer) (err error) {
	start := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(log, "%7.1fs  %s\n", time.Since(start).Seconds(), fmt.Sprintf(format, args...))
	}
	forbidden := make(shingles)
	if leak != "" {
		files, err := forbidden.folder(leak)
		if err != nil {
			return err
		}
		say("%d files of %s: %d runs of %d words", files, leak, len(forbidden), shingle)
	}
	f, err := os.Create(out + ".new")
	if err != nil {
		return err
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	w := bufio.NewWriterSize(z, 1<<20)
	sift := newSieve(forbidden)
	for i := range sources {
		s := &sources[i]
		if only != "" && s.name != only {
			continue
		}
		o := s.origin()
		files, err := o.Fetch(ctx, cache)
		if err != nil {
			return err
		}
		kept, err := write(w, sift.choose(s, extract(files)))
		if err != nil {
			return err
		}
		say("%-40s %6d files %7d pairs", s.name, len(files), kept)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	sift.report(log)
	return os.Rename(out+".new", out)
}

func write(w io.Writer, pairs []pair) (int, error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, p := range pairs {
		if err := enc.Encode(p); err != nil {
			return 0, err
		}
	}
	return len(pairs), nil
}

// report prints what was kept and what was not, as a table.
func (s *sieve) report(w io.Writer) {
	fmt.Fprintf(w, "\n| kind | pairs | of them held out |\n|---|---|---|\n")
	all, held := 0, 0
	for _, k := range slices.Sorted(maps.Keys(s.kinds)) {
		fmt.Fprintf(w, "| %s | %d | %d |\n", k, s.kinds[k], s.held[k])
		all, held = all+s.kinds[k], held+s.held[k]
	}
	fmt.Fprintf(w, "| all | %d | %d |\n\n", all, held)
	for _, why := range slices.Sorted(maps.Keys(s.dropped)) {
		fmt.Fprintf(w, "left out, %s: %d\n", why, s.dropped[why])
	}
}

// list prints SOURCES.md.
func list(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# What the bi-encoder is trained on\n\n" +
		"Written by `go run -C lab ./pairs -manifest` from `sources.go`; a test compares the two. Nothing here is copied into\n" +
		"the program: the table holds numbers that were learned from these texts. A Debian package is read for the files\n" +
		"named in `sources.go` only; where it has several licences, the one of these files is named. `deb` and `npm` sums are\n" +
		"SHA-256, `module` sums are those of `go.sum`. Held-out sources train nothing: they judge what was trained.\n\n" +
		"| source | kind | version | licence | used for | checksum |\n|---|---|---|---|---|---|\n")
	for _, s := range sources {
		use := "training"
		if s.held {
			use = "**held out**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", s.name, s.kind, s.version, s.licence, use, s.sum)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
