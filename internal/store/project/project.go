// Package project says which project a folder belongs to, under which other names
// a project is known, and on which branch of it somebody works. It reads the files
// of git and of the store, starts no process, and returns the plain answer ("" or
// the name of the folder) where a file cannot be read.
package project

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
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
	Source string   // what decided: joined, marker, remote, known, repository, folder, foreign
	From   string   // the file, folder or address it was read from
	Also   []string // keys under which notes of it may be found, too: of other programs, from before its remote, of the folders above
	Branch string   // the branch that is checked out, "" when unknown
	Sub    string   // the folder below the top of its repository, with slashes; "" at the top
	Asks   string   // the project that a marker names which came with the clone: the user has not confirmed it

	dir    string // of the place in the table, "" for a folder that has none
	clone  string // mark of its repository (cloneMark)
	name   string // the name of the folder, as a key
	marked string // the key of a marker that counts and that the table does not have
	known  bool   // the table has it as it is
	weak   bool   // nothing but a name says so: it may be the project of others
}

// Unknown is the key of a folder that has no name, such as the root. It is not
// note.Global: what is global is said to every project, and nothing becomes
// that by accident.
const Unknown = "unknown"

// Weak reports whether nothing but the name of a folder says which project it is, and this machine has not entered it in its table.
func (id Identity) Weak() bool { return id.weak && !id.known }

