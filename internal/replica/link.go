package replica

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A LinkKind is what can go wrong between here and the remote.
type LinkKind int

// The kinds.
const (
	LinkDown    LinkKind = iota // not reached, or not let in
	LinkMoved                   // somebody else pushed first
	LinkDamaged                 // what it sends is refused here
	LinkRefused                 // what we send is refused there
)

// A LinkError is a fetch or a push that failed.
type LinkError struct {
	Kind LinkKind
	Err  error
}

func (e *LinkError) Error() string { return e.Err.Error() }

func (e *LinkError) Unwrap() error { return e.Err }

// What git says, in the C locale, when the remote was reached. All the rest is
// an unreachable remote: there are too many ways not to get through, and to be
// wrong about one costs a retry.
var (
	saysMoved = []string{
		"fetch first", "non-fast-forward", "stale info", "failed to update ref", "cannot lock ref", "reference already exists",
		"incorrect old value provided", "failed to lock",
	}
	saysDamaged = []string{
		"fsck error", "fsck_error", "did not send all necessary objects", "bad object", "missing blob", "missing tree", "missing commit",
		"missing necessary objects", "corrupt", "unable to read tree", "not a valid object", "inflate:", "pack has bad object",
		"invalid index-pack output", "bad tree object", "mismatched algorithms", "hasDot", "unable to parse", "object format",
		"not our ref 0000000",
	}
	saysRefused = []string{
		"[remote rejected]", "pre-receive hook declined", "remote unpack failed", "unpacker error", "protected branch", "denied to",
		"write access to repository not granted", "not permitted", "service not enabled",
	}
)

// linked says what kind of failure a failed fetch or push is.
func linked(verb, remote string, err error) error {
	var failed *gitError
	if err == nil || !errors.As(err, &failed) {
		return err
	}
	text := failed.stderr + failed.stdout
	contains := func(list []string) bool {
		for _, s := range list {
			if strings.Contains(strings.ToLower(text), strings.ToLower(s)) {
				return true
			}
		}
		return false
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &LinkError{LinkDown, err}
	case verb == "push" && contains(saysMoved):
		return &LinkError{LinkMoved, err}
	case verb == "push" && contains(saysDamaged) && !contains([]string{"hook declined", "fsck"}):
		return &LinkError{LinkDamaged, fmt.Errorf("push to %s: %w: %s; nothing here is lost; "+
			"run git fsck there, or set the remote to a new empty repository: the notes are all here", remote, ErrDamaged, reason(text))}
	case verb == "fetch" && contains([]string{theirRef + ".lock", "cannot lock ref"}):
		return fmt.Errorf("%w: another fetch is at work in the repository of the notes, or was killed: %s", ErrBlocked, reason(text))
	case verb == "push" && contains(saysRefused):
		return &LinkError{LinkRefused, fmt.Errorf("push to %s: %w: %s; nothing here is lost; a remote must be a bare repository that you "+
			"may write to",
			remote, ErrRefused, reason(text))}
	case contains(saysDamaged):
		return damaged(verb+" from "+remote, reason(text))
	}
	return &LinkError{LinkDown, &gitError{verb: verb, stderr: reason(text), err: failed.err}}
}

// reason finds the line that says most in what git printed.
func reason(text string) string {
	best, rank := "", 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		value := 1
		switch {
		case line == "" || strings.HasPrefix(line, "hint:") || strings.HasPrefix(line, "To ") || line == "Done":
			continue
		case strings.Contains(line, "rejected]"):
			value = 5
		case strings.Contains(line, "Could not read from remote"), strings.Contains(line, "correct access rights"),
			strings.Contains(line, "failed to push some refs"):
			value = 1
		case strings.HasPrefix(line, "ssh:"), strings.HasPrefix(line, "error:"), strings.HasPrefix(line, "remote: "):
			value = 3
		case strings.HasPrefix(line, "fatal:"):
			value = 2
		}
		if value > rank {
			best, rank = line, value
		}
	}
	return strings.Join(strings.Fields(best), " ")
}
