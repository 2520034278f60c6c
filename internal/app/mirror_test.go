package app_test

import (
	"encoding/json"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/apptest"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/index"
	"anamnesis/internal/recall"
	"anamnesis/internal/team"
)

// TestQuestionsOpenNoConnection asks in every way on a machine with a store and a team whose server
// takes connections and says nothing.
func TestQuestionsOpenNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var opened atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			opened.Add(1)
			_ = c.Close()
		}
	}()
	r := apptest.Open(t, "team.dsn=postgres://alice@"+l.Addr().String()+"/x?sslmode=disable",
		"team.workspace=6b0c1f52-0000-4000-8000-000000000001")
	ctx := t.Context()
	// The mirror is young enough that no question starts a background run, which would be this test binary.
	at := r.Store.Now().Add(-time.Second)
	state, err := json.Marshal(team.State{Workspace: r.Config.Team.Workspace, Since: 1, Known: 1, At: at})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.All.SetMemo(ctx, "team", "mirror", index.Memo{Value: state, At: at}, 1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := app.Ask(ctx, r, recall.Query{Text: "how are amounts kept", K: 5}, recall.Scope{}, "search"); err != nil {
		t.Error(err)
	}
	e := agent.Event{SessionID: "s1", Dir: t.TempDir(), Prompt: "how are the amounts of the shop kept"}
	if _, err := hooks.Prompt(ctx, r, e, hooks.PromptOptions{Project: "shop"}); err != nil {
		t.Error(err)
	}
	if _, _, err := hooks.SessionStart(ctx, r, e, hooks.StartOptions{Project: "shop"}); err != nil {
		t.Error(err)
	}
	if n := opened.Load(); n != 0 {
		t.Errorf("questions opened %d connections", n)
	}
}
