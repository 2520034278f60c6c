package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool is one thing that a client can ask for.
type tool struct {
	name  string
	doc   string // at most two sentences: a model reads them in every session
	hints sdk.ToolAnnotations
	does  effect // the most that a call can do
	find  string // words by which a client finds a tool that it does not load at first; "" loads it
	// dialog says that the client has to ask its user, with the arguments in full.
	dialog bool
	input  func() (*jsonschema.Schema, error)
	// amend says what a Go type cannot: closed sets and defaults.
	amend func(properties map[string]*jsonschema.Schema)
	call  func(s *Server, ctx context.Context, c caller, args json.RawMessage) (any, error)
}

// An effect is the most that a call of a tool can do. A tool without one fails a test.
type effect int

const (
	reads    effect = iota + 1
	proposes        // writes what an agent noted, under the agent's name
	decides         // erases, decides for the user, changes what every session is shown, or sends
)

// Unasked lists the tools that a client may call without asking its user: those that read or propose.
func Unasked() (names []string) {
	for _, t := range tools {
		if t.does == reads || t.does == proposes {
			names = append(names, t.name)
		}
	}
	return names
}

// tools lists what there is. Clients see them by name.
var tools = []tool{
	toolSearch, toolGet, toolList, toolStatus, toolWrite, toolLearn, toolUnread, toolForget, toolHandoff, toolSlot, toolReview, toolDecide,
	toolSync,
}

// Pointers for annotations, of which nothing is ever changed.
var (
	yes, no = true, false

	readOnly = sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
)

// takes makes a tool's call of a method with typed arguments.
func takes[In, Out any](
	do func(*Server, context.Context, caller, In) (Out, error),
) func(*Server, context.Context, caller, json.RawMessage) (any, error) {
	return func(s *Server, ctx context.Context, c caller, args json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, misfit(err)
		}
		return do(s, ctx, c, in)
	}
}

// misfit says in words why arguments that fit the schema do not fit their types:
// a whole number may be greater than any that a machine counts with.
func misfit(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && strings.HasPrefix(wrong.Value, "number ") {
		return fmt.Errorf("%s is %s, far out of range; give a small whole number", wrong.Field, strings.TrimPrefix(wrong.Value, "number "))
	}
	return fmt.Errorf("read the arguments: %w", err)
}

// schemaOf describes a type. Lists are lists: they are never null here.
func schemaOf[T any]() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](nil)
	if err == nil {
		lists(s)
	}
	return s, err
}

func lists(s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[0] == "null" {
		s.Type, s.Types = s.Types[1], nil
	}
	for _, p := range s.Properties {
		lists(p)
	}
	if s.Items != nil {
		lists(s.Items)
	}
}

// describe returns what clients see of a tool.
func (t *tool) describe() (*sdk.Tool, error) {
	in, err := t.input()
	if err != nil {
		return nil, err
	}
	if t.amend != nil {
		t.amend(in.Properties)
	}
	return &sdk.Tool{Meta: t.meta(), Name: t.name, Description: t.doc, Annotations: &t.hints, InputSchema: in}, nil
}

// meta says to Claude Code whether the tool is in the first request of a session. It loads the others
// when its model searches for them, which costs a turn.
func (t *tool) meta() sdk.Meta {
	if t.find == "" {
		return sdk.Meta{"anthropic/alwaysLoad": true}
	}
	m := sdk.Meta{"anthropic/searchHint": t.find}
	if t.dialog {
		m[agent.AsksUser] = true
	}
	return m
}

// add makes a tool known to the SDK.
func (t *tool) add(s *Server) error {
	def, err := t.describe()
	if err != nil {
		return err
	}
	in, ok := def.InputSchema.(*jsonschema.Schema)
	if !ok {
		return errors.New("the input has no schema") // unreachable: describe makes it
	}
	schema, err := in.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		return err
	}
	s.sdk.AddTool(def, func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		args, err := arguments(req.Params.Arguments, schema)
		if err != nil {
			return failed(fmt.Errorf("%s: %w", t.name, err)), nil
		}
		who := callerOf(req)
		who.byModel = agent.CalledByModel(req.Params.Meta)
		out, err := t.call(s, ctx, who, args)
		if err != nil {
			return failed(fmt.Errorf("%s: %w", t.name, err)), nil
		}
		return s.result(out)
	})
	return nil
}

// failed is the answer to a call that did not succeed.
func failed(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: note.Harmless(err.Error())}}}
}

// An answer that holds text of notes is framed: capture cuts out the text between the marks.
type framed interface{ framed() }

// result makes an answer of what a tool returned, as JSON. It is sent once: every client shows the
// text to its model, and structured content would repeat it.
func (s *Server) result(out any) (*sdk.CallToolResult, error) {
	if d, ok := out.(done); ok {
		out = d.small(s.opts.Start, s.opts.End)
	}
	data, err := compact(out)
	if err != nil {
		return nil, err
	}
	text := string(data)
	if _, ok := out.(framed); ok {
		text = s.marked(text)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

// compact is JSON without the escapes that only HTML needs: code is full of them.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// oneOf is a closed set of values.
func oneOf[T ~string](values ...T) []any {
	all := make([]any, 0, len(values))
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// ofTypes and ofScopes are the closed sets of notes.
func ofTypes() []any  { return oneOf(note.Types...) }
func ofScopes() []any { return oneOf(note.Portable, note.Local) }

// by is a default.
func by(v string) json.RawMessage { return json.RawMessage(v) }
