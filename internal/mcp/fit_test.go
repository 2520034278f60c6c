package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/mcp"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// inputs returns the schema of each tool's arguments.
func inputs(tb testing.TB) map[string]*jsonschema.Resolved {
	tb.Helper()
	all, err := mcp.Inputs()
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestArguments(t *testing.T) {
	schemas := inputs(t)
	for _, tt := range []struct{ tool, sent, want string }{
		// Lists.
		{"memory_get", `{"ids":["a","b"]}`, `{"ids":["a","b"]}`},
		{"memory_get", `{"ids":"[\"a\",\"b\"]"}`, `{"ids":["a","b"]}`},
		{"memory_get", `{"ids":" [ \"a\" ] "}`, `{"ids":["a"]}`},
		{"memory_get", `{"ids":"\"[\\\"a\\\",\\\"b\\\"]\""}`, `{"ids":["a","b"]}`},
		{"memory_get", `{"ids":["[\"a\",\"b\"]"]}`, `{"ids":["a","b"]}`},
		{"memory_get", `{"ids":"a"}`, `{"ids":["a"]}`},
		{"memory_get", `{"ids":"\"a\""}`, `{"ids":["a"]}`},
		{"memory_get", `{"ids":"0123"}`, `{"ids":["0123"]}`},
		{"memory_get", `{"ids":42}`, `{"ids":["42"]}`},
		{"memory_get", `{"ids":[42,true,"c"]}`, `{"ids":["42","true","c"]}`},
		{"memory_get", `{"ids":"[1, 2]"}`, `{"ids":["1","2"]}`},
		{"memory_write", `{"type":"semantic","title":"t","when":"cmd:git push"}`, `{"scope":"portable","title":"t","type":"semantic","user_id":"self","when":["cmd:git push"],"workspace_id":"personal"}`},
		{"memory_write", `{"type":"semantic","title":"t","tags":""}`, `{"scope":"portable","title":"t","type":"semantic","user_id":"self","workspace_id":"personal"}`},
		// Numbers.
		{"memory_search", `{"query":"q","k":"3"}`, `{"k":3,"query":"q"}`},
		{"memory_search", `{"query":"q","k":" 3 "}`, `{"k":3,"query":"q"}`},
		{"memory_search", `{"query":"q","k":"3.0"}`, `{"k":3,"query":"q"}`},
		{"memory_search", `{"query":"q","k":3.0}`, `{"k":3,"query":"q"}`},
		{"memory_search", `{"query":"q","k":"\"3\""}`, `{"k":3,"query":"q"}`},
		{"memory_search", `{"query":"q","k":["3"]}`, `{"k":3,"query":"q"}`},
		{"memory_search", `{"query":"q","k":"-3"}`, `{"k":-3,"query":"q"}`},
		{"memory_search", `{"query":"q","k":""}`, `{"k":8,"query":"q"}`},
		{"memory_search", `{"query":"q","k":"null"}`, `{"k":8,"query":"q"}`},
		// Booleans.
		{"memory_forget", `{"id":"a","apply":"true"}`, `{"apply":true,"id":"a"}`},
		{"memory_forget", `{"id":"a","apply":"False"}`, `{"apply":false,"id":"a"}`},
		{"memory_forget", `{"id":"a","apply":[true]}`, `{"apply":true,"id":"a"}`},
		{"memory_forget", `{"id":"a","apply":null}`, `{"apply":false,"id":"a"}`},
		// Text stays what it is.
		{"memory_search", `{"query":"[1, 2]"}`, `{"k":8,"query":"[1, 2]"}`},
		{"memory_search", `{"query":" null "}`, `{"k":8,"query":" null "}`},
		{"memory_search", `{"query":404}`, `{"k":8,"query":"404"}`},
		{"memory_search", `{"query":1.50}`, `{"k":8,"query":"1.50"}`},
		{"memory_search", `{"query":true}`, `{"k":8,"query":"true"}`},
		{"memory_search", `{"query":["why"]}`, `{"k":8,"query":"why"}`},
		{"memory_search", `{"query":12345678901234567890123}`, `{"k":8,"query":"12345678901234567890123"}`},
		// Closed sets.
		{"memory_search", `{"query":"q","type":"Semantic"}`, `{"k":8,"query":"q","type":"semantic"}`},
		{"memory_search", `{"query":"q","type":"\"semantic\""}`, `{"k":8,"query":"q","type":"semantic"}`},
		{"memory_search", `{"query":"q","type":["semantic"]}`, `{"k":8,"query":"q","type":"semantic"}`},
		{"memory_search", `{"query":"q","type":"","scope":"null"}`, `{"k":8,"query":"q"}`},
		// The whole object.
		{"memory_search", `"{\"query\":\"q\"}"`, `{"k":8,"query":"q"}`},
		{"memory_list", `[]`, `{"limit":50}`},
		{"memory_list", `null`, `{"limit":50}`},
		{"memory_list", ``, `{"limit":50}`},
		{"memory_list", `""`, ``},
		{"memory_status", `{}`, `{}`},
	} {
		got, err := mcp.Arguments(json.RawMessage(tt.sent), schemas[tt.tool])
		if tt.want == "" {
			if err == nil {
				t.Errorf("%s %s was accepted: %s", tt.tool, tt.sent, got)
			}
			continue
		}
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %s: %s, %v; want %s", tt.tool, tt.sent, got, err, tt.want)
		}
	}
}

