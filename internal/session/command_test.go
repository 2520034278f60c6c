package session_test

import (
	"encoding/json"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/session"
)

// The command line is found under the names that agents give it.
func TestCommandOf(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"go test ./..."}`:                     "go test ./...",
		`{"cmd":"go test ./..."}`:                         "go test ./...",
		`{"command":["go","vet"]}`:                        "go vet",
		`{"command":["bash","-lc","cd x && make check"]}`: "make check",
		`{"command":""}`:                                  "", `{"cmd":7}`: "", `{"file_path":"command"}`: "", `["cmd"]`: "", `{`: "",
	} {
		if got := session.CommandOf(agent.ToolUse{Input: json.RawMessage(input)}); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// What changes something without a word is no reading, though no check either.
func TestReads(t *testing.T) {
	for command, want := range map[string][2]bool{
		"ls -l": {true, true}, "git status": {true, true}, "": {true, true}, "touch rounded": {false, true}, "git stash pop": {false, true},
		"make check": {false, false}, "git commit -m x": {false, false},
	} {
		if reads, looks := session.Reads(command), session.Looks(command); reads != want[0] || looks != want[1] {
			t.Errorf("%q: reads %v, looks %v", command, reads, looks)
		}
	}
}
