package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// bytes WORD DIR... looks for a word, whatever its case, in every byte below some folders, decompressed: notes, logs, kept sessions,
// the free pages and the log of the index. It names the files that have it, and with ! fails when there is one. What git keeps is
// left out: forget says that it does not reach it.
func cmdBytes(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) >= 2, "bytes WORD DIR...")
	word := bytes.ToLower([]byte(args[0]))
	var found []string
	files := 0
	for _, dir := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil || !e.IsDir() && !e.Type().IsRegular():
				return err
			case e.IsDir() && e.Name() == ".git":
				return fs.SkipDir
			case e.IsDir():
				return nil
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			files++
			if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
				if plain, err := io.ReadAll(z); err == nil {
					data = plain
				}
			}
			if bytes.Contains(bytes.ToLower(data), word) || strings.Contains(strings.ToLower(filepath.Base(name)), string(word)) {
				found = append(found, name)
			}
			return nil
		}))
	}
	ts.Logf("%d files, %d of them have it:\n%s", files, len(found), strings.Join(found, "\n"))
	switch {
	case files == 0:
		ts.Fatalf("there is no file")
	case neg && len(found) > 0:
		ts.Fatalf("%q is still in %d files", args[0], len(found))
	case !neg && len(found) == 0:
		ts.Fatalf("%q is in no file", args[0])
	}
}
