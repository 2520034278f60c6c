package cli

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// previousProgram names the program before the newest, as its users have it. Step skew of CI builds it of the commit in .ci/previous.
const previousProgram = "ANAMNESIS_TEST_PREVIOUS"

// TestPrevious lets the newest program and the previous one work on the notes of one person.
func TestPrevious(t *testing.T) {
	program := os.Getenv(previousProgram)
	if program == "" {
		t.Skipf("%s names no program; `bash .ci/run skew` builds one", previousProgram)
	}
	maps.Copy(scriptCommands, unixCommands)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "previous"),
		WorkdirRoot:         workRoot(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PREVIOUS", program)
			return setupScript(env)
		},
		Condition: scriptCondition,
		Cmds:      scriptCommands,
	})
}
