// Package upgradetest makes releases for tests: an archive for this system, its checksum, and
// a signature as minisign makes it.
package upgradetest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path"
	"runtime"
	"sync"

	"anamnesis/internal/upgrade"
)

// A Release is the files of one, and an http.Handler that serves them.
type Release struct {
	Key     string // the public one
	Archive string // its name
	Files   map[string][]byte

	secret   ed25519.PrivateKey
	changing sync.RWMutex // Files, while they are served
}

// keyID is that of every key of a test.
const keyID = "\x01\x02\x03\x04\x05\x06\x07\x08"

// Make makes a release of a program.
func Make(version string, program []byte) *Release {
	public, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	r := &Release{
		Key:   base64.StdEncoding.EncodeToString([]byte("Ed" + keyID + string(public))),
		Files: make(map[string][]byte), secret: secret,
	}
	pack, end := Tar, ".tar.gz"
	if runtime.GOOS == "windows" {
		pack, end = Zip, ".zip"
	}
	r.Archive = "anamnesis_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + end
	r.Files[r.Archive] = pack(upgrade.ProgramName(runtime.GOOS), program)
	r.Sum()
	return r
}

// Sum writes the checksums again, and signs them.
func (r *Release) Sum() {
	r.Files[upgrade.Checksums] = fmt.Appendf(nil, "%x  %s\n%x  anamnesis_9.9.9_plan9_amd64.tar.gz\n",
		sha256.Sum256(r.Files[r.Archive]), r.Archive, sha256.Sum256(nil))
	r.Sign()
}

// Sign signs the checksums as they are.
func (r *Release) Sign() {
	const comment = "a test"
	signature := ed25519.Sign(r.secret, r.Files[upgrade.Checksums])
	whole := ed25519.Sign(r.secret, append(bytes.Clone(signature), comment...))
	encode := base64.StdEncoding.EncodeToString
	r.Files[upgrade.Signature] = fmt.Appendf(nil, "untrusted comment: of a test\n%s\ntrusted comment: %s\n%s\n",
		encode(append([]byte("Ed"+keyID), signature...)), comment, encode(whole))
}

// Change changes the files while they are served.
func (r *Release) Change(do func(files map[string][]byte)) {
	r.changing.Lock()
	defer r.changing.Unlock()
	do(r.Files)
}

// ServeHTTP serves the files.
func (r *Release) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.changing.RLock()
	data, ok := r.Files[path.Base(req.URL.Path)]
	data = bytes.Clone(data)
	r.changing.RUnlock()
	if !ok {
		http.NotFound(w, req)
		return
	}
	_, _ = w.Write(data)
}

// Tar packs one file as a release for Unix does, behind another one.
func Tar(name string, data []byte) []byte {
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	tw := tar.NewWriter(gz)
	for _, f := range []struct {
		name string
		data []byte
	}{{"LICENSE", []byte("free")}, {name, data}} {
		must(tw.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.data)), Typeflag: tar.TypeReg}))
		_, err := tw.Write(f.data)
		must(err)
	}
	must(tw.Close())
	must(gz.Close())
	return b.Bytes()
}

// Zip packs one file as a release for Windows does.
func Zip(name string, data []byte) []byte {
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	w, err := zw.Create(name)
	must(err)
	_, err = io.Copy(w, bytes.NewReader(data))
	must(err)
	must(zw.Close())
	return b.Bytes()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