// What could mean two things is refused; the error names the argument, what was sent and what is expected.
func TestArgumentsRefused(t *testing.T) {
	schemas := inputs(t)
	for _, tt := range []struct{ tool, sent, want string }{
		{"memory_get", `{"ids":"a, b"}`, `ids is "a, b"; expected a list, such as ["a", "b"]`},
		{"memory_get", `{"ids":"a\nb"}`, `ids is "a\nb"; expected a list`},
		{"memory_get", `{"ids":"[a, b]"}`, `ids is "[a, b]"; expected a list`},
		{"memory_get", `{"ids":{"0":"a"}}`, `ids is {"0":"a"}; expected a list`},
		{"memory_get", `{"ids":"{\"a\":1}"}`, `expected a list`},
		{"memory_get", `{"ids":["a",null]}`, `ids is ["a",null]; expected a list`},
		{"memory_get", `{"ids":[["a","b"],"c"]}`, `expected a list`},
		{"memory_get", `{}`, `ids is missing; expected a list`},
		{"memory_get", `{"ids":""}`, `ids is missing; expected a list`},
		{"memory_get", `{"ids":"` + strings.Repeat("a,", 5000) + `"}`, `…; expected a list`},
		{"memory_search", `{"query":"q","k":"eight"}`, `k is "eight"; expected a whole number, such as 8`},
		{"memory_search", `{"query":"q","k":"3.5"}`, `k is "3.5"; expected a whole number, such as 8`},
		{"memory_search", `{"query":"q","k":3.5}`, `k is 3.5; expected a whole number`},
		{"memory_search", `{"query":"q","k":"1,000"}`, `k is "1,000"; expected a whole number`},
		{"memory_search", `{"query":"q","k":true}`, `k is true; expected a whole number`},
		{"memory_search", `{"query":"q","k":[1,2]}`, `k is [1,2]; expected a whole number`},
		{"memory_search", `{"query":"q","k":1e999999999}`, `k is 1e999999999; expected a whole number`},
		{"memory_search", `{"query":{"text":"q"}}`, `query is {"text":"q"}; expected text`},
		{"memory_search", `{"query":["a","b"]}`, `query is ["a","b"]; expected text`},
		{"memory_search", `{"query":null}`, `query is missing; expected text`},
		{"memory_search", `{"query":"q","type":"diary"}`, `type is "diary"; expected one of procedural, semantic, episodic`},
		{"memory_search", `{"query":"q","limit":3}`, `there is no argument "limit"; the tool takes fields, k, max_tokens, project, query,`},
		{"memory_forget", `{"id":"a","apply":1}`, `apply is 1; expected true or false`},
		{"memory_forget", `{"id":"a","apply":"yes"}`, `apply is "yes"; expected true or false`},
		{"memory_status", `{"verbose":true}`, `there is no argument "verbose"; the tool takes none`},
		{"memory_status", `{"a\u0000b":1}`, `there is no argument "a\x00b"`},
		{"memory_search", `["q"]`, `must be a JSON object`},
		{"memory_search", `"q"`, `must be a JSON object`},
		{"memory_search", `7`, `must be a JSON object`},
		{"memory_search", strings.Repeat(`[`, 20_000), `must be a JSON object`},
	} {
		got, err := mcp.Arguments(json.RawMessage(tt.sent), schemas[tt.tool])
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.200s: %s, %v; want an error with %s", tt.tool, tt.sent, got, err, tt.want)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%s %.200s: the error has %d bytes", tt.tool, tt.sent, len(err.Error()))
		}
	}
}

