package mcp

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/connect"
	"anamnesis/internal/store"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// hookTime is how long an agent waits for the answer to one of its events.
const hookTime = 2 * time.Second

// quiet is the answer that says nothing. Of an empty one Claude Code tells its model that a hook
// completed.
const quiet = "{}"

// hookInput is what an event holds besides what its agent says of it.
type hookInput struct {
	Agent string `json:"anamnesis_agent"`
	Key   string `json:"anamnesis_key"`
}

// Why an event is refused. The caller gets the answer that says nothing, and the event log the reason, once for each
// server.
var (
	errModelsCall   = errors.New("refused: a model called it, not a hook")
	errRemoteHook   = errors.New("refused: it came over HTTP; only the client that started the server sends events")
	errNoKey        = errors.New("refused: it lacks the key of this store; `anamnesis init` writes the key into the hooks")
	errNoSession    = errors.New("refused: it names no session")
	errOtherSession = errors.New("refused: it names another session than the one of its client")
	errTranscript   = errors.New("refused: the transcript that it names is not among the sessions of its agent")
)

// answersHook returns the answer to a call of connect.HookTool, which is in no list of tools: an
// agent calls it at its events, as it would start a hook, and no model sees it. ok is false for
// any other request. A failure is for the event log: the agent gets the answer that says nothing.
func (s *Server) answersHook(ctx context.Context, req sdk.Request) (res *sdk.CallToolResult, ok bool) {
	call, is := req.(*sdk.CallToolRequest)
	if !is || call.Params.Name != connect.HookTool {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	reply, e, err := s.hook(ctx, call)
	if err != nil {
		hooks.HookFailed(s.rooms, e, err)
	}
	if len(reply) == 0 {
		reply = []byte(quiet)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(reply)}}}, true
}

func (s *Server) hook(ctx context.Context, call *sdk.CallToolRequest) (reply []byte, e agent.Event, err error) {
	args := call.Params.Arguments
	var in hookInput
	if json.Unmarshal(args, &in) != nil {
		in.Key = ""
	}
	if err := s.mayCall(call, in.Key); err != nil {
		s.events.refuse(s.rooms.Store, err)
		return nil, e, nil
	}
	h := agent.ByName(in.Agent)
	if h == nil || h.Hooks == nil {
		h = agent.Default()
	}
	if e, err = agent.ReadEvent(h, bytes.NewReader(args), MaxLine, 0); err != nil {
		return nil, e, err
	}
	if s.rooms.Config.Disabled {
		return nil, e, nil
	}
	if err := s.events.admit(s.rooms.Store, call.Session, h, e); err != nil {
		s.events.refuse(s.rooms.Store, err)
		return nil, e, nil
	}
	if _, err := os.Lstat(e.TranscriptPath); err != nil { // before its first prompt a session may have none
		e.TranscriptPath = ""
	} else if !ownTranscript(s.rooms.Config.SessionHomes()[e.Harness], agent.ByName(e.Harness), e.TranscriptPath) {
		s.events.refuse(s.rooms.Store, errTranscript)
		e.TranscriptPath = ""
	}
	reply, err = hooks.AnswerEvent(ctx, s.rooms, h, e)
	return reply, e, err
}

// mayCall returns why a call cannot come from one of our hooks, nil if it can.
func (s *Server) mayCall(call *sdk.CallToolRequest, key string) error {
	want := connect.HookKey(s.rooms.Store.Root())
	switch {
	case agent.CalledByModel(call.Params.Meta):
		return errModelsCall
	case call.Extra != nil && call.Extra.Header != nil:
		return errRemoteHook
	case want == "" || subtle.ConstantTimeCompare([]byte(key), []byte(want)) != 1:
		return errNoKey
	}
	return nil
}

// hookEvents keeps whose events a server answers. The zero value is ready.
type hookEvents struct {
	mu      sync.Mutex
	bound   map[*sdk.ServerSession]binding
	refused map[error]bool
}

// A binding is the session of an agent whose events a client sends.
type binding struct {
	session string
	file    string // of the event log at that time
	size    int64
}

// admit returns why the session of an event is not that of its client, nil if it is. The first event of a client says
// which session it works in; another session takes its place once it began, which its own hook records.
func (h *hookEvents) admit(s *store.Store, client *sdk.ServerSession, of *agent.Harness, e agent.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	is, ok := h.bound[client]
	kind, _ := of.Hooks.Kind(e.Name)
	switch {
	case e.SessionID == "":
		return errNoSession
	case ok && is.session == e.SessionID:
		return nil
	case ok && kind != agent.SessionStart && !is.followedBy(s, e.SessionID):
		return errOtherSession
	}
	is = binding{session: e.SessionID}
	if files, err := s.Events().Files(); err == nil && len(files) > 0 {
		is.file = files[len(files)-1]
		if fi, err := os.Lstat(s.Path("events/" + is.file)); err == nil {
			is.size = fi.Size()
		}
	}
	if h.bound == nil {
		h.bound = make(map[*sdk.ServerSession]binding)
	}
	h.bound[client] = is
	return nil
}

// followedBy reports whether a session started after the binding was made.
func (b binding) followedBy(s *store.Store, session string) (started bool) {
	files, err := s.Events().Files()
	if err != nil {
		return false
	}
	for _, file := range files {
		if file < b.file {
			continue
		}
		from := b.size
		if file != b.file {
			from = 0
		}
		_, _ = s.Events().Records(file, from, func(r store.Record) {
			started = started || r.Kind == store.Started && r.Session == session
		})
	}
	return started
}

// drop forgets a client.
func (h *hookEvents) drop(client *sdk.ServerSession) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.bound, client)
}

// refuse records a refusal, each reason once.
func (h *hookEvents) refuse(s *store.Store, why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused[why] || s.ReadOnly() {
		return
	}
	if h.refused == nil {
		h.refused = make(map[error]bool)
	}
	h.refused[why] = true
	_ = s.Events().Log(store.Record{Kind: store.HookRefused, Text: connect.HookTool, Error: why.Error()})
}

// ownTranscript reports whether a transcript is where an agent keeps its sessions, with no link that leads out of
// there. home is the folder of its sessions; the folder in it may be a link itself, to another disk.
func ownTranscript(home string, h *agent.Harness, file string) bool {
	real, err := filepath.EvalSymlinks(file)
	if err != nil || home == "" || h == nil || h.Sessions == nil {
		return false
	}
	for _, pattern := range h.Sessions.SessionFiles() {
		fixed, rest := "", pattern
		for !strings.ContainsAny(strings.SplitN(rest, "/", 2)[0], `*?[`) && strings.Contains(rest, "/") {
			first, after, _ := strings.Cut(rest, "/")
			fixed, rest = path.Join(fixed, first), after
		}
		base, err := filepath.EvalSymlinks(filepath.Join(home, filepath.FromSlash(fixed)))
		if err != nil {
			continue
		}
		below, err := filepath.Rel(base, real)
		if err != nil || !filepath.IsLocal(below) {
			continue
		}
		if ok, _ := path.Match(rest, filepath.ToSlash(below)); ok {
			return true
		}
	}
	return false
}
