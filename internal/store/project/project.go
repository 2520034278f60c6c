// Package project says which project a folder belongs to, under which other names
// a project is known, and on which branch of it somebody works. It reads the files
// of git and of the store, starts no process, and returns the plain answer ("" or
// the name of the folder) where a file cannot be read.
package project

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// An Identity says which project a folder belongs to. Writers and readers ask
// the same function, Identify, so that what a session leaves is what the next
// one finds, on every machine.
type Identity struct {
	Key    string   // the project key notes carry
	Source string   // where it came from: marker, remote, repository, folder
	From   string   // the file or address it was read from
	Also   []string // keys that other programs made of the same origin
	Branch string   // the branch that is checked out, "" when unknown
}

// Unknown is the key of a folder that has no name, such as the root. It is not
// note.Global: what is global is said to every project, and nothing becomes
// that by accident.
const Unknown = "unknown"

// Identify returns the project of a folder: the first line of the nearest
// .anamnesis/project above it (below the home folder), else the address of the
// repository's origin, else the name of the repository's main folder, else the
// folder's own name. It starts no process: a repository's files are read as
// they are, so git need not be there.
func Identify(s *store.Store, dir string) Identity {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	repo := findRepository(dir)
	id := Identity{Branch: repo.branch}
	if key, file := marker(dir, s.Home()); key != "" {
		id.Key, id.Source, id.From = key, "marker", file
	} else if key := NormalizeRemote(repo.origin); key != "" && key != note.Global {
		id.Key, id.Source, id.From = key, "remote", redactUserinfo(repo.origin)
		if old := legacyRemote(repo.origin); old != key {
			id.Also = append(id.Also, old)
		}
	} else if repo.root != "" {
		id.Key, id.Source, id.From = folderKey(repo.root), "repository", repo.root
	} else {
		id.Key, id.Source, id.From = folderKey(dir), "folder", dir
	}
	id.Key = Canonical(s, id.Key)
	return id
}

// Top returns the top folder of the working tree that holds dir, "" when none does.
// Unlike Identify it does not follow links: the result is a beginning of dir.
func Top(dir string) string {
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		if _, ok := gitDirOf(d); ok {
			return d
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}

// marker returns the project named by the nearest marker file, and the file.
func marker(dir, home string) (key, file string) {
	for d := dir; d != home && d != filepath.Dir(d); d = filepath.Dir(d) {
		file := filepath.Join(d, ".anamnesis", "project")
		fi, err := os.Stat(file)
		if err != nil || !fi.Mode().IsRegular() || fi.Size() > 64<<10 {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "")) {
			if key := cleanKey(line); key != "" {
				return key, file
			}
		}
	}
	return "", ""
}

// maxKey is the longest project key, in bytes.
const maxKey = 256

// cleanKey makes a key of a line somebody else wrote: no control characters, not too long.
func cleanKey(line string) string {
	key := strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, line))
	if len(key) > maxKey {
		key = strings.ToValidUTF8(key[:maxKey], "")
	}
	return key
}

func folderKey(dir string) string {
	key := strings.ToLower(cleanKey(filepath.Base(dir)))
	switch key {
	case "", ".", "/", `\`:
		return Unknown
	case note.Global:
		return "dir:" + key
	}
	return key
}

// NormalizeRemote makes a project key of a git remote: no scheme, no user, no
// port, no query, no ".git", lower case. The same repository gets the same key
// over ssh, https and the scp form. A path stays a path.
func NormalizeRemote(remote string) string {
	remote = cleanKey(remote)
	if remote == "" {
		return ""
	}
	host, path := splitRemote(remote)
	if i := strings.IndexAny(path, "?#"); i >= 0 && host != "" {
		path = path[:i]
	}
	path = strings.TrimRight(filepath.ToSlash(path), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, ".git"), "/")
	if host == "" {
		return strings.ToLower(path)
	}
	path = strings.Trim(path, "/")
	if path == "" {
		return strings.ToLower(host)
	}
	return strings.ToLower(host + "/" + path)
}

// splitRemote returns the host without user and port, and the path. The host
// of a local path is empty.
func splitRemote(remote string) (host, path string) {
	if _, rest, ok := strings.Cut(remote, "://"); ok {
		host, path, _ = strings.Cut(rest, "/")
		path = "/" + path
		host = host[strings.LastIndexByte(host, '@')+1:]
		if strings.HasPrefix(host, "[") { // [::1]:22
			host, _, _ = strings.Cut(host[1:], "]")
			return host, path
		}
		host, _, _ = strings.Cut(host, ":")
		return host, path
	}
	before, after, ok := strings.Cut(remote, ":")
	if !ok || strings.ContainsAny(before, `/\`) || len(before) == 1 { // "C:\x" is a drive
		return "", remote
	}
	return before[strings.LastIndexByte(before, '@')+1:], after
}

// legacyRemote is the key that the program before this one made of a remote,
// with its slips: the port became a folder, a slash at the end kept ".git".
// Existing stores hold such keys, so they are looked up too.
func legacyRemote(remote string) string {
	remote = strings.TrimSpace(remote)
	if _, rest, ok := strings.Cut(remote, "://"); ok {
		remote = rest
	}
	if slash := strings.IndexByte(remote, '/'); true {
		head := remote
		if slash >= 0 {
			head = remote[:slash]
		}
		if at := strings.LastIndexByte(head, '@'); at >= 0 {
			remote = remote[at+1:]
		}
	}
	if before, after, ok := strings.Cut(remote, ":"); ok && !strings.Contains(before, "/") {
		remote = before + "/" + after
	}
	return strings.ToLower(strings.TrimRight(strings.TrimSuffix(remote, ".git"), "/"))
}

func redactUserinfo(remote string) string {
	if u, err := url.Parse(remote); err == nil && u.User != nil {
		u.User = nil
		return u.String()
	}
	return remote
}