// TestArgumentsAsText: whatever argument of whatever tool arrives as text means the same as in its own type.
func TestArgumentsAsText(t *testing.T) {
	for tool, schema := range inputs(t) {
		typed, asText := make(map[string]any), make(map[string]any)
		for name, p := range schema.Schema().Properties {
			switch {
			case len(p.Enum) > 0:
				typed[name] = p.Enum[0]
			case p.Type == "string":
				typed[name] = "some text"
			case p.Type == "integer":
				typed[name] = 3
			case p.Type == "boolean":
				typed[name] = true
			case p.Type == "array" && p.Items != nil && p.Items.Type == "string":
				typed[name] = []string{"one", "two"}
			case p.Type == "array" && p.Items != nil && p.Items.Type == "object":
				typed[name] = []any{map[string]any{"title": "one", "when": []string{"cmd:make"}}, map[string]any{"title": "two"}}
			default:
				t.Fatalf("%s: nobody knows how the text of argument %s (%s) is read", tool, name, p.Type)
			}
			asText[name] = typed[name]
			if _, text := typed[name].(string); !text {
				data, err := json.Marshal(typed[name])
				if err != nil {
					t.Fatal(err)
				}
				asText[name] = string(data)
			}
		}
		var got [2]string
		for i, v := range []any{typed, asText} {
			data, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			args, err := mcp.Arguments(data, schema)
			if err != nil {
				t.Errorf("%s %s: %v", tool, data, err)
			}
			got[i] = string(args)
		}
		if diff := cmp.Diff(got[0], got[1]); diff != "" {
			t.Errorf("%s (-typed +as text):\n%s", tool, diff)
		}
	}
}

// A note is not lost because a client sent its lists as text.
func TestWriteWithListsAsText(t *testing.T) {
	w := open(t, inShop)
	cs := w.client(t)
	for i, sent := range []string{
		`{"type":"semantic","title":"Deploy from CI","tags":"[\"deploy\"]"}`,
		`{"type":"semantic","title":"The proxy is at 8443","tags":"deploy"}`,
		`{"type":"Semantic","title":"Tests need redis 7","tags":["[\"deploy\"]"]}`,
		`"{\"type\":\"semantic\",\"title\":\"Money is int64 cents\",\"tags\":[\"deploy\"]}"`,
	} {
		res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_write", Arguments: json.RawMessage(sent)})
		if err != nil || res.IsError {
			t.Fatalf("%s: %v %+v", sent, err, res)
		}
		listed, _ := call(t, cs, "memory_list", args{"limit": "200"})
		if rows := result(listed); len(rows) != i+1 || !slices.Equal(rows[0]["tags"].([]any), []any{"deploy"}) {
			t.Errorf("%s: %v", sent, rows)
		}
	}
}

// FuzzArguments: what a handler gets fits its schema, and means the same when it is sent again.
func FuzzArguments(f *testing.F) {
	schemas := inputs(f)
	for _, seed := range []string{
		`{"ids":"[\"a\"]"}`, `{"query":"q","k":"3"}`, `{"id":"a","apply":"true"}`, `"{\"query\":1e9}"`, `{"type":"SEMANTIC","title":7,"tags":["[1]"]}`,
		`{"action":"\"list\""}`, `{"query":"q","k":1e400}`, `[]`, `{"when":"\"\\\"a\\\"\"","type":"semantic","title":""}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		for tool, schema := range schemas {
			got, err := mcp.Arguments(json.RawMessage(sent), schema)
			if err != nil {
				continue
			}
			var v map[string]any
			if err := json.Unmarshal(got, &v); err != nil {
				t.Fatalf("%s %q: %v in %s", tool, sent, err, got)
			}
			if err := schema.Validate(v); err != nil {
				t.Errorf("%s %q: %s does not fit: %v", tool, sent, got, err)
			}
			again, err := mcp.Arguments(got, schema)
			if err != nil || string(again) != string(got) {
				t.Errorf("%s %q: %s is read as %s, %v", tool, sent, got, again, err)
			}
		}
	})
}
