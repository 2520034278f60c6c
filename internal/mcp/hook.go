package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/connect"

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
}

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
	reply, e, err := s.hook(ctx, call.Params.Arguments)
	if err != nil {
		hooks.HookFailed(s.rooms, e, err)
	}
	if len(reply) == 0 {
		reply = []byte(quiet)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(reply)}}}, true
}

func (s *Server) hook(ctx context.Context, args json.RawMessage) (reply []byte, e agent.Event, err error) {
	var in hookInput
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, e, err
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
	reply, err = hooks.AnswerEvent(ctx, s.rooms, h, e)
	return reply, e, err
}
