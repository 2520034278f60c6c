package project

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
)

// maxIndexFile bounds git's index, in bytes; in a larger one every file counts as tracked.
const maxIndexFile = 64 << 20

// tracks reports whether the index of a working tree may have a file, given with slashes and relative to its top. An index that cannot
// be understood may.
func tracks(gitDir, name string) bool {
	file := filepath.Join(gitDir, "index")
	fi, err := os.Stat(file)
	if os.IsNotExist(err) {
		return false // nothing was added yet
	}
	if err != nil || !fi.Mode().IsRegular() || fi.Size() > maxIndexFile {
		return true
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return true
	}
	hash := 20
	if strings.Contains(strings.ToLower(readSmall(filepath.Join(gitDir, "config"))), "sha256") {
		hash = 32
	}
	found, ok := indexHas(data, hash, name)
	return found || !ok
}

// indexHas reads git's index, versions 2 to 4 (gitformat-index), whose hashes have so many bytes. ok is false for what is no such
// file, and for a split index, which does not hold all names.
func indexHas(data []byte, hash int, name string) (found, ok bool) {
	const header, fixed, extended = 12, 40, 0x4000
	if len(data) < header+hash || string(data[:4]) != "DIRC" || bytes.Contains(data[header:], []byte("link\x00\x00\x00")) {
		return false, false
	}
	version, entries := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return false, false
	}
	rest, last := data[header:], ""
	for range entries {
		if len(rest) < fixed+hash+2 {
			return false, false
		}
		size := fixed + hash + 2
		if binary.BigEndian.Uint16(rest[fixed+hash:])&extended != 0 && version > 2 {
			size += 2
		}
		if len(rest) < size {
			return false, false
		}
		path := rest[size:]
		if version == 4 {
			cut, n := offsetVarint(path)
			if n == 0 || cut > uint64(len(last)) {
				return false, false
			}
			path, size, last = path[n:], size+n, last[:len(last)-int(cut)]
		} else {
			last = ""
		}
		end := bytes.IndexByte(path, 0)
		if end < 0 {
			return false, false
		}
		if last += string(path[:end]); last == name {
			return true, true
		}
		if size += end + 1; version < 4 { // entries end on a multiple of eight bytes
			size = (size + 7) / 8 * 8
		}
		if size > len(rest) {
			return false, false
		}
		rest = rest[size:]
	}
	return false, true
}

// offsetVarint reads a number as git writes offsets, and returns how many bytes it takes; 0 for none.
func offsetVarint(data []byte) (v uint64, n int) {
	for n < len(data) && n < 9 {
		b := data[n]
		n++
		if v = v<<7 | uint64(b&0x7f); b&0x80 == 0 {
			return v, n
		}
		v++
	}
	return 0, 0
}
