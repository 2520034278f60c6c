package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
)

// A stage is one run: its programs, its table, its temporary folder.
type stage struct {
	ctx   context.Context
	short bool
	seed  uint64
	sizes []int
	table *table

	dir                   string
	program, hello, rough string // the binaries; rough is the naive one
}

const helloWorld = `package main

import "fmt"

func main() { fmt.Println("hello, world") }
`

// open makes the folder and builds the programs.
func (s *stage) open() (err error) {
	if s.dir, err = os.MkdirTemp("", "anamnesis-bench-"); err != nil {
		return err
	}
	source := filepath.Join(s.dir, "hello.go")
	if err := os.WriteFile(source, []byte(helloWorld), 0o600); err != nil {
		return err
	}
	s.program, s.hello, s.rough = s.binary("anamnesis"), s.binary("hello"), s.binary("naive")
	if err := s.build(root, s.program, "."); err != nil {
		return err
	}
	if err := s.build("", s.hello, source); err != nil {
		return err
	}
	return s.build("", s.rough, naive)
}

// Where programs stand: this one runs in the folder of the laboratory.
const (
	root  = ".."
	naive = "anamnesis/lab/naive"
)

// build builds a program as it is released, in a folder; "" is this one.
func (s *stage) build(dir, out, pkg string) error {
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg}
	if s.short { // what "go run -C lab ./bench" has compiled can be used again
		args = append([]string{"build"}, args[2:]...)
	}
	cmd := exec.CommandContext(s.ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", args, err, msg)
	}
	return nil
}

func (s *stage) binary(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(s.dir, name)
}

func (s *stage) close() { _ = os.RemoveAll(s.dir) }

// rounds is how many turns a measure takes.
func (s *stage) rounds(full int) int {
	if s.short {
		return max(3, full/8)
	}
	return full
}

// A stand is a store of some size, open in this process.
type stand struct {
	notes     int
	corpus    *corpus
	questions []string
	home      string // of the user who has it
	root      string
	work      string // the folder of a project
	rough     string // the naive program's database

	cfg      *config.Config
	store    *store.Store
	index    *index.Index
	redactor *redact.Redactor
	engine   *recall.Engine
	ingester *ingest.Ingester
	release  func() // of the drain lock
}

// stand makes a store with an index and a repository, as one in use has them.
func (s *stage) stand(notes int) (*stand, error) {
	home := filepath.Join(s.dir, fmt.Sprintf("home-%d", notes))
	st := &stand{
		notes: notes, corpus: newCorpus(s.seed), home: home, root: filepath.Join(home, ".anamnesis"),
		work: filepath.Join(home, "src", "work"), rough: filepath.Join(home, "naive.db"),
	}
	var err error
	if st.questions, err = st.corpus.write(st.root, notes, 200); err != nil {
		return nil, err
	}
	if err := st.checkout(3); err != nil {
		return nil, err
	}
	none := func(string) (string, bool) { return "", false }
	st.cfg = config.Load(config.Environment{Lookup: none, UserHome: home, Hostname: "bench", Flags: []string{"home=" + st.root}})
	if err := st.open(s.ctx); err != nil {
		return nil, err
	}
	if err := st.holdDrains(); err != nil {
		return nil, err
	}
	if _, err := st.index.Sync(s.ctx, index.SyncOptions{}); err != nil {
		return nil, err
	}
	if err := st.calibrate(s.ctx); err != nil {
		return nil, err
	}
	if _, _, err := (child{args: []string{s.rough, "build", st.rough, st.root}}).run(); err != nil {
		return nil, err
	}
	return st, st.commit(s.ctx)
}

// calibrate works out what a background run works out once (the copy of the
// vectors, the numbers of the gate), so that no question of a store in use has to.
func (st *stand) calibrate(ctx context.Context) error {
	if _, err := st.index.EmbedMissing(ctx, time.Minute, nil); err != nil {
		return err
	}
	_, err := st.engine.CalibrateAll(ctx)
	return err
}

// checkout makes the folder of a project, with a repository's address in it.
func (st *stand) checkout(project int) error {
	git := filepath.Join(st.work, ".git")
	if err := os.MkdirAll(git, 0o700); err != nil {
		return err
	}
	remote := fmt.Sprintf("[remote \"origin\"]\n\turl = https://%s.git\n", projectKey(project))
	return errors.Join(os.WriteFile(filepath.Join(git, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		os.WriteFile(filepath.Join(git, "config"), []byte(remote), 0o600))
}

// open opens the store as the program does.
func (st *stand) open(ctx context.Context) (err error) {
	if st.store, err = store.Open(store.Options{Root: st.root, Home: st.home}); err != nil {
		return err
	}
	if st.redactor, err = redact.New(); err != nil {
		return err
	}
	db, err := sqlite.Open(ctx, sqlite.Options{Path: st.store.Path("index.db")})
	if err != nil {
		return err
	}
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		return err
	}
	st.index = index.New(db, st.store, index.Embedding{Local: words})
	st.engine = recall.New(st.index, st.store, st.cfg.Recall, recall.Models{Words: words})
	st.ingester = ingest.New(st.store, st.index, st.redactor, st.cfg.Ingest)
	return nil
}

// holdDrains takes the drain lock, so that the background runs which commands
// and hooks start find it taken, leave at once and disturb no measure.
func (st *stand) holdDrains() error {
	release, ok, err := st.store.TryLock("drain")
	if err != nil || !ok {
		return fmt.Errorf("the drain lock is taken: %w", err)
	}
	st.release = release
	return nil
}

// leave is how long such a run needs to leave.
const leave = 40 * time.Millisecond

// removeIndex closes the index and deletes it.
func (st *stand) removeIndex() error {
	if err := st.index.Close(); err != nil {
		return err
	}
	for _, ext := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(st.store.Path("index.db" + ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// commit puts the notes into a repository, as sync does.
func (st *stand) commit(ctx context.Context) error {
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-q", "-m", "notes"},
		{"status", "--porcelain"},
	} {
		cmd := st.git(ctx, append([]string{"-c", "core.fsync=none", "-c", "gc.auto=0"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

func (st *stand) git(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = filepath.Join(st.root, "memory")
	cmd.Env = append(os.Environ(), "HOME="+st.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_OPTIONAL_LOCKS=0")
	return cmd
}

// close closes the store and makes room for the next one.
func (st *stand) close() error {
	time.Sleep(5 * leave)
	st.release()
	return errors.Join(st.index.Close(), os.RemoveAll(st.home))
}

// hook is a child that runs the program as an agent's hook does.
func (s *stage) hook(st *stand, stdin []byte, args ...string) child {
	c := s.command(st, args...)
	c.stdin = stdin
	c.env = append(c.env, "ANAMNESIS_HOOK=1")
	return c
}

// command is a child that runs the program as a person does.
func (s *stage) command(st *stand, args ...string) child {
	return child{
		args: append([]string{s.program}, args...), dir: st.work,
		env: []string{"HOME=" + st.home, "USERPROFILE=" + st.home, "ANAMNESIS_HOME=" + st.root},
	}
}
