package lesson

import (
	"testing"

	"anamnesis/internal/agent"
)

// The command is found under its name in any case and escaped, as encoding/json finds it.
func TestCommandOf(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"make"}`:                  "make",
		`{"COMMAND":" make "}`:                "make",
		`{"\u0063ommand":"make"}`:             "make",
		`{"Comm\u0061nd":["make","test"]}`:    "make test",
		`{"x":{"command":"make"}}`:            "",
		`{"commands":"make"}`:                 "",
		`{"old_string":"command"}`:            "",
		`{"command":"cd /src && make"}`:       "make",
		`{"file_path":"/a","new_string":"c"}`: "",
		`{"command`:                           "",
		``:                                    "",
	} {
		if got := commandOf(agent.ToolUse{Input: []byte(input)}); got != want {
			t.Errorf("commandOf(%s) = %q, want %q", input, got, want)
		}
	}
}
