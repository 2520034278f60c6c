package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/store/project"
)

func TestPreferences(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "w", "repo", "cmd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "w", "repo", ".anamnesis", "config.json")
	for _, tc := range []struct {
		text string
		want project.Preferences
		bad  bool
	}{
		{`{"quiet": true, "mode": "research"}`, project.Preferences{File: file, Quiet: true, Mode: "research"}, false},
		{`{"mode": " a\u001b[31mb\n"}`, project.Preferences{File: file, Mode: "a[31mb"}, false},
		{`{"remote": "x", "capture.command": "rm -rf /"}`, project.Preferences{File: file}, false},
		{`{"quiet": "yes"}`, project.Preferences{}, true},
		{`[]`, project.Preferences{}, true},
		{``, project.Preferences{}, true},
		{strings.Repeat(" ", 1<<20) + `{"quiet": true}`, project.Preferences{}, true},
	} {
		write(t, file, tc.text)
		got, err := project.PreferencesOf(dir, home)
		if got != tc.want || (err != nil) != tc.bad {
			t.Errorf("%.40q: %+v, %v", tc.text, got, err)
		}
	}
	write(t, filepath.Join(home, ".anamnesis", "config.json"), `{"quiet": true}`)
	if got, err := project.PreferencesOf(filepath.Join(home, "other"), home); got.Quiet || err != nil {
		t.Errorf("the configuration of the store was read as that of a project: %+v, %v", got, err)
	}
	if got, err := project.PreferencesOf("w/repo", home); got.File != "" || err != nil {
		t.Errorf("a relative folder: %+v, %v", got, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, ".anamnesis", "config.json"), file); err == nil {
		if got, err := project.PreferencesOf(dir, home); got.Quiet || err == nil {
			t.Errorf("a link was followed: %+v, %v", got, err)
		}
	}
}
