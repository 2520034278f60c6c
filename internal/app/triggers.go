package app

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/project"
)

// ProposedTriggers returns the triggers that a note has by its form, as text; none where its `when` has
// some. Programs count that exist on this machine or in the current project.
func ProposedTriggers(n *note.Note) (all []string) {
	triggers, form := recall.Triggers(n, programs)
	if !form {
		return nil
	}
	for _, t := range triggers {
		all = append(all, t.String())
	}
	return all
}

// programs is a recall.Runs of this machine and of the project of the current folder.
func programs(name string) []string {
	if _, err := exec.LookPath(name); err == nil {
		return []string{name}
	}
	return projectTargets()[name]
}

// maxScripts is how much is read of a file that lists targets, in bytes.
const maxScripts = 256 << 10

// projectTargets returns how the scripts of package.json and the targets of the Makefile of the
// current project are run, by their names. It reads them once.
var projectTargets = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	dir, err := os.Getwd()
	if err != nil {
		return all
	}
	if top := project.Top(dir); top != "" {
		dir = top
	}
	var pkg struct{ Scripts map[string]any }
	if json.Unmarshal(headOf(filepath.Join(dir, "package.json")), &pkg) == nil {
		for name := range pkg.Scripts {
			all[name] = append(all[name], "* run "+name)
		}
	}
	for line := range strings.Lines(string(headOf(filepath.Join(dir, "Makefile")))) {
		targets, after, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(after, "=") || strings.ContainsAny(targets, "\t#=$%") {
			continue
		}
		for _, name := range strings.Fields(targets) {
			all[name] = append(all[name], "make "+name)
		}
	}
	return all
})

// headOf reads the begin of a regular file, nothing where there is none.
func headOf(file string) []byte {
	if fi, err := os.Stat(file); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, maxScripts)) // half a file names half of the targets
	return data
}
