package app

import (
	"errors"
	"fmt"
	"io/fs"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Kind says what sort of failure an error is.
type Kind string

// The kinds. Faces map them to exit codes and status codes.
const (
	Failed   Kind = "failed"
	Usage    Kind = "usage"     // what was asked for makes no sense
	NotFound Kind = "not_found" // nothing of that name, or no answer
	Conflict Kind = "conflict"  // something waits for the user
	Degraded Kind = "degraded"  // something is wrong with the installation
	Locked   Kind = "locked"    // another process is at work

	readOnly     Kind = "read_only"
	indexDamaged Kind = "index_damaged"
	permission   Kind = "permission"
	invalidNote  Kind = "invalid_note"
)

// An Error is a failure of a kind. Without Err the answer that comes with it
// says all there is to say; with Answered it comes with an answer, too. Such an
// answer is rendered.
type Error struct {
	Kind     Kind
	Err      error
	Answered bool
}

func (e *Error) Error() string {
	if e.Err == nil {
		return string(e.Kind)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an error of a kind.
func Errorf(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// Answered makes an error of kind Failed that comes with an answer.
func Answered(format string, args ...any) error {
	return &Error{Failed, fmt.Errorf(format, args...), true}
}

// Answers reports whether an answer comes with err that is to be rendered.
func Answers(err error) bool {
	var kinded *Error
	return err == nil || errors.As(err, &kinded) && (kinded.Answered || kinded.Err == nil)
}

// Usagef makes an error of wrong usage.
func Usagef(format string, args ...any) error { return Errorf(Usage, format, args...) }

// A Failure is an error as a program wants it: what kind it is, and what to do.
type Failure struct {
	Code      Kind   `json:"code"`
	Exit      int    `json:"exit"` // of a command
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
	Retryable bool   `json:"retryable"`
}

// exits are the exit codes of a command for each kind; 1 for the others.
var exits = map[Kind]int{Usage: 2, NotFound: 3, Conflict: 4, Degraded: 5, Locked: 75}

// Explain sorts an error.
func Explain(err error) Failure {
	var kinded *Error
	var field *note.FieldError
	f := Failure{Code: Failed, Message: err.Error()}
	switch {
	case errors.As(err, &kinded):
		f.Code = kinded.Kind
	case errors.Is(err, store.ErrLocked):
		f.Code = Locked
	case errors.Is(err, index.ErrBusy):
		f.Code, f.Hint = Locked, "another process is writing the index; try again"
	case errors.Is(err, store.ErrOutdated): // it says what to do
		f.Code = readOnly
	case errors.Is(err, store.ErrReadOnly):
		f.Code, f.Hint = readOnly, "is the folder yours? `ls -ld` tells; ANAMNESIS_HOME names another"
	case errors.Is(err, index.ErrLost):
		f.Code, f.Hint = indexDamaged, "the index is damaged; `anamnesis doctor reindex` rebuilds it from the notes"
	case errors.Is(err, fs.ErrPermission):
		f.Code, f.Hint = permission, "you may not read or write that; check who owns it"
	case errors.As(err, &field):
		f.Code = invalidNote
	}
	f.Retryable = f.Code == Locked
	if f.Exit = exits[f.Code]; f.Exit == 0 {
		f.Exit = 1
	}
	return f
}
