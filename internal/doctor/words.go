package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// ago writes how long something is past.
func ago(d time.Duration) string {
	switch {
	case d < 0:
		return "in " + span(-d)
	case d < time.Minute:
		return "just now"
	}
	return span(d) + " ago"
}

// span writes a duration in its greatest unit.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return plural(int(d/time.Second), "second")
	case d < time.Hour:
		return plural(int(d/time.Minute), "minute")
	case d < 48*time.Hour:
		return plural(int(d/time.Hour), "hour")
	}
	return plural(int(d/(24*time.Hour)), "day")
}

// bytes writes a size.
func bytes(n int64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KB", n>>10)
	case n < 10<<30:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d GB", n>>30)
}

var errTooLarge = errors.New("file is too large to be what it should be")

// readBounded reads a regular file; a link to one is followed. Anything that
// would block or fill the memory is refused.
func readBounded(path string, limit int64) ([]byte, error) {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: not a regular file", path)
	case fi.Size() > limit:
		return nil, fmt.Errorf("read %s: %w: %s", path, errTooLarge, bytes(fi.Size()))
	}
	return os.ReadFile(path)
}

// resolveLinks returns a path without symbolic links, or the path itself.
func resolveLinks(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return path
}

// runnable reports whether path is a file that can be started.
func runnable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && (runtime.GOOS == "windows" || fi.Mode()&0o111 != 0)
}

// lookPath returns all programs of a name on a search path, in its order, each
// file once. Entries that are not absolute are passed over: they mean another
// folder in each session.
func lookPath(path, name string) []string {
	names := []string{name}
	if runtime.GOOS == "windows" && filepath.Ext(name) == "" {
		names = []string{name + ".exe", name + ".cmd", name + ".bat"}
	}
	var found []string
	seen := make(map[string]bool)
	for _, dir := range filepath.SplitList(path) {
		for _, n := range names {
			file := filepath.Join(dir, n)
			if !filepath.IsAbs(dir) || !runnable(file) || seen[resolveLinks(file)] {
				continue
			}
			seen[resolveLinks(file)] = true
			found = append(found, file)
		}
	}
	return found
}
