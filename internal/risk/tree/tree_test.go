package tree_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"anamnesis/internal/risk/tree"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"src/api/client.ts":        "const base = 'https://API.acme.dev/v2/items'",
		"package.json":             `{"dependencies": {"zod": "^3"}}`,
		"node_modules/x/README.md": "https://zz.example",
		"logo.png":                 "\x00 https://binary.example",
		"docs/notzz.example2.md":   "xzz.example-y",
	})
	names := []string{"api.acme.dev/v2", "zod", "zz.example", "binary.example", "client.ts", "acme.dev"}
	got := tree.Named(t.Context(), dir, names, time.Minute)
	for name, want := range map[string]bool{
		"api.acme.dev/v2": true, "zod": true, "client.ts": true, "zz.example": false, "binary.example": false, "acme.dev": false,
	} {
		if got[name] != want {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
	}
	if got := tree.Named(t.Context(), dir, names, -1); len(got) != 0 {
		t.Errorf("without time %v is known", got)
	}
	if got := tree.Named(t.Context(), filepath.Join(dir, "gone"), names, time.Minute); len(got) != 0 {
		t.Errorf("of a folder that is gone %v is known", got)
	}
}

func TestRuns(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"Makefile": "gen:\n\tbuf generate\n", "go.mod": "module shop\n", "pnpm-lock.yaml": "", ".golangci.yml": "",
		"scripts/seed.sh": "psql -f seed.sql\n",
		"README.md":       "run zzsync\n",
	})
	for program, want := range map[string]bool{
		"make": true, "buf": true, "go": true, "pnpm": true, "psql": true, "zzsync": false, "cargo": false, "golangci": true, "p": false,
	} {
		if got := tree.Runs(dir, program); got != want {
			t.Errorf("%s: %v, want %v", program, got, want)
		}
	}
}
