package connect_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/connect"
	"anamnesis/internal/store"
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
	served, err := editor.Install(first, over.Over(plain, "memory", "KEY"), connect.Own)
	if err != nil {
		t.Fatal(err)
	}
	again, err := editor.Install(served, over.Over(plain, "memory", "KEY"), connect.Own)
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
	if n := strings.Count(text, `"anamnesis_key": "KEY"`); n != 3 {
		t.Errorf("%d hooks have the key:\n%s", n, text)
	}
	keyless := strings.ReplaceAll(text, `"anamnesis_key": "KEY", `, "") // of a version before the key
	if upgraded, err := editor.Install([]byte(keyless), over.Over(plain, "memory", "KEY"), connect.Own); err != nil || string(upgraded) != text {
		t.Errorf("hooks without a key: %v\n%s", err, upgraded)
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

// The key of a store is made once and is private; what is no file of ours is none.
func TestHookKey(t *testing.T) {
	s, err := store.Open(store.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if got := connect.HookKey(s.Root()); got != "" {
		t.Errorf("a new store has the key %q", got)
	}
	if err := connect.KeepHookKey(s, "SOMEKEY"); err != nil {
		t.Fatal(err)
	}
	file := s.Path("hook.key")
	if got := connect.HookKey(s.Root()); got != "SOMEKEY" {
		t.Errorf("the key is %q", got)
	}
	if fi, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	other := filepath.Join(t.TempDir(), "key")
	if err := os.Rename(file, other); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, file); err != nil {
		t.Skip(err)
	}
	if got := connect.HookKey(s.Root()); got != "" {
		t.Errorf("through a link the key is %q", got)
	}
}
