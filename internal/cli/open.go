package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"anamnesis/internal/capture"
	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/ingest"
	"anamnesis/internal/inject"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// A memory is the rooms, wired.
type memory struct {
	p        *program
	store    *store.Store
	index    *index.Index
	redactor *redact.Redactor
	ingester *ingest.Ingester
	engine   *recall.Engine
	injector *inject.Injector
	recorder *capture.Recorder

	stale  int    // files the index does not know yet; -1 when nobody counted
	notice string // what opening the index did
	rules  error  // why the user's redaction rules cannot be used
}

// openStore opens the files alone: all that a capture hook needs.
func (p *program) openStore() (*store.Store, error) {
	return store.Open(store.Options{Root: p.cfg.Home, Home: p.cfg.UserHome, Disk: p.disk})
}

// openFiles opens all but the index, and what stands on it.
func (p *program) openFiles() (*memory, error) {
	s, err := p.openStore()
	if err != nil {
		return nil, err
	}
	m := &memory{p: p, store: s}
	if m.redactor, err = openRedactor(s); err != nil {
		m.rules = err // reading goes on; what a machine wrote waits (mayRedact)
		if m.redactor, err = redact.New(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// busyTime is how long a command waits for another writer of the index.
const busyTime = 5 * time.Second

// open opens everything. busy is how long to wait for another writer of the
// index, 0 the usual.
func (p *program) open(ctx context.Context, busy time.Duration) (*memory, error) {
	m, err := p.openFiles()
	if err != nil {
		return nil, err
	}
	s := m.store
	db, err := sqlite.Open(ctx, sqlite.Options{Path: s.Path("index.db"), ReadOnly: s.ReadOnly(), Busy: p.cfg.Wait(cmp.Or(busy, busyTime)), Keep: p.glancing, Mapped: p.lasting})
	if err != nil {
		return nil, err
	}
	m.notice = db.Notice()
	models, embedding, err := p.models(m)
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	m.index = index.New(db, s, embedding)
	m.ingester = ingest.New(s, m.index, m.redactor, p.cfg.Ingest)
	m.engine = recall.New(m.index, s, p.cfg.Recall, models)
	m.injector = inject.New(m.engine, s, p.cfg.Inject)
	m.recorder = capture.New(s, m.ingester, m.redactor, p.cfg.Capture)
	return m, nil
}

func (m *memory) close() { _ = m.index.Close() }

// mayRedact returns why nothing that has to be redacted may be written now: the
// user's own rules cannot be read, and without them it would not be redacted as
// they want it.
func (m *memory) mayRedact() error { return m.rules }

// walkBudget is how long a command looks for changed files before it answers.
const walkBudget = 50 * time.Millisecond

// openWalked opens everything for a command and brings the index into step, as
// far as that goes at once. What is left is done by a run in the background.
func (p *program) openWalked(ctx context.Context) (*memory, error) {
	return p.openWithin(ctx, p.cfg.Wait(walkBudget))
}

// openWhole is openWalked for commands that decide about many notes at once:
// they wait until the index knows all of them.
func (p *program) openWhole(ctx context.Context) (*memory, error) { return p.openWithin(ctx, 0) }

// openWithin is openWalked with a time for the walk; 0 has no end.
func (p *program) openWithin(ctx context.Context, budget time.Duration) (*memory, error) {
	m, err := p.open(ctx, 0)
	if err != nil {
		return nil, err
	}
	whole := budget == 0
	if _, _, walked, err := m.index.State(ctx); err == nil && walked.IsZero() {
		budget = 0 // a new index: an answer from nothing would be wrong
	}
	progress := p.progress("indexing notes")
	rep, err := m.index.Sync(ctx, index.SyncOptions{Budget: budget, Progress: progress.step})
	progress.done()
	if sqlite.Busy(err) && !whole { // somebody else brings it into step
		rep.Stale, err = -1, nil
	}
	if err != nil {
		m.close()
		return nil, err
	}
	m.stale = rep.Stale
	if m.notice != "" {
		p.note("%s", m.notice)
	}
	if rep.Healed && m.notice == "" && !m.store.ReadOnly() {
		p.note("the index was damaged and has been made anew from the notes")
	}
	if rep.Stale != 0 && !m.store.ReadOnly() {
		if rep.Stale > 0 {
			p.note("%d changed notes are not in the answer yet; they are being indexed in the background", rep.Stale)
		} else {
			p.note("changed notes may be missing from the answer; they are being indexed in the background")
		}
		_ = p.detach("drain")
	}
	return m, nil
}

// openRedactor makes the redactor with the user's own rules.
func openRedactor(s *store.Store) (*redact.Redactor, error) {
	name := s.Path("redact.toml")
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return redact.New()
	}
	if err != nil {
		return nil, fmt.Errorf("read redaction rules: %w", err)
	}
	rules, err := redact.ParseRules(name, data)
	if err != nil {
		return nil, err
	}
	return redact.New(rules...)
}

// replica opens the repository of the portable notes.
func (p *program) replica(m *memory, x exchange) (replica.Backend, error) {
	o := m.replicaOptions(x)
	o.Env = os.Environ()
	return replica.Open(o)
}

// project returns the project a command is about: the one named, or the one of
// the folder it runs in for "" and ".".
func (p *program) project(s *store.Store, name string) store.Identity {
	if name != "" && name != "." {
		return store.Identity{Key: s.Canonical(name), Source: "flag"}
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = string(filepath.Separator)
	}
	return s.Identify(dir)
}
