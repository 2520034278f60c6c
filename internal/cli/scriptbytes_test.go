package cli

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// bytes WORD DIR... looks for a word, whatever its case, in every byte below some folders (eachFile). It names the files that have
// it, and with ! fails when there is one.
func cmdBytes(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) >= 2, "bytes WORD DIR...")
	var found []string
	files := 0
	for _, dir := range args[1:] {
		n, err := eachFile(ts.MkAbs(dir), func(name string, data []byte) {
			if holdsWord(name, data, args[0]) {
				found = append(found, name)
			}
		})
		ts.Check(err)
		files += n
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

// eachFile calls see with each plain file below a folder, decompressed: notes, logs, kept sessions, the free pages and the log of the
// index. What git keeps is left out: forget says that it does not reach it. It returns how many there are. A file that goes at the
// same time is passed over.
func eachFile(dir string, see func(name string, data []byte)) (files int, err error) {
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || !e.IsDir() && !e.Type().IsRegular():
			return err
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir():
			return nil
		}
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		files++
		if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			if plain, err := io.ReadAll(z); err == nil {
				data = plain
			}
		}
		see(name, data)
		return nil
	})
	return files, err
}

// holdsWord reports whether a file has a word, whatever its case, in its name or its bytes.
func holdsWord(name string, data []byte, word string) bool {
	word = strings.ToLower(word)
	return bytes.Contains(bytes.ToLower(data), []byte(word)) || strings.Contains(strings.ToLower(filepath.Base(name)), word)
}
