package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A failure is an error as a program wants it: what kind it is, and what to do.
// With --json it is what stands on standard error.
type failure struct {
	Code      string `json:"code"` // usage, not_found, conflict, locked, read_only, index_damaged, permission, invalid_note, failed
	Exit      int    `json:"exit"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Retryable bool   `json:"retryable"`
}

// codes names the exit codes.
var codes = map[int]string{exitFailure: "failed", exitUsage: "usage", exitNothing: "not_found", exitConflict: "conflict", exitDegraded: "degraded", exitLocked: "locked"}

// failureOf sorts an error.
func failureOf(err error) failure {
	var coded *codedError
	var field *note.FieldError
	f := failure{Code: "failed", Exit: exitFailure, Message: err.Error()}
	switch {
	case errors.As(err, &coded):
		f.Exit, f.Code = coded.code, codes[coded.code]
		f.Retryable = coded.code == exitLocked
	case errors.Is(err, store.ErrLocked):
		f.Exit, f.Code, f.Retryable = exitLocked, "locked", true
	case sqlite.Busy(err):
		f.Exit, f.Code, f.Retryable, f.Hint = exitLocked, "locked", true, "another process is writing the index; try again"
	case errors.Is(err, store.ErrReadOnly):
		f.Code, f.Hint = "read_only", "is the folder yours? `ls -ld` tells; ANAMNESIS_HOME names another"
	case sqlite.Damaged(err):
		f.Code, f.Hint = "index_damaged", "the index is damaged; `anamnesis reindex` makes it anew from the notes"
	case errors.Is(err, fs.ErrPermission):
		f.Code, f.Hint = "permission", "you may not read or write that; check who owns it"
	case errors.As(err, &field):
		f.Code = "invalid_note"
	}
	return f
}

// report prints an error with what to do next and returns the exit code.
func (p *program) report(err error) int {
	if err == nil {
		return 0
	}
	f := failureOf(err)
	var coded *codedError
	if errors.As(err, &coded) && coded.err == nil {
		return f.Exit // the answer says it all
	}
	if p.json {
		enc := json.NewEncoder(p.stderr)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(struct {
			Schema int     `json:"schema_version"`
			Error  failure `json:"error"`
		}{schemaVersion, f})
		return f.Exit
	}
	name := paint(p.colours(p.stderr), red, "anamnesis:")
	lines := strings.Split(f.Message, "\n") // what a user typed may stand in it
	for i, l := range lines {
		lines[i] = printable(l)
	}
	fmt.Fprintln(p.stderr, name, strings.Join(lines, "\n"))
	if f.Hint != "" {
		fmt.Fprintln(p.stderr, name, f.Hint)
	}
	return f.Exit
}
