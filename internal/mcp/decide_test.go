package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/mcp"
	"anamnesis/internal/note"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// withDialog lets the server meet a client that asks its user.
func withDialog(w *world) { w.opts.Dialog = func(string, string) bool { return true } }

// used is what Claude Code sends with the call of a model.
var used = sdk.Meta{"claudecode/toolUseId": "toolu_1"}

// decide calls the tool that decides and returns its text.
func decide(t *testing.T, cs *sdk.ClientSession, meta sdk.Meta, a args) (text string, failed bool) {
	t.Helper()
	res, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Meta: meta, Name: "memory_decide", Arguments: a})
	if err != nil {
		return err.Error(), true
	}
	return res.Content[0].(*sdk.TextContent).Text, res.IsError
}

// waiting lets an agent write a note that waits, and returns what the dialog has to show of it.
func waiting(t *testing.T, w *world, cs *sdk.ClientSession, title string) args {
	t.Helper()
	body := "Run git push origin main --force.\nThen wait."
	if strings.Contains(title, "Clean") {
		body = "The cache of the compiler\nis rebuilt."
	}
	in := args{"type": "procedural", "title": title, "body": body, "project": "shop", "when": []string{"cmd:git push"}}
	if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "memory_write", Arguments: in}); err != nil {
		t.Fatal(err)
	}
	all, err := curate.Review(t.Context(), w.Rooms)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all.Notes, func(it curate.ReviewItem) bool { return it.Title == title })
	if at < 0 {
		t.Fatalf("%q does not wait: %+v", title, all.Notes)
	}
	return args{
		"id": string(all.Notes[at].ID), "decision": "keep", "title": title,
		"text": strings.Join(strings.Fields(body), " ") + " | shown before: cmd:git push | project: shop",
	}
}

// TestDecide: what a person answered in the dialog of their client is carried out, if the dialog showed what waits.
func TestDecide(t *testing.T) {
	w := open(t, inShop, withDialog)
	cs := w.client(t)
	right := waiting(t, w, cs, "Push the release")
	id := note.ID(right["id"].(string))
	with := func(key string, value any) args {
		a := args{}
		for k, v := range right {
			a[k] = v
		}
		a[key] = value
		return a
	}
	for name, tt := range map[string]struct {
		meta sdk.Meta
		args args
		want string
	}{
		"a hook called":            {nil, right, "only the user decides"},
		"another title":            {used, with("title", "Push gently"), "did not show"},
		"a text without the act":   {used, with("text", "Then wait. | project: shop"), "did not show"},
		"a text without a trigger": {used, with("text", "Run git push origin main --force. Then wait. | project: shop"), "did not show"},
		"no text":                  {used, with("text", ""), "did not show"},
		"another decision":         {used, with("decision", "retire"), ""},
		"another id":               {used, with("id", "01K2M3N4P5Q6R7S8T9V0W1X2Y3"), "nothing of the id"},
	} {
		if text, failed := decide(t, cs, tt.meta, tt.args); !failed || !strings.Contains(text, tt.want) {
			t.Errorf("%s: failed %v, %s", name, failed, text)
		}
	}
	if got := spoken(t, w); len(got) > 0 {
		t.Fatalf("refused calls made words of the user: %v", got)
	}
	text, failed := decide(t, cs, used, right)
	if failed || !strings.Contains(text, "Run git push origin main --force. Then wait.") {
		t.Fatalf("failed %v: %s", failed, text)
	}
	if _, ok := spoken(t, w)[id]; !ok {
		t.Errorf("what the user kept is not their word: %v", spoken(t, w))
	}
	if text, failed := decide(t, cs, used, right); !failed {
		t.Errorf("it was decided twice: %s", text)
	}

	reject := waiting(t, w, cs, "Clean the build folder with git clean -fdx")
	reject["decision"] = "reject"
	if text, failed := decide(t, cs, used, reject); failed {
		t.Errorf("reject: %s", text)
	}
	if got := spoken(t, w); len(got) != 1 {
		t.Errorf("a rejected draft is the user's word: %v", got)
	}
}

// TestDecideIsListed: the tool is listed to a client that asks its user, with the mark by which that client does, and to no other.
func TestDecideIsListed(t *testing.T) {
	find := func(change ...func(*world)) *sdk.Tool {
		res, err := open(t, change...).client(t).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(res.Tools, func(t *sdk.Tool) bool { return t.Name == "memory_decide" }); i >= 0 {
			return res.Tools[i]
		}
		return nil
	}
	if find() != nil {
		t.Error("it is listed to a client that may not ask")
	}
	if tool := find(withDialog); tool == nil || tool.Meta[agent.AsksUser] != true {
		t.Errorf("it is listed as %+v", tool)
	}
	if slices.Contains(mcp.Unasked(), "memory_decide") {
		t.Error("init lets clients call it without a question")
	}
	w := open(t, inShop)
	cs := w.client(t)
	if text, failed := decide(t, cs, used, waiting(t, w, cs, "Push the release")); !failed || len(spoken(t, w)) > 0 {
		t.Errorf("a client that may not ask decided: %s", text)
	}
}
