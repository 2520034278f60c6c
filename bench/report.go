package main

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// reasons says why a budget is missed, by row. Whoever moves a figure over its
// budget looks for the cause with a profile and writes it here.
var reasons = map[string]string{}

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
	b.WriteString("\n## Missed budgets\n\n")
	missed := 0
	for _, r := range rows {
		for _, v := range s.table.judge(r) {
			if v.met {
				continue
			}
			missed++
			why := reasons[r.id]
			if why == "" {
				why = "the cause has not been looked for yet."
			}
			fmt.Fprintf(&b, "- **%s** at %s: %.4g, budget %.4g: %s\n", r.what, sizeName(v.size), v.got, v.most, why)
		}
	}
	if missed == 0 {
		b.WriteString("None in this run.\n")
	}
	b.WriteString(howToRead)
	return b.Bytes()
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
