package replica

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// ErrRemote means that an address cannot be used as a remote.
var ErrRemote = errors.New("this address cannot be a remote")

// CheckRemote refuses addresses that are not addresses: options, and helpers
// that run commands. The error is an ErrRemote, and shows no password. The empty
// address is none, and passes. Whether anything answers there is not looked at.
func CheckRemote(remote string) error {
	shown := HidePassword(remote)
	switch {
	case strings.HasPrefix(remote, "-"):
		return fmt.Errorf("%w: %q begins with a hyphen; use https, ssh or a path", ErrRemote, shown)
	case strings.ContainsFunc(remote, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%w: %q holds a control character", ErrRemote, shown)
	}
	if scheme, _, ok := strings.Cut(remote, "::"); ok && !strings.ContainsAny(scheme, "/@[") {
		return fmt.Errorf("%w: the remote helper %q is not allowed; use https, ssh or a path", ErrRemote, scheme)
	}
	return nil
}

// LocalPath says whether a remote is a path on this machine, as git takes it,
// and returns the path as it is written, which may be relative or begin with a
// ~ that git expands. A URL is no path, file:// included, nor is host:path.
func LocalPath(remote string) (path string, ok bool) {
	return localPath(remote, runtime.GOOS == "windows")
}

func localPath(remote string, windows bool) (string, bool) {
	if _, _, isURL := cutURL(remote); isURL || remote == "" || strings.HasPrefix(remote, "-") {
		return "", false
	}
	if windows && hasDrive(remote) {
		return remote, true
	}
	separators := "/"
	if windows {
		separators = `/\`
	}
	before, _, colon := strings.Cut(remote, ":")
	if colon && !strings.ContainsAny(before, separators) {
		return "", false
	}
	return remote, true
}

// cutURL cuts a URL behind the slashes that follow its scheme.
func cutURL(remote string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(remote, "://")
	if !ok || strings.ContainsFunc(scheme, func(r rune) bool {
		return r != '+' && r != '-' && r != '.' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}) {
		return "", "", false
	}
	return scheme, rest, true
}

// hasDrive reports whether a path begins with a drive letter of Windows.
func hasDrive(path string) bool {
	return len(path) > 1 && path[1] == ':' && ('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
}

// absent returns where a remote that is a path would be, when nothing is there.
// git runs in dir, so that is where a relative path begins.
func absent(remote, dir string) (at string, missing bool) {
	path, ok := LocalPath(remote)
	if !ok || strings.HasPrefix(path, "~") {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	_, err := os.Stat(path)
	return path, errors.Is(err, os.ErrNotExist)
}

// speaksSSH reports whether an address may be one for ssh.
func speaksSSH(remote string) bool {
	if scheme, _, ok := strings.Cut(remote, "://"); ok {
		return !slices.Contains([]string{"http", "https", "git", "file", "ftp", "ftps"}, strings.ToLower(scheme))
	}
	if filepath.IsAbs(remote) || filepath.VolumeName(remote) != "" {
		return false
	}
	before, _, ok := strings.Cut(remote, ":")
	return ok && !strings.Contains(before, "/")
}

// HidePassword returns a remote as it may be shown. A URL with a password, and
// one for the web with a user, whose name may be a token, loses the whole user
// part. It reads no URL that it would have to understand first: a password that
// should have been escaped and was not is hidden too.
func HidePassword(remote string) string {
	secret := userPart(remote)
	return inURL().ReplaceAllString(strings.Replace(remote, secret, "", 1), "$1")
}

// userPart returns what HidePassword takes out, with the @, "" for nothing.
func userPart(remote string) string {
	scheme, rest, ok := cutURL(remote)
	if !ok {
		return ""
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	at := strings.LastIndexByte(rest[:end], '@')
	if at < 0 {
		// A slash in the password: what looks like a port is no number then.
		port := rest[strings.LastIndexByte(rest[:end], ':')+1 : end]
		if at = strings.LastIndexByte(rest, '@'); at < 0 || len(port) == end || strings.HasSuffix(rest[:end], "]") ||
			strings.Trim(port, "0123456789") == "" {
			return ""
		}
	}
	if user := rest[:at]; !strings.Contains(user, ":") && !strings.HasPrefix(strings.ToLower(scheme), "http") {
		return "" // a name for ssh
	}
	return rest[:at+1]
}

// inURL is the user part with a password of any URL in a text.
var inURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*:/+)[^\s/@'"]*:[^\s/'"]*@`)
})

// hidePassword takes the user part of a remote out of a text, however git
// writes it, and the passwords of other URLs, to which an address may have been
// rewritten.
func hidePassword(text, remote string) string {
	if secret := userPart(remote); secret != "" {
		text = strings.ReplaceAll(text, secret, "")
		if plain, err := url.PathUnescape(secret); err == nil {
			text = strings.ReplaceAll(text, plain, "")
		}
	}
	return inURL().ReplaceAllString(text, "$1")
}

// itself reports whether a remote is the repository in dir, under whatever name.
func itself(remote, dir string) bool {
	path, ok := LocalPath(remote)
	if _, rest, isURL := cutURL(remote); isURL && strings.HasPrefix(strings.ToLower(remote), "file:") {
		path, ok = rest, true
	}
	if !ok || dir == "" || strings.HasPrefix(path, "~") {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	at, err := os.Stat(path)
	if err != nil {
		return false
	}
	for _, own := range []string{dir, filepath.Join(dir, ".git")} {
		if fi, err := os.Stat(own); err == nil && os.SameFile(at, fi) {
			return true
		}
	}
	return false
}
