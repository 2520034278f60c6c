package origin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// packed is a package of npm with two files.
func packed(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range []struct{ name, data string }{{"package/b.md", "# B"}, {"package/a.md", "# A"}, {"package/x.js", "x()"}} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(f.data)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []interface{ Close() error }{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestFetchReadsTheCache(t *testing.T) {
	cache, data := t.TempDir(), packed(t)
	if err := os.MkdirAll(filepath.Join(cache, "npm"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cache, "npm", "types-node-1.0.0.tgz"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	s := Source{Name: "@types/node", Kind: "npm", Version: "1.0.0", Sum: hex.EncodeToString(sum[:]), Files: []string{`\.md$`}}
	files, err := s.Fetch(t.Context(), cache)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 2 || files[0].Path != "package/a.md" || string(files[1].Data) != "# B" {
		t.Errorf("got %+v", files)
	}
	for _, tt := range []struct {
		name, want string
		change     func(s *Source)
	}{
		{"another sum", "has checksum", func(s *Source) { s.Sum = strings.Repeat("0", 64) }},
		{"nothing matches", "no file matches", func(s *Source) { s.Files = []string{`\.go$`} }},
		{"another registry", "no way to fetch", func(s *Source) { s.Kind = "gem" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := Source{Name: s.Name, Kind: s.Kind, Version: s.Version, Sum: s.Sum, Files: s.Files}
			tt.change(&other)
			if _, err := other.Fetch(t.Context(), cache); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
