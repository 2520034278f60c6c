// Package upgrade finds the newest release, checks that it is one, and puts its program in
// the place of another. A release is a folder of an address: archives, their checksums, and
// a signature of the checksums in the format of minisign.
//
// Nothing is asked before a use case asks. What an address sends is not trusted: it is
// bounded, and counts once the signature of the checksums fits the key that the program was
// built with, and the archive its checksum. An error leaves the program as it was; a former
// one is kept beside it.
package upgrade

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// Names of files of a release.
const (
	Checksums = "checksums.txt"
	Signature = Checksums + ".minisig"
)

// What a release may hold, in bytes.
const (
	maxText    = 1 << 20
	maxArchive = 256 << 20
	maxProgram = 512 << 20
)

// A Source is where releases come from.
type Source struct {
	Address string // of the folder in which the files of the newest release are
	Key     string // the public one, as minisign writes it
	Proxy   string // of HTTP, "" connects directly
}

// An Offer is the archive of a release that fits this machine. Its checksum was signed.
type Offer struct {
	Version string
	Archive string
	SHA256  string
}

// Newest asks what the newest release is.
func (s Source) Newest(ctx context.Context) (Offer, error) {
	key, err := parseKey(s.Key)
	if err != nil {
		return Offer{}, err
	}
	web, err := newWeb(s)
	if err != nil {
		return Offer{}, err
	}
	defer web.close()
	sums, err := web.get(ctx, Checksums, maxText)
	if err != nil {
		return Offer{}, err
	}
	signature, err := web.get(ctx, Signature, maxText)
	if err != nil {
		return Offer{}, fmt.Errorf("without its signature a release is not taken: %w", err)
	}
	if err := key.verify(sums, string(signature)); err != nil {
		return Offer{}, fmt.Errorf("%s of %s: %w", Checksums, web.host(), err)
	}
	return pick(string(sums), runtime.GOOS, runtime.GOARCH)
}

// pick finds the archive for a system in checksums that were signed.
func pick(sums, system, arch string) (o Offer, err error) {
	end := "_" + system + "_" + arch + archiveEnd(system)
	for line := range strings.Lines(sums) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		version, ours := strings.CutPrefix(name, "anamnesis_")
		version, fits := strings.CutSuffix(version, end)
		if !ok || !ours || !fits {
			continue
		}
		if raw, err := hex.DecodeString(sum); err != nil || len(raw) != sha256.Size {
			return o, fmt.Errorf("the checksum of %s is none", name)
		}
		if _, _, err := parseVersion(version); err != nil || o.Version != "" {
			return o, fmt.Errorf("the release names no single version for %s/%s", system, arch)
		}
		o = Offer{version, name, sum}
	}
	if o.Version == "" {
		return o, fmt.Errorf("the release has no archive for %s/%s", system, arch)
	}
	return o, nil
}

// Fetch downloads the archive of an offer, checks it, and returns the program in it.
func (s Source) Fetch(ctx context.Context, o Offer) ([]byte, error) {
	web, err := newWeb(s)
	if err != nil {
		return nil, err
	}
	defer web.close()
	archive, err := web.get(ctx, o.Archive, maxArchive)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != strings.ToLower(o.SHA256) {
		return nil, fmt.Errorf("%s is not the file whose checksum was signed: its SHA-256 is %x", o.Archive, sum)
	}
	return unpack(archive, runtime.GOOS)
}

// Newer reports whether version a comes after version b. What is no version comes before all.
func Newer(a, b string) bool {
	an, ap, err := parseVersion(a)
	if err != nil {
		return false
	}
	bn, bp, err := parseVersion(b)
	if err != nil {
		return true
	}
	for i := range an {
		if an[i] != bn[i] {
			return an[i] > bn[i]
		}
	}
	return comparePre(ap, bp) > 0
}

// parseVersion reads 1.2.3 and 1.2.3-rc.1, with or without v and +build.
func parseVersion(s string) (n [3]int, pre string, err error) {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	s, pre, _ = strings.Cut(s, "-")
	parts := strings.Split(s, ".")
	if len(parts) != len(n) {
		return n, "", errors.New("a version has three numbers")
	}
	for i, p := range parts {
		v, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return n, "", errors.New("a version has three numbers")
		}
		n[i] = int(v)
	}
	return n, pre, nil
}

// comparePre orders what stands behind the hyphen of a version: nothing comes last, numbers
// before words, and fewer parts before more.
func comparePre(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(b), len(a))
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, xe := strconv.Atoi(as[i])
		y, ye := strconv.Atoi(bs[i])
		c := strings.Compare(as[i], bs[i])
		switch {
		case xe == nil && ye == nil:
			c = cmp.Compare(x, y)
		case xe == nil:
			c = -1
		case ye == nil:
			c = 1
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}
