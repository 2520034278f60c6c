package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/capture"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/store/storetest"
)

// A crashDisk counts the steps a store makes on the disk and kills its process
// before the one it was shown. What a real disk loses when the power goes, it
// takes back first: with lose it empties files that were not fsynced, with
// forget it also undoes renames and creations whose folder was not fsynced.
type crashDisk struct {
	store.OS
	at           int // kill before this step; 0 counts only
	lose, forget bool
	tally        string // file that gets the number of steps at the end

	n     int
	files map[string]*crashFile // by current path
	names []undo
}

// An undo takes back a change of names in a folder.
type undo struct {
	dir string
	run func()
}

type crashFile struct {
	store.File
	d      *crashDisk
	synced bool
}

// step is called before every change.
func (d *crashDisk) step() {
	if d.n++; d.n != d.at {
		return
	}
	if d.lose || d.forget {
		for path, f := range d.files {
			if !f.synced {
				_ = os.Truncate(path, 0)
			}
		}
		// The index was updated by writes that SQLite does not fsync either.
		if wals, _ := filepath.Glob(filepath.Join(os.Getenv("CRASH_STORE"), "index.db-*")); d.at%2 == 0 {
			for _, w := range wals {
				_ = os.Remove(w)
			}
		}
	}
	if d.forget {
		for _, u := range slices.Backward(d.names) {
			u.run()
		}
	}
	self, _ := os.FindProcess(os.Getpid())
	_ = self.Kill()
	select {}
}

func (d *crashDisk) MkdirAll(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	d.step()
	return d.OS.MkdirAll(dir)
}

func (d *crashDisk) Create(dir string) (store.File, error) {
	d.step()
	f, err := d.OS.Create(dir)
	if err != nil {
		return nil, err
	}
	cf := &crashFile{File: f, d: d}
	d.files[f.Name()] = cf
	d.names = append(d.names, undo{dir, func() { _ = os.Remove(f.Name()) }})
	return cf, nil
}

func (f *crashFile) Write(p []byte) (int, error) {
	f.d.step()
	if len(p) > 1 { // and once in the middle of it
		half := len(p) / 2
		n, err := f.File.Write(p[:half])
		if err != nil {
			return n, err
		}
		f.d.step()
		m, err := f.File.Write(p[half:])
		return n + m, err
	}
	return f.File.Write(p)
}

func (f *crashFile) Sync() error {
	f.d.step()
	err := f.File.Sync()
	f.synced = err == nil
	return err
}

func (d *crashDisk) Rename(from, to string) error {
	d.step()
	was, rerr := os.ReadFile(to)
	if err := d.OS.Rename(from, to); err != nil {
		return err
	}
	if f := d.files[from]; f != nil {
		delete(d.files, from)
		d.files[to] = f
	}
	d.names = append(d.names, undo{filepath.Dir(to), func() {
		if rerr != nil {
			_ = os.Rename(to, from)
		} else {
			_ = os.WriteFile(to, was, 0o600)
		}
	}})
	return nil
}

func (d *crashDisk) Exchange(from, to string) error {
	d.step()
	if err := d.OS.Exchange(from, to); err != nil {
		return err
	}
	mine, theirs := d.files[from], d.files[to]
	delete(d.files, from)
	delete(d.files, to)
	if mine != nil {
		d.files[to] = mine
	}
	if theirs != nil {
		d.files[from] = theirs
	}
	d.names = append(d.names, undo{filepath.Dir(to), func() { _ = d.OS.Exchange(from, to) }})
	return nil
}

func (d *crashDisk) Remove(name string) error {
	d.step()
	was, rerr := os.ReadFile(name)
	if err := d.OS.Remove(name); err != nil {
		return err
	}
	if rerr == nil {
		d.names = append(d.names, undo{filepath.Dir(name), func() { _ = os.WriteFile(name, was, 0o600) }})
	}
	return nil
}

func (d *crashDisk) SyncDir(dir string) error {
	d.step()
	err := d.OS.SyncDir(dir)
	if err == nil {
		d.names = slices.DeleteFunc(d.names, func(u undo) bool { return u.dir == dir })
	}
	return err
}

func (d *crashDisk) Append(name string, data []byte) error {
	d.step()
	return d.OS.Append(name, data)
}

