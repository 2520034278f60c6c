package session

import (
	"path"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/index/flat"
)

// group is the number of a project in the rows.
func group(project string) uint32 { return index.TokenHash("project\x00" + project) }

// chunk is about how many bytes of an exchange one row holds, and maxChunks how many rows it has.
const (
	chunk     = 1200
	maxChunks = 120
)

// chunks cuts the text of an exchange at line ends.
func chunks(s string) (all []string) {
	from, at := 0, 0
	for line := range strings.Lines(s) {
		if at+len(line)-from > chunk && at > from {
			all = append(all, s[from:at])
			from = at
		}
		at += len(line)
	}
	if from < len(s) || len(all) == 0 {
		all = append(all, s[from:])
	}
	return all[:min(len(all), maxChunks)]
}

// analyse returns the rows of an exchange: its ask, what stands around it and its names, the text.
func analyse(e *Exchange, h *Head, before string) (rows [][flat.Fields][]uint32) {
	hashes := func(words []string) []uint32 {
		out := make([]uint32, len(words))
		for i, w := range words {
			out[i] = index.TokenHash(w)
		}
		return out
	}
	ask := hashes(index.Words(e.Ask))
	around := hashes(index.Words(h.Title + "\n" + cutText(before, 300)))
	for n, part := range chunks(e.Text()) {
		fields := [flat.Fields][]uint32{ask, around, hashes(index.Words(part))}
		if n == 0 {
			fields[1] = append(slices.Clone(around), names(e)...)
		}
		rows = append(rows, fields)
	}
	return rows
}

// names are the tokens by which an exchange is looked up: its errors, its files, its commands.
func names(e *Exchange) (all []uint32) {
	seen := make(map[uint32]bool)
	add := func(kind, name string) {
		if h := nameHash(kind, name); name != "" && !seen[h] {
			seen[h] = true
			all = append(all, h)
		}
	}
	for _, line := range e.errors() {
		add("error", line)
	}
	for i := range e.Steps {
		if f := e.Steps[i].File; f != "" {
			add("file", path.Base(strings.ReplaceAll(f, `\`, "/")))
		}
		if e.Steps[i].Run != "" {
			add("ran", "any")
		}
	}
	return all
}

func nameHash(kind, name string) uint32 { return index.TokenHash(kind + "\x00" + name) }
