package connect_test

import (
	"strings"
	"testing"

	"anamnesis/internal/connect"
)

// Hooks over a server take the place of those that start a process, are installed once, and leave
// nothing behind.
func TestServerHooks(t *testing.T) {
	editor := connect.Default().Settings
	over := connect.Default().ServerHooks
	plain := editor.PlainHooks("ANAMNESIS_HOOK=1 /opt/anamnesis")
	const user = "{\n  \"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"mcp_tool\", \"server\": \"theirs\", \"tool\": \"scan\"}]}]}\n}\n"
	first, err := editor.Install([]byte(user), plain, connect.Own)
	if err != nil {
		t.Fatal(err)
	}
	served, err := editor.Install(first, over.Over(plain, "memory"), connect.Own)
	if err != nil {
		t.Fatal(err)
	}
	again, err := editor.Install(served, over.Over(plain, "memory"), connect.Own)
	if err != nil || string(again) != string(served) {
		t.Errorf("installed twice: %v\n%s", err, again)
	}
	text := string(served)
	if n := strings.Count(text, connect.HookTool); n != 3 || strings.Contains(text, "hook claude UserPromptSubmit") || !strings.Contains(text, "SessionStart") {
		t.Errorf("%d hooks ask the server:\n%s", n, text)
	}
	hooks, _, err := editor.Installed(served, connect.Own)
	if err != nil || len(hooks) != len(plain) {
		t.Errorf("%d hooks are found, want %d: %v", len(hooks), len(plain), err)
	}
	back, err := editor.Uninstall(served, connect.Own)
	if err != nil || strings.Contains(string(back), connect.HookTool) || !strings.Contains(string(back), `"scan"`) {
		t.Errorf("uninstall leaves %s, %v", back, err)
	}
	for version, want := range map[string]bool{
		"2.1.197 (Claude Code)": true, "2.1.330": true, "2.2.0": true, "3.0.0": true, "2.1.196": false, "1.9.999": false, "": false, "no such option": false,
		"2.1": false, "2.1.197-beta": true,
	} {
		if got := over.Has(version); got != want {
			t.Errorf("version %q: %v", version, got)
		}
	}
}