// crashMain is the program on a crashDisk; TestMain runs it under the name crasher.
func crashMain() {
	at, _ := strconv.Atoi(os.Getenv("CRASH_AT"))
	d := &crashDisk{
		at: at, lose: os.Getenv("CRASH_MODE") == "lose", forget: os.Getenv("CRASH_MODE") == "forget",
		tally: os.Getenv("CRASH_TALLY"), files: make(map[string]*crashFile),
	}
	p := &program{screen: screen{stdout: os.Stdout, stderr: os.Stderr}, stdin: os.Stdin, environ: config.Process, disk: d}
	code := p.run(os.Args[1:])
	if d.tally != "" {
		_ = os.WriteFile(d.tally, []byte(strconv.Itoa(d.n)), 0o600)
	}
	os.Exit(code)
}

// A crashCase is a command that is killed at each of its steps.
type crashCase struct {
	name  string
	setup func(t *testing.T, c *crashRun) // what is there before
	args  []string
	check func(t *testing.T, c *crashRun) // what must hold afterwards, beside what always must
}

// A crashRun is one store and what was in it before the command ran.
type crashRun struct {
	t      *testing.T
	home   string
	saved  string            // a copy of home as it was before the command ran
	before map[string]string // path → bytes of every note
	out    string            // what the killed command said
}

func (c *crashRun) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.home
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "ANAMNESIS_") || strings.HasPrefix(kv, "GIT_")
	}), "HOME="+c.home, "USERPROFILE="+c.home, "ANAMNESIS_MACHINE_ID=crashbox", "ANAMNESIS_PATIENCE="+patience, "ANAMNESIS_SYNC=off", "CRASH_STORE="+c.store())
	return cmd
}

func (c *crashRun) store() string { return filepath.Join(c.home, ".anamnesis") }

