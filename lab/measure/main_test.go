package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"measure": main}) }

// TestScripts measures small sets.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("USERPROFILE", e.WorkDir)
			e.Setenv("ANAMNESIS_HOME", filepath.Join(e.WorkDir, "store"))
			return nil
		},
	})
}
