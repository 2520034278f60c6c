package connect_test

import (
	"strings"
	"testing"

	"anamnesis/internal/connect"
)

func TestApprove(t *testing.T) {
	codex := connect.ByName("codex").Approvals
	hash := "sha256:" + strings.Repeat("0a", 32)
	answer := `{"id":1,"result":{"data":[{"hooks":[
		{"key":"/h/hooks.json:session_start:0:0","currentHash":"` + hash + `","eventName":"sessionStart","command":"x hook codex","enabled":true,"trustStatus":"untrusted"},
		{"key":"/h/hooks.json:stop:0:0","currentHash":"` + hash + `","eventName":"stop","command":"guard","enabled":true,"trustStatus":"untrusted"},
		{"key":"/h/hooks.json:stop:1:0","currentHash":"` + hash + `","eventName":"stop","command":"x hook codex","enabled":true,"trustStatus":"trusted"}]}]}}`
	all := codex.Read([]byte(answer), func(command string) bool { return strings.HasPrefix(command, "x ") })
	if len(all) != 2 || all[0].Runs || !all[1].Runs || all[0].Event != "sessionStart" {
		t.Fatalf("ours are %+v", all)
	}
	const mine = "model = \"m\"\n\n[hooks.state.\"/h/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:aa\"\n"
	for _, old := range []string{"", mine, strings.ReplaceAll(mine, "\n", "\r\n")} {
		with, err := codex.Approve([]byte(old), all)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(with), `[hooks.state."/h/hooks.json:session_start:0:0"]`) || strings.Contains(string(with), "stop:1:0") ||
			!strings.HasPrefix(string(with), old) {
			t.Errorf("approved in %q:\n%s", old, with)
		}
		if again, err := codex.Approve(with, all); err != nil || string(again) != string(with) {
			t.Errorf("approved twice, %v:\n%s", err, again)
		}
		if without, err := codex.Disapprove(with); err != nil || string(without) != old {
			t.Errorf("taken back, %v: %q, want %q", err, without, old)
		}
	}
	// An answer that would write something else into the settings is refused.
	for _, bad := range []connect.Approval{
		{Key: "a", Hash: "sha256:1"}, {Key: "", Hash: hash}, {Key: "a\n[x]", Hash: hash}, {Key: "a", Hash: hash + "\"\nmodel = \"x"},
	} {
		if _, err := codex.Approve([]byte(mine), []connect.Approval{bad}); err == nil {
			t.Errorf("%+v is approved", bad)
		}
	}
	quoted, err := codex.Approve(nil, []connect.Approval{{Key: `a"]\x`, Hash: hash}})
	if err != nil || strings.Count(string(quoted), "\n") != 2 {
		t.Errorf("%v: %q", err, quoted)
	}
}