func (c *crashRun) run(args ...string) string {
	c.t.Helper()
	out, err := c.command("anamnesis", args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("anamnesis %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// notes reads every note file in the trees.
func (c *crashRun) notes() map[string]string {
	all := make(map[string]string)
	_ = filepath.WalkDir(c.store(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".md") && !strings.HasPrefix(d.Name(), ".") {
			data, _ := os.ReadFile(path)
			rel, _ := filepath.Rel(c.store(), path)
			all[filepath.ToSlash(rel)] = string(data)
		}
		return nil
	})
	return all
}

func (c *crashRun) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// transcript is a session file; each call with a larger n is a longer session.
func transcript(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"user","sessionId":"s-crash","cwd":"/src/app","timestamp":"2026-05-01T10:%02d:00Z","uuid":"u%d","message":{"role":"user","content":"please do step %d of the migration"}}`+"\n", i, i, i)
		fmt.Fprintf(&b, `{"type":"assistant","sessionId":"s-crash","timestamp":"2026-05-01T10:%02d:30Z","uuid":"a%d","message":{"role":"assistant","content":[{"type":"text","text":"step %d of the migration is done and verified"}]}}`+"\n", i, i, i)
	}
	return b.String()
}

// spool leaves a job as a hook does.
func (c *crashRun) spool(file, session string) {
	c.t.Helper()
	s, err := store.Open(store.Options{Root: c.store(), Home: c.home})
	if err != nil {
		c.t.Fatal(err)
	}
	fi, err := os.Stat(filepath.Join(c.home, file))
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := queue.Of(s).Enqueue(queue.Capture, "", capture.Job{
		Harness: "claude", Event: "SessionEnd", Source: "session-end", Session: session,
		Transcript: filepath.Join(c.home, file), Offset: fi.Size(), Dir: "/src/app", Project: "app",
	}, time.Time{}); err != nil {
		c.t.Fatal(err)
	}
}

var crashCases = []crashCase{
	{
		name: "add",
		args: []string{"add", "--title", "a new fact", "--body", "which must not be lost", "--project", "app"},
		check: func(t *testing.T, c *crashRun) {
			if strings.Contains(c.out, "wrote") && c.holding("which must not be lost") != 1 {
				t.Error("the note was acknowledged and is gone")
			}
			c.run("add", "--title", "a new fact", "--body", "which must not be lost", "--project", "app")
			if n := c.holding("which must not be lost"); n != 1 {
				t.Errorf("%d notes hold the fact after it was added again", n)
			}
		},
	},
	{
		name: "absorb",
		args: []string{"add", "--title", "an old fact", "--body", "already here", "--project", "app", "--tag", "more"},
		check: func(t *testing.T, c *crashRun) {
			c.run("add", "--title", "an old fact", "--body", "already here", "--project", "app", "--tag", "more")
			if c.holding("already here") != 1 || c.holding("- more") != 1 {
				t.Error("the tag was not added to the one note")
			}
			if !c.inHistory("already here") {
				t.Error("history does not hold the former state")
			}
		},
	},
	{
		name:  "capture",
		setup: func(_ *testing.T, c *crashRun) { c.write("s.jsonl", transcript(2)) },
		args:  []string{"capture", "--transcript", "s.jsonl", "--project", "app", "--no-sync"},
		check: func(t *testing.T, c *crashRun) { c.captured(t, "step 1") },
	},
	{
		name: "recapture",
		setup: func(_ *testing.T, c *crashRun) {
			c.write("s.jsonl", transcript(2))
			c.run("capture", "--transcript", "s.jsonl", "--project", "app", "--no-sync")
			c.write("s.jsonl", transcript(5))
		},
		args:  []string{"capture", "--transcript", "s.jsonl", "--project", "app", "--no-sync"},
		check: func(t *testing.T, c *crashRun) { c.captured(t, "step 4") },
	},
	{
		name: "drain",
		setup: func(_ *testing.T, c *crashRun) {
			// Another session has lines with its own ids; with the same ones it were a fork.
			other := strings.NewReplacer("s-crash", "o-crash", "migration", "rollout", `"uuid":"`, `"uuid":"o`)
			c.write("s.jsonl", transcript(3))
			c.write("o.jsonl", other.Replace(transcript(2)))
			c.spool("s.jsonl", "s-crash")
			c.spool("s.jsonl", "s-crash")
			c.spool("o.jsonl", "o-crash")
		},
		args: []string{"drain"},
		check: func(t *testing.T, c *crashRun) {
			c.run("drain")
			if c.holding("of the migration is done") != 1 || c.holding("of the rollout is done") != 1 {
				t.Error("the drain did not leave one note for each session")
			}
			if left, _ := filepath.Glob(filepath.Join(c.store(), "spool", "*.json")); len(left) > 0 {
				t.Errorf("jobs left: %v", left)
			}
			if bad, _ := filepath.Glob(filepath.Join(c.store(), "spool", "poisoned", "*")); len(bad) > 0 {
				t.Errorf("one kill poisoned %v", bad)
			}
		},
	},
	{
		name: "show after heal",
		setup: func(t *testing.T, c *crashRun) {
			if err := os.WriteFile(filepath.Join(c.store(), "index.db"), []byte("garbage"), 0o600); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(c.store(), "index.db-wal"))
			_ = os.RemoveAll(filepath.Join(c.store(), "local"))
		},
		args: []string{"show", "OLD1"},
	},
}

// captured checks that capturing once more leaves one note, of the whole session.
func (c *crashRun) captured(t *testing.T, last string) {
	c.run("capture", "--transcript", "s.jsonl", "--project", "app", "--no-sync")
	if n := c.holding("of the migration is done"); n != 1 {
		t.Errorf("%d notes of one session", n)
	}
	if c.holding(last) != 1 {
		t.Errorf("the note does not end with %q", last)
	}
}

func (c *crashRun) holding(text string) int {
	n := 0
	for path, body := range c.notes() {
		if !strings.HasPrefix(path, "history/") && strings.Contains(body, text) {
			n++
		}
	}
	return n
}

func (c *crashRun) inHistory(text string) bool {
	for path, body := range c.notes() {
		if strings.HasPrefix(path, "history/") && strings.Contains(body, text) {
			return true
		}
	}
	return false
}

// TestCrash kills a fresh process at every step of every case, three times: as
// it is, with unsynced data lost, and with unsynced names lost too. Whatever
// the moment: no note is lost, none is half, and the index heals itself. Who runs
// all tests by hand waits for them: outside CI it is every second step, in one of
// the three ways in turn.
func TestCrash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a process that can kill itself at once")
	}
	for _, cc := range crashCases {
		t.Run(cc.name, func(t *testing.T) {
			storetest.SkipQuick(t, "capture")
			t.Parallel()
			c := newCrashRun(t, cc)
			c.rewind()
			tally := filepath.Join(c.home, "tally")
			cmd := c.command("crasher", cc.args...)
			cmd.Env = append(cmd.Env, "CRASH_TALLY="+tally)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("uninterrupted: %v\n%s", err, out)
			}
			data, err := os.ReadFile(tally)
			if err != nil {
				t.Fatal(err)
			}
			steps, _ := strconv.Atoi(string(data))
			if steps == 0 {
				t.Fatal("the command made no step; the test tests nothing")
			}
			t.Logf("%d steps", steps)
			modes := []string{"kill", "lose", "forget"}
			every := os.Getenv("ANAMNESIS_CI") != "" || os.Getenv("ANAMNESIS_SOAK") != ""
			for at := 1; at <= steps; at++ {
				for i, mode := range modes {
					if every || at%2 == 1 && (at/2+i)%len(modes) == 0 {
						c.crashAt(t, cc, at, mode)
					}
				}
			}
		})
	}
}

// newCrashRun makes a store with two notes, one of them in local/, and the case's own setup.
func newCrashRun(t *testing.T, cc crashCase) *crashRun {
	c := &crashRun{t: t, home: t.TempDir()}
	old := note.Note{
		ID: "OLD1", Type: note.Semantic, Title: "an old fact", Body: "already here", Project: "app", Scope: note.Portable, MachineID: "m",
		UserID: "self", WorkspaceID: "personal", Provenance: note.Provenance{Source: note.Human, Confidence: 1},
		CreatedAt: "2026-01-01T00:00:00+00:00", UpdatedAt: "2026-01-01T00:00:00+00:00",
	}
	c.write(".anamnesis/memory/semantic/OLD1.md", string(old.Format()))
	other := old
	other.ID, other.Body = "OLD2", "quite another thing that stays"
	c.write(".anamnesis/memory/procedural/deep/OLD2.md", strings.Replace(string(other.Format()), "type: semantic", "type: procedural", 1))
	c.run("list")
	if cc.setup != nil {
		cc.setup(t, c)
	}
	c.before, c.saved = c.notes(), t.TempDir()
	copyTree(t, c.home, c.saved)
	return c
}

// rewind makes everything as it was before the command ran, in the same place.
func (c *crashRun) rewind() {
	c.t.Helper()
	if left := waitForChildren(c.home, idleTime); len(left) > 0 {
		c.t.Fatalf("background runs do not end: %v", left)
	}
	if err := os.RemoveAll(c.home); err != nil {
		c.t.Fatal(err)
	}
	copyTree(c.t, c.saved, c.home)
}

// copyTree copies files with their times, by which the index knows them again.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err == nil {
			err = errors.Join(os.Chmod(filepath.Join(to, rel), fi.Mode()), os.Chtimes(filepath.Join(to, rel), fi.ModTime(), fi.ModTime()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (c *crashRun) crashAt(t *testing.T, cc crashCase, at int, mode string) {
	c.t = t
	c.rewind()
	cmd := c.command("crasher", cc.args...)
	cmd.Env = append(cmd.Env, "CRASH_AT="+strconv.Itoa(at), "CRASH_MODE="+mode)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err == nil {
		t.Errorf("step %d, %s: the process was not killed", at, mode)
		return
	}
	c.out = out.String()
	t.Run(fmt.Sprintf("%s-at-%d", mode, at), func(t *testing.T) {
		c.t = t
		c.healthy(t)
		if cc.check != nil {
			cc.check(t, c)
		}
		c.healthy(t)
	})
}

// healthy checks what must hold after any crash.
func (c *crashRun) healthy(t *testing.T) {
	t.Helper()
	now := c.notes()
	for path, was := range c.before {
		text, ok := now[path]
		switch {
		case !ok:
			t.Errorf("%s is gone", path)
		case text != was && !c.inHistory(was) && !strings.HasPrefix(path, "history/"):
			t.Errorf("%s changed and its former state is nowhere:\n%s", path, text)
		}
	}
	for path, text := range now {
		if _, err := note.Parse([]byte(text)); err != nil {
			t.Errorf("%s is half a note: %v\n%q", path, err, text)
		}
	}
	s, err := store.Open(store.Options{Root: c.store(), Home: c.home})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite.Open(context.Background(), sqlite.Options{Path: s.Path("index.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ix := index.New(db, s, index.Embedding{})
	rep, err := ix.Sync(context.Background(), index.SyncOptions{})
	if err != nil || len(rep.Problems) > 0 {
		t.Fatalf("the index does not heal: %v %v", err, rep.Problems)
	}
	rows, err := ix.Select(context.Background(), index.Filter{Dead: true}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for path := range now {
		if !strings.HasPrefix(path, "history/") && !strings.HasPrefix(path, "spool/") {
			want++
		}
	}
	if len(rows) != want {
		t.Errorf("the index knows %d notes, the disk has %d", len(rows), want)
	}
}
