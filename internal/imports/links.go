package imports

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxHops is how many links may lead to a folder.
const maxHops = 16

var errForeignLink = errors.New("it is a symbolic link that somebody else made, or that leads to a folder of somebody else")

// ownFolder returns the folder that a symbolic link leads to. The user must have made the link and own the folder: people
// keep an agent's folder elsewhere, to share it between machines. A further link on the way that is part of a work tree of git
// came with the repository, so it is refused, and so is a link back to a folder that holds the folder within.
func ownFolder(link, within string) (string, error) {
	fi, err := os.Lstat(link)
	if err == nil && !ownedByUser(fi) {
		err = errForeignLink
	}
	path := ""
	if err == nil {
		path, err = target(link)
	}
	for hops := 0; err == nil; hops++ {
		at, rest := firstLink(path)
		switch {
		case at == "":
			return ownDir(path, within)
		case hops == maxHops:
			err = errors.New("it is a symbolic link that leads through too many others")
		case inWorkTree(filepath.Dir(at)):
			err = errors.New("it is a symbolic link that leads through one of a repository")
		default:
			path, err = target(at)
			path = filepath.Join(path, rest)
		}
	}
	return "", err
}

// target returns where a link leads.
func target(link string) (string, error) {
	to, err := os.Readlink(link)
	if err == nil && !filepath.IsAbs(to) {
		var dir string
		dir, err = filepath.EvalSymlinks(filepath.Dir(link))
		to = filepath.Join(dir, to)
	}
	return filepath.Clean(to), err
}

// firstLink returns the first folder of a path that is a link, "" for none, and the names behind it.
func firstLink(path string) (at, rest string) {
	const separator = string(filepath.Separator)
	volume := filepath.VolumeName(path)
	at = volume + separator
	names := strings.Split(strings.Trim(strings.TrimPrefix(path, volume), separator), separator)
	for i, name := range names {
		at = filepath.Join(at, name)
		if fi, err := os.Lstat(at); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
			return at, filepath.Join(names[i+1:]...)
		}
	}
	return "", ""
}

// inWorkTree reports whether a folder is in a work tree of git.
func inWorkTree(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

func ownDir(dir, within string) (string, error) {
	fi, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("it is a symbolic link that leads nowhere: %w", err)
	}
	real, err := filepath.EvalSymlinks(within)
	below := strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator)
	switch {
	case !fi.IsDir():
		return "", errLink
	case !ownedByUser(fi):
		return "", errForeignLink
	case err == nil && strings.HasPrefix(real+string(filepath.Separator), below):
		return "", errors.New("it is a symbolic link to a folder that holds this one")
	}
	return dir, nil
}
