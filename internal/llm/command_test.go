package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/store/storetest"
)

// TestMain lets the test binary play an agent's command line: with FAKE_AGENT in
// its environment it behaves as that says, and leaves what it saw in a file.
func TestMain(m *testing.M) {
	if how := os.Getenv("FAKE_AGENT"); how != "" {
		os.Exit(fakeAgent(how))
	}
	os.Exit(m.Run())
}

type seen struct {
	Args  []string
	Env   []string
	Dir   string
	Files []string
	Stdin string
}

func fakeAgent(how string) int {
	in, _ := io.ReadAll(os.Stdin)
	dir, _ := os.Getwd()
	s := seen{Args: os.Args[1:], Env: os.Environ(), Dir: dir, Stdin: string(in)}
	entries, _ := os.ReadDir(".")
	for _, e := range entries {
		s.Files = append(s.Files, e.Name())
	}
	data, _ := json.Marshal(s)
	_ = os.WriteFile(os.Getenv("FAKE_SEEN"), data, 0o600)
	form := os.Getenv("FAKE_FORM")
	says := func(text string) int {
		if out := formed(form, text); out != "" {
			fmt.Print(out)
			return 0
		}
		if i := slices.Index(os.Args, "--output-last-message"); i > 0 {
			fmt.Println(`{"type":"thread.started","thread_id":"x"}`)
			fmt.Println("no JSON at all")
			fmt.Println(`{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7}}`)
			_ = os.WriteFile(os.Args[i+1], []byte(text), 0o600)
			return 0
		}
		out, _ := json.Marshal(map[string]any{
			"type": "result", "subtype": "success", "is_error": false, "result": text,
			"usage": map[string]int{"input_tokens": 40, "cache_read_input_tokens": 60, "output_tokens": 7},
		})
		if how == "verbose" {
			out = []byte(`[{"type":"system"},` + string(out) + "]")
		}
		fmt.Println(string(out))
		return 0
	}
	switch how {
	case "good", "verbose":
		return says("  a fine answer\n")
	case "empty":
		return says("")
	case "old": // knows no flag that is younger than itself
		for _, flag := range []string{"--tools", "--no-session-persistence", "--ephemeral", "--json"} {
			if slices.Contains(os.Args, flag) {
				fmt.Fprintf(os.Stderr, "error: unknown option '%s'\n", flag)
				return 1
			}
		}
		return says("from an old one")
	case "signed out":
		fmt.Println(`{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}`)
		return 0
	case "fails":
		fmt.Fprintf(os.Stderr, "\x1b[31mcannot use token ghp_%s in %s\n", strings.Repeat("aB3dE6gH9", 4), strings.Repeat("x", 4000))
		return 3
	case "garbage":
		fmt.Println("Welcome!")
		return 0
	case "endless":
		for range 100 {
			fmt.Print(strings.Repeat("x", 1<<20))
		}
		return 0
	case "newer": // has no model of ours
		if i := slices.Index(os.Args, "--model"); i > 0 {
			fmt.Fprintf(os.Stderr, "Error: Model %q from --model flag is not available.\n", os.Args[i+1])
			return 1
		}
		return says("from its own model")
	case "login", "quota", "no model":
		fmt.Print(refusal(form, how))
		return 1
	case "hang":
		fmt.Println("thinking")
		time.Sleep(time.Minute)
	}
	return 9
}

// agentCommand is a command line that behaves as how says.
func agentCommand(t *testing.T, provider, how, model string, timeout float64, b *llm.Budget) (*llm.Command, func() seen) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "seen")
	env := append(os.Environ(), "FAKE_AGENT="+how, "FAKE_SEEN="+file, "FAKE_FORM="+provider, "ANAMNESIS_REFLECTION_API_KEY=ours", "ANAMNESIS_DISABLED=0", "CLAUDECODE=1", "MY_OWN=kept")
	c, err := llm.NewCommand(llm.GeneratorOptions{Provider: provider, Model: model, Command: self, Timeout: timeout}, env, b)
	if err != nil {
		t.Fatal(err)
	}
	return c, func() seen {
		var s seen
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &s)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

