package agent

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// packed writes a compressed file.
func packed(t testing.TB, name string, text []byte, options ...zstd.EOption) *os.File {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, append([]zstd.EOption{zstd.WithEncoderConcurrency(1)}, options...)...)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return fileOf(t, name, out.Bytes())
}

func fileOf(t testing.TB, name string, data []byte) *os.File {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

const packedName = "rollout-2026-11-20T10-00-00-01a0c0de-1111-7aaa-8bbb-000000000001.jsonl.zst"

// TestCompressed holds that a compressed rollout is read as the plain one.
func TestCompressed(t *testing.T) {
	files, err := filepath.Glob("testdata/codex/rollout-*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(err, len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file) + ".zst"
		f := packed(t, name, text)
		if ids, err := codexSessions.SessionsIn("sessions/2026/11/20/"+name, f); err != nil || len(ids) != 1 {
			t.Errorf("%s: sessions %q, %v", name, ids, err)
		}
		records, err := codexSessions.Open(f, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(records); err != nil || !bytes.Equal(got, text) || records.Size() != int64(len(text)) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
		}
		got, err := codexSessions.Peek(records, records.Size(), 0, 0, time.Time{})
		want, werr := codexSessions.Peek(bytes.NewReader(text), int64(len(text)), 0, 0, time.Time{})
		if diff := cmp.Diff(want, got); err != nil || werr != nil || diff != "" {
			t.Errorf("%s: %v, %v (-plain +compressed):\n%s", name, err, werr, diff)
		}
	}
	sub := []byte(`{"type":"session_meta","payload":{"id":"a","thread_source":"subagent"}}` + "\n")
	if ids, err := codexSessions.SessionsIn(packedName, packed(t, packedName, sub)); err != nil || len(ids) > 0 {
		t.Errorf("sessions of a sub-agent: %q, %v", ids, err)
	}
}

// TestCompressedPlaces holds that any stretch can be read, also back, and of a file of several frames.
func TestCompressedPlaces(t *testing.T) {
	text := make([]byte, 3*unpackedStart+12345)
	for i := range text {
		text[i] = byte(i*i>>7 + i)
	}
	half := packed(t, packedName, text[:len(text)/2])
	rest := packed(t, packedName, text[len(text)/2:])
	one, err := os.ReadFile(half.Name())
	two, err2 := os.ReadFile(rest.Name())
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	records, err := codexSessions.Open(fileOf(t, packedName, append(one, two...)), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(io.NewSectionReader(records, 0, 4096), text[:4096]); err != nil {
		t.Error(err)
	}
	size := int64(len(text))
	for _, from := range []int64{0, size - 10, unpackedStart - 5, 2 * unpackedStart, unpackedStart, size - unpackedStart, 17} {
		buf := make([]byte, 1000)
		n, err := records.ReadAt(buf, from)
		if want := text[from:min(from+1000, size)]; !bytes.Equal(buf[:n], want) || (err != nil) != (len(want) < 1000) || err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("at %d: %d bytes, want %d, %v", from, n, len(want), err)
		}
	}
}

// TestCompressedHostile holds that a damaged or hostile file is an error that names the file, and takes little.
func TestCompressedHostile(t *testing.T) {
	text := []byte(strings.Repeat(`{"type":"session_meta","payload":{"id":"a"}}`+"\n", 5000))
	f := packed(t, packedName, text)
	whole, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 0x55
	for what, data := range map[string][]byte{"cut": whole[:len(whole)-9], "flipped": flipped, "plain": text, "trailing": append(bytes.Clone(whole), "xxxxxxxx"...)} {
		f := fileOf(t, packedName, data)
		if _, err := codexSessions.Open(f, ""); err == nil || !strings.Contains(err.Error(), f.Name()) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := codexSessions.SessionsIn(packedName, fileOf(t, packedName, text)); err == nil || !strings.Contains(err.Error(), packedName) {
		t.Errorf("a plain text with the name of a compressed one: %v", err)
	}
	if _, err := unpack(f, int64(len(text))-1); !errors.Is(err, errUnpacked) {
		t.Errorf("more text than the limit: %v", err)
	}
	if u, err := unpack(f, int64(len(text))); err != nil || u.size != int64(len(text)) {
		t.Errorf("as much text as the limit: %v", err)
	}
	wide := packed(t, packedName, bytes.Repeat(text, 8), zstd.WithWindowSize(2*maxWindow))
	if _, err := codexSessions.Open(wide, ""); err == nil || !strings.Contains(err.Error(), "window") {
		t.Errorf("a window of %d bytes: %v", 2*maxWindow, err)
	}
	for _, empty := range []*os.File{packed(t, packedName, nil), fileOf(t, packedName, nil)} {
		if records, err := codexSessions.Open(empty, ""); err != nil || records.Size() != 0 {
			t.Errorf("an empty file: %v", err)
		}
	}
}

// TestOtherName holds which names are those of one rollout.
func TestOtherName(t *testing.T) {
	plain, _ := strings.CutSuffix(packedName, ".zst")
	for file, want := range map[string]string{"/a/" + plain: "/a/" + packedName, "/a/" + packedName: "/a/" + plain, "/a/x.jsonl": "", "/a/rollout-1.zst": ""} {
		if got := codexOther(file); got != want {
			t.Errorf("the other name of %s is %q, want %q", file, got, want)
		}
	}
	for _, name := range []string{plain, packedName} {
		folders, thread, ok := codexParts("/c/sessions/2026/11/20/" + name)
		if !ok || thread != "01a0c0de-1111-7aaa-8bbb-000000000001" || !isRollout(name) || FileStem("/a/"+name)+".jsonl" != plain {
			t.Errorf("%s: %q, %q, %v", name, folders, thread, ok)
		}
	}
}

func FuzzCompressed(f *testing.F) {
	text := []byte(`{"type":"session_meta","payload":{"id":"a","cwd":"/src"}}` + "\n")
	whole, err := os.ReadFile(packed(f, packedName, bytes.Repeat(text, 20)).Name())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add(append([]byte("\x50\x2a\x4d\x18\x01\x00\x00\x00x"), whole...)) // a frame to skip
	f.Add([]byte("\x28\xb5\x2f\xfd\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file := fileOf(t, packedName, data)
		head := make([]byte, 1000)
		n, herr := unpackHead(file, head)
		u, err := unpack(file, 1<<20)
		if err != nil {
			return
		}
		if u.size > 1<<20 || herr != nil {
			t.Fatalf("%d bytes, head: %v", u.size, herr)
		}
		got, err := io.ReadAll(io.NewSectionReader(u, 0, u.size))
		if err != nil || int64(len(got)) != u.size || !bytes.HasPrefix(got, head[:n]) || n != min(len(got), len(head)) {
			t.Errorf("%d bytes of %d, %d of the head, %v", len(got), u.size, n, err)
		}
	})
}
