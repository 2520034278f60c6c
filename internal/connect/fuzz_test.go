package connect_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"anamnesis/internal/connect"
)

func FuzzInstall(f *testing.F) {
	for _, data := range fixtures(f, filepath.Join("testdata", "claude", "settings")) {
		f.Add(data)
	}
	for _, s := range shapes {
		f.Add([]byte(s))
	}
	for _, s := range commented {
		f.Add([]byte(s))
	}
	f.Add([]byte(freshSettings))
	f.Fuzz(func(t *testing.T, old []byte) {
		hooks := connect.ClaudeSettings{}.PlainHooks(base)
		with, err := connect.ClaudeSettings{}.Install(old, hooks, connect.Own)
		if err != nil {
			return
		}
		if json.Valid(old) && !json.Valid(with) {
			t.Fatalf("no longer JSON:\n%s", with)
		}
		again, err := connect.ClaudeSettings{}.Install(with, hooks, connect.Own)
		if err != nil || !bytes.Equal(with, again) {
			t.Errorf("twice: %v\n%s\n%s", err, with, again)
		}
		back, err := connect.ClaudeSettings{}.Uninstall(with, connect.Own)
		if err != nil {
			t.Fatal(err)
		}
		clean, err := connect.ClaudeSettings{}.Uninstall(old, connect.Own)
		if len(bytes.TrimSpace(old)) > 0 && bytes.Equal(clean, old) && !bytes.Equal(back, old) {
			t.Errorf("%v\nbefore %q\nafter  %q\n%s", err, old, back, with)
		}
	})
}

func BenchmarkInstall(b *testing.B) {
	for b.Loop() {
		if _, err := (connect.ClaudeSettings{}).Install([]byte(freshSettings), connect.ClaudeSettings{}.PlainHooks(base), connect.Own); err != nil {
			b.Fatal(err)
		}
	}
}