var prompt = "What is this? " + strings.Repeat("It is long. ", 20_000)

func TestCommand(t *testing.T) {
	for _, provider := range []string{llm.Claude, llm.Codex} {
		b := &budget{left: 9}
		c, saw := agentCommand(t, provider, "good", "some-model", long, b.of())
		p := llm.Prompt{System: safe(t, "You are terse.")[0], User: safe(t, prompt)[0]}
		got, err := c.Complete(t.Context(), p)
		if err != nil || got.Text != "a fine answer" || got.Usage != (llm.Usage{Prompt: 100, Answer: 7}) || b.tokens != 107 {
			t.Errorf("%s: %+v, %v, %d tokens counted", provider, got, err, b.tokens)
		}
		if c.Name() != provider+"/some-model" {
			t.Errorf("name %s", c.Name())
		}
		s := saw()
		args := strings.Join(s.Args, " ")
		if strings.Contains(args, "What is this") || strings.Contains(args, "terse") {
			t.Errorf("%s: the prompt stands in the arguments: %.200s", provider, args)
		}
		if s.Stdin != "You are terse.\n\n"+prompt+"\n" {
			t.Errorf("%s: standard input %.100q", provider, s.Stdin)
		}
		if len(s.Files) != 0 {
			t.Errorf("%s: runs in a folder with %v", provider, s.Files)
		}
		if _, err := os.Stat(s.Dir); err == nil {
			t.Errorf("%s: %s is left behind", provider, s.Dir)
		}
		for _, want := range []string{"ANAMNESIS_DISABLED=1", "REFLECT_DISABLED=1", "MY_OWN=kept"} {
			if !slices.Contains(s.Env, want) {
				t.Errorf("%s: no %s", provider, want)
			}
		}
		for _, kv := range s.Env {
			if strings.HasPrefix(kv, "CLAUDECODE=") || strings.Contains(kv, "=ours") || kv == "ANAMNESIS_DISABLED=0" {
				t.Errorf("%s: gets %s", provider, kv)
			}
		}
		must := map[string][]string{
			llm.Claude: {"-p", "--output-format json", "--tools ", "--strict-mcp-config", `{"disableAllHooks":true}`, "--model some-model"},
			llm.Codex:  {"exec", "--sandbox read-only", "features.shell_tool=false", "--ephemeral", "--skip-git-repo-check", "--model some-model"},
		}
		for _, want := range must[provider] {
			if !strings.Contains(args, want) {
				t.Errorf("%s: no %q in %s", provider, want, args)
			}
		}
	}
}

// A version that does not know a flag is asked without it; tools stay off.
func TestCommandOfAnOldVersion(t *testing.T) {
	for _, provider := range []string{llm.Claude, llm.Codex} {
		c, saw := agentCommand(t, provider, "old", "", long, nil)
		for range 2 {
			text, err := c.Generate(t.Context(), llm.Prompt{User: safe(t, "x")[0]})
			if err != nil || text != "from an old one" {
				t.Errorf("%s: %q, %v", provider, text, err)
			}
		}
		if args := saw().Args; provider == llm.Claude && !slices.Contains(args, "--disallowedTools") {
			t.Errorf("its tools are on: %q", args)
		}
		if want := provider + "/" + presets[provider].small; c.Name() != want {
			t.Errorf("name %s, want %s", c.Name(), want)
		}
	}
}

