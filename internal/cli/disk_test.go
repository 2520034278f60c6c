package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"anamnesis/internal/config"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// A fullDisk has room for some writes, and then none.
type fullDisk struct {
	store.OS
	left *int
}

func (d fullDisk) take(op, name string) error {
	if *d.left--; *d.left < 0 {
		return &os.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
	}
	return nil
}

func (d fullDisk) MkdirAll(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if err := d.take("mkdir", dir); err != nil {
		return err
	}
	return d.OS.MkdirAll(dir)
}

func (d fullDisk) Create(dir string) (store.File, error) {
	if err := d.take("create", dir); err != nil {
		return nil, err
	}
	f, err := d.OS.Create(dir)
	return fullFile{f, d}, err
}

func (d fullDisk) Rename(from, to string) error {
	if err := d.take("rename", to); err != nil {
		return err
	}
	return d.OS.Rename(from, to)
}

func (d fullDisk) Append(name string, data []byte) error {
	if err := d.take("write", name); err != nil {
		return err
	}
	return d.OS.Append(name, data)
}

type fullFile struct {
	store.File
	disk fullDisk
}

// Write writes half of p when there is no room for all of it, as disks do.
func (f fullFile) Write(p []byte) (int, error) {
	if err := f.disk.take("write", f.Name()); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f fullFile) Sync() error {
	if err := f.disk.take("sync", f.Name()); err != nil {
		return err
	}
	return f.File.Sync()
}

// TestDiskFull lets the disk be full from the first, second … write on. Every
// command then says so and how to go on, or succeeds; the note that was there is
// there still, and there is never half of a new one.
func TestDiskFull(t *testing.T) {
	storetest.SkipQuick(t)
	t.Parallel()
	dir := t.TempDir()
	session := filepath.Join(dir, "session.jsonl")
	transcript := `{"type":"user","sessionId":"one","timestamp":"2026-03-17T14:30:00.000Z","message":{"role":"user","content":"Fix the tax"}}
{"type":"assistant","sessionId":"one","timestamp":"2026-03-17T14:31:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"It is rounded once now."}]}}
`
	if err := os.WriteFile(session, []byte(transcript), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"add", "--project", "p", "--title", "New note", "--body", "Its body."},
		{"add", "--project", "p", "--title", "Use tabs", "--body", "In Go files.", "--tag", "style"},
		{"capture", "--no-sync", "--project", "p", "--transcript", session},
		{"config", "set", "sessions.days", "3"},
		{"project", "alias", "a", "b"},
	} {
		t.Run(args[0], func(t *testing.T) {
			for room := 0; ; room++ {
				home := filepath.Join(dir, fmt.Sprintf("%s-%d-%d", args[0], len(args), room))
				run := func(disk store.Disk, args ...string) (code int, stdout, stderr string) {
					var out, diag bytes.Buffer
					p := &program{screen: screen{stdout: &out, stderr: &diag}, stdin: strings.NewReader(""), disk: disk, environ: func(flags []string) config.Environment {
						return config.Environment{
							Lookup:   func(string) (string, bool) { return "", false },
							UserHome: home, Hostname: "testbox", Flags: append([]string{"home=" + home, "sync.on=false"}, flags...),
						}
					}}
					code = p.run(args)
					return code, out.String(), diag.String()
				}
				if code, _, diag := run(nil, "add", "--project", "p", "--title", "Use tabs", "--body", "In Go files."); code != 0 {
					t.Fatal(diag)
				}
				left := room
				code, stdout, stderr := run(fullDisk{left: &left}, args...)
				if code != 0 && (stdout != "" || !strings.Contains(stderr, "no space left on device")) {
					t.Errorf("room for %d: exit %d, stdout %q, stderr %q", room, code, stdout, stderr)
				}
				if code != 0 && !strings.Contains(stderr, home) {
					t.Errorf("room for %d: no file is named in %q", room, stderr)
				}
				_, list, diag := run(nil, "list")
				if strings.Count(list, "Use tabs") != 1 || diag != "" {
					t.Errorf("room for %d: the old note is not there: %q %q", room, list, diag)
				}
				if _, status, _ := run(nil, "status"); strings.Contains(status, "not a note") {
					t.Errorf("room for %d: half a note: %s", room, status)
				}
				if again, _, diag := run(nil, args...); again != 0 {
					t.Errorf("room for %d: with room again: %s", room, diag)
				}
				if left >= 0 { // there was room for everything
					return
				}
			}
		})
	}
}
