package main

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// reasons says why a figure is not where it should be, by row. Whoever moves one
// over its budget looks for the cause with a profile and writes it here.
var reasons = map[string]string{
	"search p50": "more than half is FTS5: each word is looked up in every segment of the index, and " +
		"a posting costs 80 ns to decode through fts5vocab. The rest is reading 200 passages to score. Postings of our own would end both.",
	"search p99": "half of it is counting frequencies: FTS5 keeps none, so a word that stands in thousands of notes is counted posting by posting.",
	"write above": "the search that finds the note again is half of it, then the transaction of the index (FTS5 writes a segment), then looking " +
		"for near-equal statements, which reads whole rows.",
	"index": "some 240 µs of processor time a note at 100k: a third to a half reads, stems and hashes, on the other core; a quarter is FTS5 " +
		"(tokens, segments, merging them); the rest is rows and their unique indexes. All writing goes through one connection.",
	"walk": "100,000 system calls of a good microsecond each, shared by two threads; then sorting the names and keeping them. git compares " +
		"with a list in memory that is sorted already.",
	"memory search": "not taken apart yet: a search of all projects (`--global`) took 37 MB by hand, one of a single project takes this.",
	"start": "the packages that a start initialises (a millisecond in all: the HTTP client, the SQLite driver, the protocol of MCP) and a binary " +
		"of 21 MB that is mapped.",
	"inject p50":  "the process start is half of it; then the index is opened, a dozen statements are prepared, and the notes are read.",
	"lexical p50": "as with the hybrid search: FTS5 is two thirds of it.",
	"lexical p99": "as with the hybrid search.",
	"bytes":       "vectors are 130 bytes a passage, rows and their unique indexes a quarter, the rest is FTS5.",
	"doctor":      "it reads all notes for secrets and lets SQLite check its pages, one on each core; both grow with the store.",
	"import":      "parsing the JSON lines of the transcripts.",
}

// report writes the page about performance.
func (s *stage) report() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Performance\n\n"+
		"Made by `go run ./bench -out docs/performance.md`; do not edit, run it again.\n\n"+
		"%d cores, %s/%s, %s, %s.\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), time.Now().UTC().Format("2006-01-02"))
	for i, l := range s.table.lines(s.sizes) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(l, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(l)) + "\n")
		}
	}
	s.shortfalls(&b, "Missed budgets", func(v verdict) (float64, bool) { return v.limit.budget, v.met })
	s.shortfalls(&b, "Aims that are not reached", func(v verdict) (float64, bool) { return v.limit.aim, v.aim })
	b.WriteString(howToRead)
	return b.Bytes()
}

// shortfalls lists what is worse than a limit, and why.
func (s *stage) shortfalls(b *bytes.Buffer, title string, against func(verdict) (limit float64, met bool)) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	none := true
	for _, r := range rows {
		var places []string
		for _, v := range s.table.judge(r) {
			if limit, met := against(v); !met {
				places = append(places, fmt.Sprintf("%.4g at %s (wanted %.4g)", v.got, sizeName(v.size), limit))
			}
		}
		if len(places) == 0 {
			continue
		}
		none = false
		why := reasons[r.id]
		if why == "" {
			why = "the cause has not been looked for yet."
		}
		fmt.Fprintf(b, "- **%s**: %s. Why: %s\n", r.what, strings.Join(places, ", "), why)
	}
	if none {
		b.WriteString("None in this run.\n")
	}
}

const howToRead = `
## How to read this

- Budgets and aims are those of the design. A figure over its budget is a defect; the aim is where we want to be.
- The machine is shared and noisy, so an absolute figure moves by a fifth from run to run. Trust ratios: what stands in one
  row was measured in the same run, in turns, one of each at a time.
- A store is made by a seeded generator: notes of about 615 bytes of text (files of about 1 KB), 20 projects, three types,
  a Zipf-like vocabulary of 30,000 words and their endings. The smaller stores are the beginnings of the larger ones.
- **hello-world** is a Go program that prints one line: what a process costs at least. **naive** is one FTS5 table with the
  same SQLite driver, every word of the question joined by OR, ranked by ` + "`bm25()`" + `, the eight best files read: what one would
  write in an afternoon. **Two fsyncs** are a new file of the same size and its folder: what a durable write costs at least.
- *Cold* is a new process with the files in the page cache, started from this one with a pipe on each stream, as an agent
  starts a hook. *In process* is 200 questions of 3 to 10 words, drawn from notes of the store, each asked three times.
- A figure in the last column of sizes may be one that no store changes: process start, redaction, the binary.
- The index is measured after its log has been folded into the file.
`