func TestCommandIsVerbose(t *testing.T) {
	c, _ := agentCommand(t, llm.Claude, "verbose", "", long, nil)
	if text, err := c.Generate(t.Context(), llm.Prompt{User: safe(t, "x")[0]}); err != nil || text != "a fine answer" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestCommandFails(t *testing.T) {
	for _, tt := range []struct {
		provider, how, err string
		timeout            float64
	}{
		{llm.Claude, "signed out", "Please run /login", long},
		{llm.Claude, "garbage", "cannot be read", long},
		{llm.Codex, "garbage", "ends without an answer", long},
		{llm.Claude, "empty", "an empty answer", long},
		{llm.Claude, "fails", "exit status 3", long},
		{llm.Codex, "fails", "run it once in a terminal", long},
		{llm.Claude, "endless", "longer than 8 MB", long},
		{llm.Claude, "hang", "no answer within", 0.2},
	} {
		b := &budget{left: 9}
		c, _ := agentCommand(t, tt.provider, tt.how, "", tt.timeout, b.of())
		began := time.Now()
		_, err := c.Generate(t.Context(), llm.Prompt{User: safe(t, "x")[0]})
		if err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s %s: %v, want %q", tt.provider, tt.how, err, tt.err)
			continue
		}
		if strings.Contains(err.Error(), "aB3dE6gH9") || strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 600 {
			t.Errorf("%s: what it said is repeated: %s", tt.how, err)
		}
		if time.Since(began) > long*time.Second {
			t.Errorf("%s: %v", tt.how, time.Since(began))
		}
	}
	for _, o := range []llm.GeneratorOptions{{Provider: llm.OpenAI}, {Provider: llm.Claude, Model: "--dangerously-skip-permissions"}} {
		if _, err := llm.NewCommand(o, nil, nil); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	c, err := llm.NewCommand(llm.GeneratorOptions{Provider: llm.Codex, Command: filepath.Join(t.TempDir(), "codex")}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Generate(t.Context(), llm.Prompt{}); err == nil || !strings.Contains(err.Error(), "set reflection.command") {
		t.Errorf("not installed: %v", err)
	}
}

// What a command line has started goes with it.
func TestCommandDiesWithItsChildren(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands in for the agent")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "claude")
	pid := filepath.Join(dir, "pid")
	text := "#!/bin/sh\nsleep 600 &\necho $! > " + pid + "\nwait\n"
	storetest.WriteProgram(t, script, text)
	c, err := llm.NewCommand(llm.GeneratorOptions{Provider: llm.Claude, Command: script, Timeout: long}, os.Environ(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	child := make(chan string, 1)
	go func() { // cancels when the child is there
		for ctx.Err() == nil {
			if data, _ := os.ReadFile(pid); strings.HasSuffix(string(data), "\n") {
				child <- strings.TrimSpace(string(data))
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if _, err := c.Generate(ctx, llm.Prompt{User: safe(t, "x")[0]}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	stat := "/proc/" + <-child + "/stat"
	for began := time.Now(); ; time.Sleep(time.Millisecond) { // a signal takes its time
		state, err := os.ReadFile(stat)
		if err != nil || strings.Contains(string(state), ") Z") {
			break
		}
		if time.Since(began) > long*time.Second {
			t.Fatalf("the child lives on: %s", state)
		}
	}
}

func TestOpenGenerator(t *testing.T) {
	for _, tt := range []struct {
		o    llm.GeneratorOptions
		name string
	}{
		{llm.GeneratorOptions{Provider: llm.Claude}, "claude/haiku"},
		{llm.GeneratorOptions{Provider: llm.OpenCode}, "opencode/default"},
		{llm.GeneratorOptions{Provider: llm.Codex, Model: "m"}, "codex/m"},
		{llm.GeneratorOptions{Provider: llm.OpenAI, Model: "m", Key: "k"}, "openai/m"},
		{llm.GeneratorOptions{Provider: llm.DeepSeek, Model: "m", Key: "k"}, "deepseek/m"},
		{llm.GeneratorOptions{Provider: llm.Local, URL: "http://localhost:1", Model: "m"}, "local/m"},
	} {
		g, err := llm.OpenGenerator(tt.o, llm.Network{}, nil, nil)
		if err != nil || g.Name() != tt.name {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
	for _, o := range []llm.GeneratorOptions{{}, {Provider: llm.Heuristic}, {Provider: llm.OpenAI, Key: "k"}, {Provider: llm.Local, Model: "m"}} {
		if _, err := llm.OpenGenerator(o, llm.Network{}, nil, nil); !errors.Is(err, llm.ErrNotConfigured) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
