package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/store/storetest"
)

// programKeys are the last words of git's settings that name a program, lower case, or
// the whole setting where the last word says too little.
var programKeys = []string{
	"cmd", "path", "command", "program", "driver", "process", "clean", "smudge", "textconv", "external", "editor", "pager", "helper",
	"browser", "viewer", "askpass", "sshcommand", "gitproxy", "fsmonitor", "hookspath", "alternaterefscommand", "packobjectshook",
	"difffilter", "uploadpack", "receivepack", "vcs", "tunnel", "httpd", "tocmd", "cccmd", "headercmd", "sendmailcmd", "smtpserver",
	"defaultkeycommand", "tool", "guitool", "update", "proxy", "url", "alias.*", "pager.<cmd>", "credential.<url>.*", "recentobjectshook",
}

// undocumentedKeys name programs too; git lists some of them in newer versions only.
var undocumentedKeys = []string{
	"filter.evil.process", "alias.status", "alias.log", "alias.cat-file", "alias.for-each-ref", "pager.status", "pager.log", "pager.cat-file",
	"trailer.evil.command", "trailer.evil.cmd", "uploadpack.packObjectsHook", "core.alternateRefsCommand", "diff.evil.command",
	"difftool.evil.cmd", "mergetool.evil.cmd", "gpg.ssh.program", "gpg.x509.program", "gpg.openpgp.program", "submodule.evil.update",
}

// plantedKeys lists every setting of this git that names a program, with a name in the
// place of each placeholder.
func plantedKeys(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "help", "-c").Output()
	if err != nil {
		t.Skip("git does not list its settings:", err)
	}
	keys := slices.Clone(undocumentedKeys)
	for line := range strings.Lines(string(out)) {
		key := strings.TrimSpace(line)
		word := strings.ToLower(key[strings.LastIndexByte(key, '.')+1:])
		if strings.HasPrefix(key, "include") || strings.HasPrefix(key, "color.") || !slices.Contains(programKeys, word) && !slices.Contains(programKeys, key) {
			continue
		}
		for _, r := range [][2]string{
			{"<name>", "origin"}, {"<cmd>", "status"}, {"<url>.*", "https://example.org.helper"}, {"*", "status"},
		} {
			key = strings.Replace(key, r[0], r[1], 1)
		}
		if i, j := strings.IndexByte(key, '<'), strings.IndexByte(key, '>'); i >= 0 && j > i {
			key = key[:i] + "evil" + key[j+1:]
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) < 60 {
		t.Fatalf("git documents only %d settings that name programs", len(keys))
	}
	return keys
}

// gitHooks are the programs that git looks for in a repository by their names.
var gitHooks = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
	"post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
	"post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman",
	"p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit", "post-index-change",
}

