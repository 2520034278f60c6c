package main

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// reasons says why a figure is not where it should be, by row. Whoever moves one
// over its budget looks for the cause with a profile and writes it here.
var reasons = map[string]string{
	"start": "a profile: package initialisation a third (the MCP SDK with gob, JSON schemas and OAuth 8 %; the SQLite driver with its C " +
		"library 6 %; what is ours 3 %), the settings 4 %; the rest is the runtime, threads, and pages of the binary. Packages of others " +
		"cannot be put off without another binary or another library.",
	"inject p50": "of its processor time at 10k: two processes of git, which say what is in work, a fifth. Of the rest: before main 30 % " +
		"(the runtime, package initialisation), preparing a dozen statements 12 %, opening SQLite and reading its schema 7 %, the project and " +
		"its branch 5 %, the settings 4 %, reading the notes 4 %.",
	"prompt p50": "of the processor time of a plain question at 10k: a third before main (see process start), 7 % opening SQLite, 16 % " +
		"preparing 17 statements, the rest asking. A prompt with names and pasted errors asks up to four questions, each some " +
		"3 ms: 200 candidates 12 %, reading hits with the question 14 %, the graph 12 %, rows of hits 6 %, what is logged 4 %.",
	"prompt p95": "prompts of four questions: see the median.",
	"search p50": "a profile at 10k, with the copy of the full text: 200 candidates 20 % (most of it asking the database which notes " +
		"the filter lets through), nearest vectors 17 %, rows of hits 10 %, reading hits with the question 8 %, collecting garbage 9 %.",
	"lexical p50": "see hybrid search: 200 candidates, rows of hits and reading them are the most of it.",
	"write above": "in a benchmark at 100k about half of a write is the search that finds the note again.",
	"index":       "one core reads, stems and hashes, the other writes rows and unique indexes. All writing goes through one connection.",
	"walk": "100,000 system calls of a good microsecond each, shared by two threads; then sorting the names and keeping them. git compares " +
		"with a list in memory that is sorted already.",
	"import": "a profile of sessions of 4 MB: redacting all that was said and done 35 %, reading the records 37 %, telling calls of tools " +
		"apart 6 %, counting characters 6 %; the rest is the note, its index, and collecting garbage.",
	"binary": "the table of trained vectors takes 11.2 MB.",
	"doctor": "reading all notes for secrets and letting SQLite check its pages take longest of all checks; both grow with the store.",

	"payload own UserPromptSubmit 1 KB": "see the prompt hook.",
	"payload own UserPromptSubmit 5 MB": "of a long prompt 128 KB are looked at, line by line with the patterns of logs: half of the time " +
		"of a pasted log. Then what is said of the payloads of others.",
	"payload own PreToolUse 1 KB":         "process start, opening the index, one question.",
	"payload own PreToolUse 5 MB":         tookToRead + " The rest is what a payload of 1 KB takes.",
	"payload own PostToolUse 5 MB":        tookToRead,
	"payload own PostToolUseFailure 5 MB": tookToRead,
	"payload own SessionEnd 5 MB":         tookToRead,
}

const tookToRead = "taking 5 MB from a pipe, seeing where the event ends and reading it take 7 ms above process start."

// report writes the page about performance.
func (s *stage) report() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Performance\n\n"+
		"Made by `go run -C lab ./bench -out ../docs/performance.md`; do not edit, run it again.\n\n"+
		"%d cores, %s/%s, %s, %s.\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), time.Now().UTC().Format("2006-01-02"))
	for i, l := range s.table.lines(s.sizes) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(l, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(l)) + "\n")
		}
	}
	s.missed(&b)
	b.WriteString(howToRead)
	return b.Bytes()
}

// missed lists the budgets that are missed and whose cause is known. The table has the others.
func (s *stage) missed(b *bytes.Buffer) {
	b.WriteString("\n## Missed budgets with a known cause\n\n")
	none := true
	for _, r := range rows {
		if why := reasons[r.id]; why != "" && slices.ContainsFunc(s.table.judge(r), func(v verdict) bool { return !v.met }) {
			fmt.Fprintf(b, "- **%s**: %s\n", r.what, why)
			none = false
		}
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
