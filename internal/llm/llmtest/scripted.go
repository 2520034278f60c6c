package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A Scripted is a model for a real coding agent: a server on loopback that speaks
// the protocol of its vendor, whichever of four it is asked in, and answers what the
// prompt scripts. No account and no network is needed.
//
// In the newest message of the user, lines that begin with @ are the script:
//
//	@tool NAME {"json": "arguments"}  the model calls that tool; one call a turn, in order
//	@force NAME {"json": "arguments"} the same, even if the agent offers no tool
//	@say TEXT                         the text of the last turn; several lines are joined
//	@fail STATUS                      the server refuses with that status
//	@hang                             the server answers nothing until it is closed
//
// Without a script the model says "Done.".
type Scripted struct {
	*httptest.Server

	mu       sync.Mutex
	requests []string
	calls    int
	stop     chan struct{}
}

// NewScripted starts one. It ends with its test.
func NewScripted(t testing.TB) *Scripted {
	s := &Scripted{stop: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		close(s.stop)
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Requests returns the bodies of all requests since the last Forget, one a line.
func (s *Scripted) Requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.requests, "\n")
}

// Forget drops the requests seen so far.
func (s *Scripted) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

func (s *Scripted) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/count_tokens"):
		respond(w, http.StatusOK, map[string]any{"input_tokens": len(body) / 4})
	case strings.HasSuffix(r.URL.Path, "/v1/messages") && r.Method == http.MethodPost:
		s.mu.Lock()
		s.requests = append(s.requests, string(body))
		s.calls++
		n := s.calls
		s.mu.Unlock()
		s.messages(w, body, n)
	case strings.HasSuffix(r.URL.Path, ":countTokens"):
		respond(w, http.StatusOK, map[string]any{"totalTokens": len(body) / 4})
	case wireOf(r.URL.Path) != nil && r.Method == http.MethodPost:
		s.mu.Lock()
		s.requests = append(s.requests, string(body))
		s.calls++
		n := s.calls
		s.mu.Unlock()
		s.answer(w, r, body, n)
	case strings.HasPrefix(r.URL.Path, "/v1/models"):
		respond(w, http.StatusOK, map[string]any{"data": []any{}, "has_more": false})
	default:
		respond(w, http.StatusNotFound, map[string]any{"error": "not here"})
	}
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// A message is one of a conversation; its content is a text or a list of blocks.
type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (m message) blocks() (all []block) {
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		return []block{{"text", text}}
	}
	_ = json.Unmarshal(m.Content, &all)
	return all
}

// A scriptedTurn is what the model does in one turn.
type scriptedTurn struct {
	status int
	hang   bool
	text   string
	tool   string
	input  json.RawMessage
}

var (
	reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
	toolLine = regexp.MustCompile(`(?m)^@(tool|force) (\S+) (\{.*\})\s*$`)
	sayLine  = regexp.MustCompile(`(?m)^@say (.*)$`)
	failLine = regexp.MustCompile(`(?m)^@fail (\d+)`)
	hangLine = regexp.MustCompile(`(?m)^@hang`)
)

// decide reads the script of the newest message of the user.
func decide(messages []message, tools bool) scriptedTurn {
	script, results := "", 0
	for i := len(messages) - 1; i >= 0 && script == ""; i-- {
		if messages[i].Role != "user" {
			continue
		}
		var texts []string
		for _, b := range messages[i].blocks() {
			switch b.Type {
			case "tool_result":
				results++
			case "text":
				texts = append(texts, b.Text)
			}
		}
		script = strings.TrimSpace(reminder.ReplaceAllString(strings.Join(texts, "\n"), ""))
	}
	if m := failLine.FindStringSubmatch(script); m != nil {
		status, _ := strconv.Atoi(m[1])
		return scriptedTurn{status: status}
	}
	if hangLine.MatchString(script) {
		return scriptedTurn{hang: true}
	}
	if calls := toolLine.FindAllStringSubmatch(script, -1); results < len(calls) && (tools || calls[results][1] == "force") {
		return scriptedTurn{tool: calls[results][2], input: json.RawMessage(calls[results][3])}
	}
	var said []string
	for _, m := range sayLine.FindAllStringSubmatch(script, -1) {
		said = append(said, m[1])
	}
	if len(said) == 0 {
		said = []string{"Done."}
	}
	return scriptedTurn{text: strings.Join(said, "\n")}
}

// messages answers in the protocol of Anthropic's Messages API, as a stream if asked.
func (s *Scripted) messages(w http.ResponseWriter, body []byte, n int) {
	var req struct {
		Model    string            `json:"model"`
		Messages []message         `json:"messages"`
		Tools    []json.RawMessage `json:"tools"`
		Stream   bool              `json:"stream"`
		Output   struct {
			Format json.RawMessage `json:"format"`
		} `json:"output_config"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		respond(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	a := decide(req.Messages, len(req.Tools) > 0)
	switch {
	case a.hang:
		<-s.stop
		return
	case a.status != 0:
		respond(w, a.status, map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": "scripted"}})
		return
	case len(req.Output.Format) > 0 && len(req.Tools) == 0: // the agent asks for the title of its session
		a = scriptedTurn{text: `{"title": "A scripted session", "branch": "scripted", "isNewTopic": true}`}
	}
	content, stop := map[string]any{"type": "text", "text": a.text}, "end_turn"
	if a.tool != "" {
		content, stop = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%06d", n), "name": a.tool, "input": a.input}, "tool_use"
	}
	usage := map[string]any{"input_tokens": len(body) / 4, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	whole := map[string]any{
		"id": fmt.Sprintf("msg_%06d", n), "type": "message", "role": "assistant", "model": req.Model, "content": []any{content},
		"stop_reason": stop, "stop_sequence": nil, "usage": usage,
	}
	if !req.Stream {
		respond(w, http.StatusOK, whole)
		return
	}
	sendStream(w, whole, content, a, stop)
}

// stream sends a message as server-sent events, as the API does.
func sendStream(w http.ResponseWriter, whole, content map[string]any, a scriptedTurn, stop string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, fields map[string]any) {
		fields["type"] = kind
		data, _ := json.Marshal(fields)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
	whole["content"], whole["stop_reason"] = []any{}, nil
	send("message_start", map[string]any{"message": whole})
	delta := map[string]any{"type": "text_delta", "text": a.text}
	if a.tool != "" {
		content["input"] = map[string]any{}
		delta = map[string]any{"type": "input_json_delta", "partial_json": string(a.input)}
	} else {
		content["text"] = ""
	}
	send("content_block_start", map[string]any{"index": 0, "content_block": content})
	send("content_block_delta", map[string]any{"index": 0, "delta": delta})
	send("content_block_stop", map[string]any{"index": 0})
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 20},
	})
	send("message_stop", map[string]any{})
}
