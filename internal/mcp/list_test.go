package mcp_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/mcp"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var update = flag.Bool("update", false, "write testdata/tools.json and the table in docs/mcp.md")

// maxTokens is what names, descriptions and inputs of all tools may cost each
// session of every agent, a quarter of their bytes.
const maxTokens = 1450

func listed(t *testing.T) []*sdk.Tool {
	t.Helper()
	res, err := open(t).client(t).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return res.Tools
}

func TestTokenBudget(t *testing.T) {
	type told struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		InputSchema any    `json:"inputSchema"`
	}
	var all []told
	for _, tool := range listed(t) {
		all = append(all, told{tool.Name, tool.Description, tool.InputSchema})
		if n := strings.Count(tool.Description, ". ") + 1; n > 2 {
			t.Errorf("%s: the description has %d sentences", tool.Name, n)
		}
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	tokens := (len(data) + 3) / 4
	t.Logf("%d tools, about %d tokens", len(all), tokens)
	if tokens > maxTokens {
		t.Errorf("the tools cost %d tokens, at most %d: say less", tokens, maxTokens)
	}
}

// TestToolList compares what clients are shown with the golden file, and looks for
// what schemas of Go types get wrong.
func TestToolList(t *testing.T) {
	const golden = "testdata/tools.json"
	data, err := json.MarshalIndent(listed(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	data = append(data, '\n')
	if *update {
		if err := os.WriteFile(golden, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(data)); diff != "" {
		t.Errorf("tools/list differs from %s; look, then run go test ./internal/mcp -update (-want +got):\n%s", golden, diff)
	}
	if strings.Contains(string(data), `"null"`) {
		t.Error("a schema says that something may be null")
	}
}

// TestAnnotations: by these a client decides what it asks its user about.
func TestAnnotations(t *testing.T) {
	got := make(map[string]string)
	for _, tool := range listed(t) {
		a := tool.Annotations
		got[tool.Name] = fmt.Sprintf("readOnly %v, destructive %v, openWorld %v", a.ReadOnlyHint, a.DestructiveHint != nil && *a.DestructiveHint, a.OpenWorldHint == nil || *a.OpenWorldHint)
		if tool.OutputSchema != nil { // clients refuse an answer without structured content then
			t.Errorf("%s has an output schema", tool.Name)
		}
	}
	const reads = "readOnly true, destructive false, openWorld false"
	want := map[string]string{
		"memory_search": reads, "memory_list": reads, "memory_status": reads, "memory_get": reads,
		"memory_write":   "readOnly false, destructive false, openWorld false",
		"memory_handoff": "readOnly false, destructive false, openWorld false",
		"memory_slot":    "readOnly false, destructive false, openWorld false",
		"memory_learn":   "readOnly false, destructive false, openWorld false",
		"memory_unread":  "readOnly false, destructive false, openWorld false",
		"memory_review":  reads,
		"memory_forget":  "readOnly false, destructive false, openWorld false",
		"memory_sync":    "readOnly false, destructive false, openWorld true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnasked: init and the plugin let clients call these without a question. A tool that erases, decides or sends is not
// among them, and every tool says what it does.
func TestUnasked(t *testing.T) {
	got := mcp.Unasked()
	if diff := cmp.Diff([]string{"memory_search", "memory_get", "memory_list", "memory_status", "memory_write", "memory_learn", "memory_unread", "memory_handoff", "memory_review"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, tool := range listed(t) {
		a := tool.Annotations
		harmless := a.ReadOnlyHint || a.DestructiveHint != nil && !*a.DestructiveHint && a.OpenWorldHint != nil && !*a.OpenWorldHint
		if slices.Contains(got, tool.Name) && !harmless || a.ReadOnlyHint && !slices.Contains(got, tool.Name) {
			t.Errorf("%s: called without a question %v, hints %+v", tool.Name, slices.Contains(got, tool.Name), a)
		}
	}
	if missing := mcp.WithoutEffect(); len(missing) > 0 {
		t.Errorf("it is not said what a call of %v can do", missing)
	}
}

// TestAtHand: a client that loads few tools at first has those that the page of a session names, and finds the others.
func TestAtHand(t *testing.T) {
	for _, tool := range listed(t) {
		loaded, _ := tool.Meta["anthropic/alwaysLoad"].(bool)
		hint, _ := tool.Meta["anthropic/searchHint"].(string)
		named := slices.Contains([]string{"memory_search", "memory_get", "memory_write", "memory_learn"}, tool.Name)
		if loaded != named || (hint == "") != named || len(hint) > 100 {
			t.Errorf("%s: loaded %v, found by %q", tool.Name, loaded, hint)
		}
	}
}

// TestDocs rewrites the table of docs/mcp.md and compares.
func TestDocs(t *testing.T) {
	const (
		name  = "../../docs/mcp.md"
		begin = "<!-- generated: go test ./internal/mcp -run TestDocs -update -->\n"
		end   = "<!-- end of the generated part -->\n"
	)
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no generated part", name)
	}
	want := head + begin + reference(t) + end + tail
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("%s is stale; run go test ./internal/mcp -run TestDocs -update (-want +got):\n%s", name, diff)
	}
}

// reference describes every tool.
func reference(t *testing.T) string {
	var b strings.Builder
	for _, tool := range listed(t) {
		var in jsonschema.Schema
		data, err := json.Marshal(tool.InputSchema)
		if err == nil {
			err = json.Unmarshal(data, &in)
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", tool.Name, wrap(tool.Description))
		if len(in.Properties) == 0 {
			b.WriteString("\nIt takes no parameters.\n")
			continue
		}
		b.WriteString("\n| parameter | type | default | |\n|---|---|---|---|\n")
		for _, p := range order(data) {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p, kind(in.Properties[p]), fallback(&in, p), in.Properties[p].Description)
		}
	}
	return b.String() + "\n"
}

// order lists the properties of a schema as they stand in its text: the client
// has them as a map, so required ones come first, then by name.
func order(data []byte) []string {
	var in struct {
		Required   []string       `json:"required"`
		Properties map[string]any `json:"properties"`
	}
	if json.Unmarshal(data, &in) != nil {
		return nil
	}
	all := in.Required
	for _, r := range all {
		delete(in.Properties, r)
	}
	rest := make([]string, 0, len(in.Properties))
	for p := range in.Properties {
		rest = append(rest, p)
	}
	return append(all, sortedStrings(rest)...)
}

func kind(s *jsonschema.Schema) string {
	if len(s.Enum) > 0 {
		var all []string
		for _, v := range s.Enum {
			all = append(all, fmt.Sprint(v))
		}
		return strings.Join(all, ", ")
	}
	if s.Type == "array" {
		return "list of " + s.Items.Type
	}
	return s.Type
}

func fallback(in *jsonschema.Schema, p string) string {
	for _, r := range in.Required {
		if r == p {
			return "required"
		}
	}
	if d := in.Properties[p].Default; d != nil {
		return "`" + strings.Trim(string(d), `"`) + "`"
	}
	return ""
}

// wrap breaks a text into lines.
func wrap(text string) string {
	var b strings.Builder
	n := 0
	for word := range strings.FieldsSeq(text) {
		if n > 0 && n+len(word) > 110 {
			b.WriteByte('\n')
			n = 0
		} else if n > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		n += len(word) + 1
	}
	return b.String()
}