// Identify returns the project of a folder, by this evidence, the first first: what the user said (Join); the nearest marker
// .anamnesis/project above it, below the home folder and inside its repository, unless it came with a clone; the address of the
// repository's origin; what the table of this machine knows of its repository, wherever that was moved, and of its folder; the name of
// the folder or of the repository's main folder, if the table knows no other folder by that name. A repository in the home folder counts
// for the home folder alone. A path of another system names the project by its last element.
// It starts no process and changes nothing: a repository's files are read as
// they are, so git need not be there.
func Identify(s *store.Store, dir string) Identity {
	if IsForeign(dir) {
		return foreign(s, dir)
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	real := realPath(dir)
	repo := findRepository(dir)
	if home := realPath(s.Home()); s.Home() != "" && repo.root == home && real != home {
		repo = repository{} // it has the user's dotfiles, and not what is below them
	}
	id := Identity{Branch: repo.branch, dir: real, name: folderKey(real)}
	if repo.root != "" {
		id.dir, id.clone, id.name = repo.root, cloneMark(repo.common), folderKey(repo.root)
		if rel, err := filepath.Rel(repo.top, real); err == nil && rel != "." && filepath.IsLocal(rel) {
			id.Sub = filepath.ToSlash(rel)
		}
	}
	places := Places(s)
	known := placeOf(places, id.clone, id.dir)
	remote := NormalizeRemote(repo.origin)
	if remote == note.Global {
		remote = ""
	}
	decided := func(key, source, from string) { id.Key, id.Source, id.From = key, source, from }
	markers := id.markers(s, dir, &repo, places)
	switch {
	case known != nil && known.Joined != "":
		decided(known.Joined, "joined", known.Dir)
	case len(markers) > 0:
		decided(markers[0].key, "marker", markers[0].file)
	case remote != "":
		decided(remote, "remote", redactUserinfo(repo.origin))
		if old := legacyRemote(repo.origin); old != remote {
			id.Also = append(id.Also, old)
		}
	case known != nil && known.Marker == "" && (known.By != byRemote || known.Clone == id.clone):
		decided(known.Key, "known", known.Dir)
	case repo.root != "":
		decided(free(places, known, id.name, id.dir, id.clone), "repository", repo.root)
		id.weak = true
	default:
		decided(free(places, known, id.name, id.dir, id.clone), "folder", real)
		id.weak = true
	}
	if id.Source == "marker" {
		known = id.inherit(markers, &repo, remote, places, known)
	}
	id.Key = Canonical(s, id.Key)
	if known != nil {
		id.remember(s, known)
	}
	return id
}

// inherit adds the projects above a marked folder, whose notes hold in it, too. It returns the entry of the place, which is the marked
// folder and not the whole clone, where the marker is below the top of that.
func (id *Identity) inherit(markers []markerFile, repo *repository, remote string, places []Place, known *Place) *Place {
	for _, m := range markers[1:] {
		id.Also = append(id.Also, m.key)
	}
	if remote != "" && markers[len(markers)-1].dir != repo.top {
		id.Also = append(id.Also, remote)
	}
	if repo.root == "" || len(markers[0].dir) <= len(repo.top) {
		return known
	}
	id.dir, id.clone, id.Sub = realPath(markers[0].dir), "", ""
	return placeOf(places, "", id.dir)
}

// remember adds the keys that the table has of a place and no other folder has, and notes whether the table has the place as it is.
func (id *Identity) remember(s *store.Store, known *Place) {
	former := slices.Clone(known.Former)
	if known.By != byRemote {
		former = append(former, known.Key)
	}
	for _, key := range former {
		if key = Canonical(s, key); key != id.Key && !slices.Contains(id.Also, key) {
			id.Also = append(id.Also, key)
		}
	}
	id.known = known.Dir == id.dir && known.Clone == id.clone && id.marked == "" &&
		(id.Source == "joined" || Canonical(s, known.Key) == id.Key)
}

// BelowOf returns the key of the notes of a folder below the top of its repository (Below).
func BelowOf(s *store.Store, dir string) (key string, err error) {
	id := Identify(s, dir)
	if id.Sub == "" {
		return "", fmt.Errorf("%s is not below the top of a repository", dir)
	}
	return Below(id.Key, id.Sub), nil
}

// realPath is a path without links, as far as they can be followed.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// free returns the name of a folder as its key, unless the table has another folder by that key: then it has a part of the hash of
// the path. known is its own entry.
func free(places []Place, known *Place, name, dir, clone string) string {
	for i := range places {
		if p := &places[i]; p != known && (p.Key == name || slices.Contains(p.Former, name)) {
			return apart(name, dir, clone)
		}
	}
	return name
}

// IsForeign reports whether a path is an absolute one of another system: with a drive or a server of Windows where this system has
// none, or without a drive on Windows.
func IsForeign(path string) bool {
	if filepath.Separator == '\\' {
		return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//")
	}
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && (path[0]|0x20) >= 'a' && (path[0]|0x20) <= 'z'
	return drive || strings.HasPrefix(path, `\\`)
}

// foreign is the project of a path of another system: what the table knows of it, else its last element, unless a folder of this
// machine has that key. Nothing is looked up on this machine's disks, but for a drive of Windows below /mnt, as WSL has it.
func foreign(s *store.Store, dir string) Identity {
	if local := wslPath(dir); local != "" {
		return Identify(s, local)
	}
	clean := strings.TrimRight(strings.ReplaceAll(dir, `\`, "/"), "/")
	id := Identity{Source: "foreign", From: dir, dir: clean, name: folderKey(clean[strings.LastIndexByte(clean, '/')+1:])}
	places := Places(s)
	known := placeOf(places, "", clean)
	if id.Key = free(places, known, id.name, clean, ""); known != nil {
		id.Key, id.known = cmp.Or(known.Joined, known.Key), true
	}
	id.Key = Canonical(s, id.Key)
	return id
}

// wslPath is where a folder of Windows is in the Windows Subsystem for Linux, "" where it is not there.
func wslPath(dir string) string {
	if len(dir) < 3 || dir[1] != ':' {
		return ""
	}
	local := "/mnt/" + strings.ToLower(dir[:1]) + "/" + strings.Trim(strings.ReplaceAll(dir[2:], `\`, "/"), "/")
	if fi, err := os.Stat(local); err != nil || !fi.IsDir() {
		return ""
	}
	return local
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

// A markerFile is a file .anamnesis/project, the folder that has it, and the project that it names.
type markerFile struct{ key, file, dir string }

// markers returns the marker files at and above a folder that count, the nearest first: below the home folder, and inside its repository
// where it is in one. A marker that git tracks came with the clone, and may name a private project of the user: it counts if the
// table had it before git tracked it. The key of the nearest one that does not count is in id.Asks.
func (id *Identity) markers(s *store.Store, dir string, repo *repository, places []Place) (all []markerFile) {
	for d := dir; d != s.Home() && d != filepath.Dir(d); d = filepath.Dir(d) {
		m := readMarker(d)
		if m.key != "" {
			known := placeOf(places, "", realPath(d))
			if repo.root != "" && realPath(d) == repo.top {
				known = placeOf(places, id.clone, id.dir)
			}
			rel, err := filepath.Rel(repo.top, realPath(m.file))
			inside := repo.root != "" && err == nil && filepath.IsLocal(rel)
			switch {
			case known != nil && known.Marker == m.key, !inside:
				all = append(all, m)
			case !tracks(repo.gitDir, filepath.ToSlash(rel)):
				all = append(all, m)
				if len(all) == 1 {
					id.marked = m.key
				}
			case id.Asks == "" && len(all) == 0:
				id.Asks = m.key
			}
		}
		if repo.root != "" && realPath(d) == repo.top {
			break
		}
	}
	return all
}

// readMarker reads the marker file of a folder.
func readMarker(dir string) (m markerFile) {
	file := filepath.Join(dir, ".anamnesis", "project")
	fi, err := os.Stat(file)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > 64<<10 {
		return m
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return m
	}
	for line := range strings.Lines(strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "")) {
		if key := cleanKey(line); key != "" {
			return markerFile{key, file, dir}
		}
	}
	return m
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

// RemoteKey returns the project of a remote's address, "" for none.
func RemoteKey(s *store.Store, remote string) string {
	key := NormalizeRemote(remote)
	if key == "" || key == note.Global {
		return ""
	}
	return Canonical(s, key)
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
