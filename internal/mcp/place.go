package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/store/project"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// everywhere is what a call names to ask the notes of all projects.
const everywhere = "*"

const maxKey = 300 // characters of the key of a project

// A caller is who makes a call, as far as we ask.
type caller struct {
	session *sdk.ServerSession
	roots   bool // it can be asked in which folders it works
	byModel bool // the client says that a model called: a hook's call is asked of no user
}

// lastWithRoots is the last version of the protocol in which a server may ask a
// client for its roots.
const lastWithRoots = "2025-11-25"

func callerOf[P sdk.Params](r *sdk.ServerRequest[P]) caller {
	c := caller{session: r.Session}
	caps := r.ClientCapabilities()
	if c.session != nil && caps != nil && r.ProtocolVersion() <= lastWithRoots {
		c.roots = caps.RootsV2 != nil //nolint:staticcheck // deprecated from 2026-07-28 on, and what older clients have
	}
	return c
}

// A place is the project that a call is about.
type place struct {
	id  project.Identity // its key is empty when nobody knows
	dir string           // of the project, "" when it was named
}

// place works out the project of a call: the one that it names; else, for "" and
// ".", that of the client's folders, or of the folder the server was started in.
func (s *Server) place(ctx context.Context, c caller, named string) (place, error) {
	switch {
	case len([]rune(named)) > maxKey:
		return place{}, errors.New("the project's key is longer than 300 characters")
	case strings.ContainsFunc(named, unicode.IsControl):
		return place{}, errors.New("the project's key holds a control character")
	}
	if named == note.Global { // no client need be asked where it is
		return place{id: project.Identity{Key: note.Global, Source: "call"}}, nil
	}
	here := place{dir: s.dir(ctx, c)}
	if here.dir != "" {
		here.id = app.Here(ctx, s.rooms, here.dir)
	}
	if here.id.Key == project.Unknown { // the root folder, where some clients start their servers
		here = place{}
	}
	if named == "" || named == "." {
		return here, nil
	}
	if folder, ok := strings.CutPrefix(named, "//"); ok {
		return s.below(here, folder)
	}
	key := project.Canonical(s.rooms.Store, named)
	if here.dir != "" && project.Canonical(s.rooms.Store, here.id.Key) == key {
		return here, nil // its branches are known then
	}
	return place{id: project.Identity{Key: key, Source: "call"}}, nil
}

// below returns the place of a folder of the present repository, given relative to its top.
func (s *Server) below(here place, folder string) (place, error) {
	top := project.Top(here.dir)
	if here.dir == "" || top == "" {
		return place{}, fmt.Errorf("project //%s: this session is not in a repository", folder)
	}
	dir := filepath.FromSlash(folder)
	if !filepath.IsLocal(dir) {
		return place{}, fmt.Errorf("project //%s: give the folder relative to the top of the repository", folder)
	}
	if fi, err := os.Stat(filepath.Join(top, dir)); err != nil || !fi.IsDir() {
		return place{}, fmt.Errorf("project //%s: the repository has no such folder", folder)
	}
	key, err := project.BelowOf(s.rooms.Store, filepath.Join(top, dir))
	if err != nil {
		return place{}, fmt.Errorf("project //%s: %w", folder, err)
	}
	here.id.Key = key
	return here, nil
}

// scope works out which notes a question is about: of the project that is named
// and no other; of all for "*"; else of the present project and those for every
// project. Where no project is known, all are asked.
func (s *Server) scope(ctx context.Context, c caller, named string) (recall.Scope, error) {
	reach := s.opts.Reach
	if named == everywhere {
		reach.Global, named = true, ""
	}
	p, err := s.place(ctx, c, named)
	if err != nil {
		return recall.Scope{}, err
	}
	if reach.Only = named != ""; reach.Only {
		reach.Global = false
	}
	if p.id.Key == "" {
		if named != "" {
			return recall.Scope{}, errNowhere
		}
		return recall.ScopeOf(recall.Place{}, recall.ScopeOptions{Global: true, AllBranches: true}), nil
	}
	branch := ""
	if p.dir != "" {
		branch = project.BranchScope(p.dir, p.id.Branch)
	}
	at, err := s.rooms.Engine.Place(ctx, p.id, branch, reach.Global, func(some []string) []string {
		return app.OpenBranches(ctx, s.rooms, p.dir, some)
	})
	if err != nil {
		return recall.Scope{}, err
	}
	return recall.ScopeOf(at, reach), nil
}

var errNowhere = errors.New("the present project is not known here; name it with project")

// dir returns the folder that a caller works in, "" when nobody knows.
func (s *Server) dir(ctx context.Context, c caller) string {
	if c.roots {
		if dir := s.roots.of(ctx, c.session, s.opts.Wait); dir != "" {
			return dir
		}
	}
	return s.opts.Dir
}

// roots remembers in which folder each client works. The zero value is ready.
type roots struct {
	mu  sync.Mutex
	all map[*sdk.ServerSession]root
}

type root struct {
	dir   string
	until time.Time // zero: until the client says that it changed
}

const (
	rootsRetry = time.Minute // after a client gave none
	maxRoots   = 256         // sessions that are remembered
)

// of asks a client for its folders, once, and returns the first that is there.
func (r *roots) of(ctx context.Context, ss *sdk.ServerSession, wait time.Duration) string {
	r.mu.Lock()
	known, ok := r.all[ss]
	r.mu.Unlock()
	if ok && (known.until.IsZero() || time.Now().Before(known.until)) {
		return known.dir
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var found root
	list, err := ss.ListRoots(ctx, nil) //nolint:staticcheck // deprecated from 2026-07-28 on, and what older clients have
	if err != nil {
		found.until = time.Now().Add(rootsRetry)
	} else {
		for _, one := range list.Roots {
			if found.dir = folder(one.URI); found.dir != "" {
				break
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil || len(r.all) >= maxRoots {
		r.all = make(map[*sdk.ServerSession]root)
	}
	r.all[ss] = found
	return found.dir
}

// drop forgets what a client said.
func (r *roots) drop(ss *sdk.ServerSession) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, ss)
}

// folder returns the folder of this machine that a file URI names, or "".
func folder(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	path = filepath.Clean(filepath.FromSlash(path))
	if !filepath.IsAbs(path) {
		return ""
	}
	if fi, err := os.Stat(path); err != nil || !fi.IsDir() {
		return ""
	}
	return path
}
