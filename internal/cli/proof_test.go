package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestProofs runs the proof of every feature: prose first, the feature on, off
// where it has a switch, and a control.
func TestProofs(t *testing.T) {
	testscript.Run(t, proofParams(t))
}

func proofParams(t *testing.T) testscript.Params {
	return testscript.Params{
		Files:               scriptsOf(t, filepath.Join("testdata", "proof"), quickProofs),
		WorkdirRoot:         workRoot(t),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("ANAMNESIS_SYNC", "off")
			err := setupScript(env)
			if dir := os.Getenv("ANAMNESIS_MUTANT"); dir != "" { // the program with faults, see TestMutants
				env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
				env.Setenv("ANAMNESIS_FAULT", os.Getenv("ANAMNESIS_FAULT"))
			}
			return err
		},
		Condition: scriptCondition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"showhistory": showHistory,
			"showof":      showOf,
			"notefile":    noteFile,
			"model":       cmdModel,
			"localmodel":  cmdLocalModel,
			"waitidle":    cmdWaitIdle,
			"postgres":    cmdPostgres(t),
		},
	}
}

// showHistory prints the newest former state of the note whose id a file holds.
func showHistory(ts *testscript.TestScript, _ bool, args []string) {
	id := strings.TrimSpace(ts.ReadFile(args[0]))
	revs, err := filepath.Glob(filepath.Join(ts.Getenv("HOME"), ".anamnesis", "history", id, "*.md"))
	ts.Check(err)
	if len(revs) == 0 {
		ts.Fatalf("note %s has no history", id)
	}
	ts.Check(ts.Exec("cat", revs[len(revs)-1]))
}

// onlyNote finds the one note of a project.
func onlyNote(ts *testscript.TestScript, project string) (id, path string) {
	ts.Check(ts.Exec("anamnesis", "list", "--json", "--project", project))
	var list struct {
		Notes []struct{ ID, Path string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	if len(list.Notes) != 1 {
		ts.Fatalf("project %s has %d notes", project, len(list.Notes))
	}
	return list.Notes[0].ID, list.Notes[0].Path
}

// showOf shows the one note of a project as JSON.
func showOf(ts *testscript.TestScript, _ bool, args []string) {
	id, _ := onlyNote(ts, args[0])
	ts.Check(ts.Exec("anamnesis", "show", "--json", id))
}

// noteFile copies the file of the one note of a project.
func noteFile(ts *testscript.TestScript, _ bool, args []string) {
	_, path := onlyNote(ts, args[0])
	data, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}