// A folder in which a session works may hold anything, in its .git too. Whatever git's
// settings, hooks and attributes name there, nothing of it is started, by no hook of an
// agent, no search and no capture. The control is git itself, which does start it.
func TestFolderRunsNothing(t *testing.T) {
	storetest.SkipQuick(t)
	if runtime.GOOS == "windows" {
		t.Skip("the planted programs are scripts of a shell")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	keys := plantedKeys(t)
	for _, way := range []string{"config", "include", "worktree"} {
		t.Run(way, func(t *testing.T) {
			base := t.TempDir()
			temp := t.TempDir()
			dir, evil, ran := filepath.Join(base, "work"), filepath.Join(base, "evil"), filepath.Join(base, "ran")
			for _, d := range []string{dir, evil, ran} {
				if err := os.Mkdir(d, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			env := []string{
				"PATH=" + os.Getenv("PATH"), "HOME=" + base, "ANAMNESIS_HOME=" + filepath.Join(base, "store"), "GIT_CONFIG_NOSYSTEM=1",
				"CLAUDE_CONFIG_DIR=" + filepath.Join(base, "claude"), "TMPDIR=" + temp,
			}
			run := func(in []byte, program string, args ...string) string {
				t.Helper()
				cmd := exec.Command(program, args...)
				cmd.Dir, cmd.Env, cmd.Stdin = dir, env, bytes.NewReader(in)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s %q: %v\n%s", filepath.Base(program), args, err, out)
				}
				return string(out)
			}
			git := func(args ...string) {
				t.Helper()
				run(nil, "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
			}
			write := func(name, text string) {
				t.Helper()
				storetest.WriteProgram(t, name, text)
			}
			script := func(name string) string {
				path := filepath.Join(evil, strings.NewReplacer("/", "_", ":", "_").Replace(name))
				write(path, "#!/bin/sh\n: > '"+filepath.Join(ran, filepath.Base(path))+"'\n")
				return path
			}

			git("init", "-q", "-b", "main")
			write(filepath.Join(dir, ".gitattributes"), "* filter=evil diff=evil merge=evil\n")
			write(filepath.Join(dir, "cart.go"), "package cart\n")
			git("add", ".")
			git("commit", "-qm", "first")
			write(filepath.Join(dir, "tax.go"), "package tax\n")
			git("add", ".")
			git("commit", "-qm", "This reverts commit 0123456789012345678901234567890123456789.")
			git("branch", "side")
			write(filepath.Join(dir, "cart.go"), "package card\n") // as long as before: only its bytes differ
			file := filepath.Join(dir, ".git", "config")
			switch way {
			case "include":
				git("config", "include.path", "more")
				file = filepath.Join(dir, ".git", "more")
			case "worktree":
				git("config", "core.repositoryFormatVersion", "1")
				git("config", "extensions.worktreeConfig", "true")
				file = filepath.Join(dir, ".git", "config.worktree")
			}
			t.Cleanup(func() { waitForChildren(base, idleTime) })
			for _, key := range keys {
				value := script(key)
				if key == "core.hooksPath" {
					value = evil
				}
				git("config", "--file", file, key, value)
			}
			git("config", "--file", file, "log.showSignature", "true")
			for _, name := range gitHooks {
				script(name)
				write(filepath.Join(dir, ".git", "hooks", name), "#!/bin/sh\n: > '"+filepath.Join(ran, "hook-"+name)+"'\n")
			}

			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			transcript := filepath.Join(base, "s1.jsonl")
			write(transcript, `{"type":"user","sessionId":"s1","cwd":"`+dir+`","gitBranch":"side","timestamp":"2026-05-01T10:00:00Z","uuid":"1",`+
				`"message":{"role":"user","content":"No, the cart is rounded per line, see commit 1234567abc."}}`+"\n"+
				`{"type":"assistant","sessionId":"s1","timestamp":"2026-05-01T10:01:00Z","uuid":"2",`+
				`"message":{"role":"assistant","content":[{"type":"text","text":"I round the cart per line now, as you say."}]}}`+"\n")
			hook := func(event string, more map[string]string) string {
				t.Helper()
				payload := map[string]string{"hook_event_name": event, "session_id": "s1", "cwd": dir, "transcript_path": filepath.Join(base, "none")}
				for k, v := range more {
					payload[k] = v
				}
				in, err := json.Marshal(payload)
				if err != nil {
					t.Fatal(err)
				}
				return run(in, self, "hook", "claude", event)
			}
			run(nil, self, "add", "--title", "The cart rounds per line", "--body", "cart.go rounds each line, since 1234567abc.", "--branch", "side")
			run(nil, self, "add", "--title", "The tax is of the state", "--body", "tax.go takes the rate of the state.")
			if told := hook("SessionStart", map[string]string{"source": "startup"}); !strings.Contains(told, "tax of the state") &&
				!strings.Contains(told, "The tax is of the state") {
				t.Errorf("the session was told nothing: %s", told)
			}
			hook("UserPromptSubmit", map[string]string{"prompt": "Which rate does the tax of the state take?"})
			hook("PreToolUse", map[string]string{"tool_name": "Read"})
			hook("SessionEnd", map[string]string{"transcript_path": transcript, "reason": "clear"})
			run(nil, self, "drain")
			run(nil, self, "inject", "--event", "start")
			run(nil, self, "inject", "--event", "prompt", "--text", "Which rate does the tax of the state take?")
			run(nil, self, "search", "rate of the tax")
			if left := waitForChildren(base, idleTime); len(left) > 0 {
				t.Errorf("background runs go on: %v", left)
			}
			if started := namesIn(t, ran); len(started) > 0 {
				t.Errorf("the folder started %q", started)
			}

			if left := namesIn(t, temp); len(left) > 0 {
				t.Errorf("temporary folders are left behind: %q", left)
			}
			cmd := exec.Command("git", "status")
			cmd.Dir, cmd.Env = dir, env
			out, err := cmd.CombinedOutput()
			if started := namesIn(t, ran); len(started) == 0 {
				t.Errorf("git itself starts nothing there, so this test shows nothing: %v\n%s", err, out)
			}
		})
	}
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
