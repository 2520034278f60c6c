package replica

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const attributes = ".gitattributes"

// Known reports whether a file of that name, relative to the tree and with
// slashes, is meant to travel: notes and their sidecars, tombstones, slots and
// project aliases. Nothing that is hidden is, and no temporary file.
func Known(name string) bool {
	if name == attributes || name == "projects.yaml" {
		return true
	}
	if !utf8.ValidString(name) || path.Clean(name) != name || strings.ContainsFunc(name, isUnportable) {
		return false
	}
	parts := strings.Split(name, "/")
	for _, part := range parts {
		if part == "" || part[0] == '.' {
			return false
		}
	}
	if len(parts) < 2 {
		return false
	}
	switch parts[0] {
	case "procedural", "semantic", "episodic":
		return strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".entities.yaml")
	case "tombstones":
		return len(parts) == 2 && strings.HasSuffix(name, ".json")
	case "slots":
		return true
	}
	return false
}

func isUnportable(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }

// isRegular reports whether a name is a plain file of the tree, not reached
// through a symbolic link. Gone means that there is nothing of that name.
func isRegular(dir, name string) (regular, gone bool) {
	at := dir
	parts := strings.Split(name, "/")
	for i, part := range parts {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		switch {
		case err != nil:
			return false, os.IsNotExist(err)
		case i == len(parts)-1:
			return info.Mode().IsRegular(), false
		case !info.IsDir():
			// A file or link where a folder was: what was below it is gone, if it
			// is not the link that hides it.
			return false, info.Mode().IsRegular()
		}
	}
	return false, false
}

// hasMarkers reports whether a file holds the marks of a conflict that nobody
// resolved: the three kinds of lines, in their order.
func hasMarkers(data []byte) bool {
	marks := [][]byte{[]byte("<<<<<<< "), []byte("======="), []byte(">>>>>>> ")}
	next := 0
	for line := range bytes.Lines(data) {
		if !bytes.HasPrefix(line, marks[next]) || next == 1 && len(bytes.TrimRight(line, "\r\n")) != 7 {
			continue
		}
		if next++; next == len(marks) {
			return true
		}
	}
	return false
}

// writeAttributes makes the file that tells git to leave line ends alone,
// unless there is something of that name.
func writeAttributes(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, attributes), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if os.IsExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("* -text\n")
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
