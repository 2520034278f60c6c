package replica

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"anamnesis/internal/store/layout"
)

// MaxFile is the size in bytes from which on a file does not travel: the largest
// note with the largest front matter is below it.
const (
	MaxFile  = 2 << 20
	tooLarge = "it is larger than 2 MiB; make it smaller"
)

// Known reports whether a file of that name, relative to the tree and with
// slashes, is meant to travel: one that stores have (layout.InTree), whose name is
// no device on Windows.
func Known(name string) bool {
	return layout.InTree(name) != layout.Unknown && !slices.ContainsFunc(strings.Split(name, "/"), isDevice)
}

// hosted reports whether a hoster puts a file of that name into a new repository,
// or a person into an empty one so that git keeps it.
func hosted(name string) bool {
	dir, base := path.Split(name)
	switch base {
	case ".gitkeep":
		return true
	case "CODEOWNERS":
		return dir == "" || dir == ".github/" || dir == ".gitlab/" || dir == "docs/"
	case attributes, ".gitignore":
		return dir == ""
	}
	// README.md, README-de.txt, LICENSE, LICENSE-MIT, and not readmes.go.
	end := strings.IndexAny(base, ".-_")
	if end < 0 {
		end = len(base)
	}
	switch strings.ToUpper(base[:end]) {
	case "README", "LICENSE", "LICENCE":
		return dir == ""
	}
	return false
}

// isDevice reports whether Windows takes a name for a device, whatever its extension.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.ToUpper(strings.TrimRight(stem, " "))
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if number, ok := strings.CutPrefix(stem, "COM"); ok || strings.HasPrefix(stem, "LPT") {
		if !ok {
			number = stem[len("LPT"):]
		}
		return len(number) == 1 && '1' <= number[0] && number[0] <= '9'
	}
	return false
}

// writable reports whether this system can have a file of that known name.
func writable(name string) bool {
	if runtime.GOOS != "windows" {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.ContainsAny(part, `<>:"|?*`) || strings.HasSuffix(part, " ") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return true
}

// carried reports whether a name that is not known may stay in git's tree. git
// refuses the others itself when it fetches.
func carried(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		low := strings.ToLower(strings.TrimRight(part, " ."))
		if low == "" || low == ".git" || low == "git~1" {
			return false
		}
	}
	return true
}

func isUnportable(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }

// Stands reports whether a name is a plain file of the tree, not reached
// through a symbolic link. Gone means that there is nothing of that name.
func Stands(dir, name string) (regular, gone bool) {
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

// unfit says why a file is none of ours although its name is that of a note: on some
// system it would be another file, or none. It is "" for all others.
func unfit(name string) string {
	folder, _, _ := strings.Cut(name, "/")
	switch {
	case !strings.HasSuffix(name, layout.NoteSuffix) || layout.InTree(folder+"/x"+layout.NoteSuffix) != layout.Note:
		return ""
	case slices.ContainsFunc(strings.Split(name, "/"), isDevice):
		return "Windows takes that name for a device; rename it in the hub"
	case strings.ContainsFunc(name, isUnportable):
		return "a character in its name keeps it from travelling; rename it in the hub"
	case strings.Count(name, "/") >= layout.MaxDepth:
		return "it stands too deep; move it up in the hub"
	}
	return ""
}
