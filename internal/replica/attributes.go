package replica

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const attributes = ".gitattributes"

// ourAttributes is what the file of that name holds, the same on every machine. git
// leaves line ends alone, and asks for our merge driver where somebody merges
// by hand; a git that knows no such driver merges as it always does.
const ourAttributes = "* -text\n*.md merge=anamnesis\n*.yaml merge=anamnesis\ntombstones/*.json merge=anamnesis\n"

// formerly lists what earlier versions wrote; such a file is brought up to date.
var formerly = []string{"* -text\n"}

// above stands in .git/info/attributes and is above every file that travels:
// nobody's remote makes git rewrite the bytes of a note.
const above = "* -text -ident -filter !eol !working-tree-encoding\n"

// writeAttributes makes the file that travels, unless the user has one.
func writeAttributes(dir string) error {
	return writeOnce(filepath.Join(dir, attributes), ourAttributes, formerly)
}

// shield makes the file that is above it, unless the user has one.
func shield(dir string) error {
	info := filepath.Join(dir, ".git", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	return writeOnce(filepath.Join(info, "attributes"), above, nil)
}

// writeOnce makes a file, or replaces one that holds one of the old texts.
func writeOnce(at, text string, old []string) error {
	info, err := os.Lstat(at)
	switch {
	case err == nil && (!info.Mode().IsRegular() || info.Size() > 1<<10):
		return nil
	case err == nil:
		data, err := os.ReadFile(at)
		if err != nil || !slices.Contains(old, string(data)) {
			return err
		}
		return replaceFile(at, []byte(text))
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if os.IsExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// mergeAttributes keeps our lines first and every other line of both sides.
func mergeAttributes(a, b []byte) []byte {
	switch {
	case a == nil:
		return b
	case b == nil, bytes.Equal(a, b):
		return a
	}
	var more []string
	for _, data := range [][]byte{a, b} {
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimRight(line, "\r\n") + "\n"; line != "\n" && !strings.Contains(ourAttributes, line) {
				more = append(more, line)
			}
		}
	}
	slices.Sort(more)
	return []byte(ourAttributes + strings.Join(slices.Compact(more), ""))
}
