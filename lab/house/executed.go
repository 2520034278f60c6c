package house

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// inputs holds what the program reads: a session of 23 lines and two hook events.
//
//go:embed testdata/session.jsonl testdata/start.json testdata/prompt.json
var inputs embed.FS

// In inputs, inputDir is replaced by the folder of the project, and inputDay by yesterday: the program
// treats old sessions differently.
const (
	inputDir = "/home/lin/src/shop"
	inputDay = "2026-03-02"
)

// runs lists the measured command lines in their order: each finds what the earlier ones wrote.
var runs = []struct {
	key, name string
	args      []string
	stdin     string // name of an input
}{
	{key: "run-version", name: "functions executed by --version", args: []string{"--version"}},
	{key: "run-add", name: "functions executed by add", args: []string{"add", "--title", "Use pnpm", "--body", "Never npm."}},
	{key: "run-search", name: "functions executed by search", args: []string{"search", "pnpm"}},
	{
		key: "run-prompt", name: "functions executed by the prompt hook",
		args: []string{"hook", "claude", "UserPromptSubmit"}, stdin: "prompt.json",
	},
	{
		key: "run-capture", name: "functions executed by the capture of a session of 23 lines",
		args: []string{"capture", "--transcript", "session.jsonl"},
	},
	{
		key: "run-start", name: "functions executed by the session start hook",
		args: []string{"hook", "claude", "SessionStart"}, stdin: "start.json",
	},
}

// executed builds the program with coverage counters, runs it on fixed input in an empty
// home folder, and counts the functions of each run, those of its background processes
// included.
func executed(ctx context.Context, root string) (all []Figure, err error) {
	work, err := os.MkdirTemp("", "anamnesis-house-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if work, err = filepath.EvalSymlinks(work); err != nil {
		return nil, err
	}
	program := filepath.Join(work, "anamnesis")
	if err := command(ctx, root, os.Environ(), "go", "build", "-cover", "-o", program, ".").Run(); err != nil {
		return nil, fmt.Errorf("build with coverage: %w", err)
	}
	project, env, err := prepare(ctx, work)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		counters := filepath.Join(work, r.key)
		if err := os.Mkdir(counters, 0o700); err != nil {
			return nil, err
		}
		cmd := command(ctx, project, append(env, "GOCOVERDIR="+counters), program, r.args...)
		if r.stdin != "" {
			text, err := os.ReadFile(filepath.Join(project, r.stdin))
			if err != nil {
				return nil, err
			}
			cmd.Stdin = bytes.NewReader(text)
		}
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.key, err)
		}
		if err := wait(ctx, program); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.key, err)
		}
		n, err := countFunctions(ctx, root, counters)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.key, err)
		}
		all = append(all, Figure{r.key, r.name, n})
	}
	return all, nil
}

// command returns a command whose output is discarded and whose diagnostics are shown.
func command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
	return cmd
}

// prepare makes a git repository with the inputs in it, and an environment in which no
// setting of the user has an effect.
func prepare(ctx context.Context, work string) (project string, env []string, err error) {
	project, home := filepath.Join(work, "shop"), filepath.Join(work, "home")
	for _, dir := range []string{project, home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", nil, err
		}
	}
	// On a busy machine a hook leaves out what takes too long, so patience is large.
	env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USERPROFILE=" + home, "TMPDIR=" + os.TempDir(), "LC_ALL=C", "TZ=UTC",
		"ANAMNESIS_HOME=" + filepath.Join(work, "store"), "ANAMNESIS_MACHINE_ID=house", "ANAMNESIS_PATIENCE=100", "GIT_CONFIG_NOSYSTEM=1",
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"-c", "user.name=house", "-c", "user.email=house@example.org", "commit", "-q", "--allow-empty", "-m", "start"},
	} {
		if err := command(ctx, project, env, "git", args...).Run(); err != nil {
			return "", nil, fmt.Errorf("make a project: %w", err)
		}
	}
	entries, err := inputs.ReadDir("testdata")
	if err != nil {
		return "", nil, err
	}
	for _, e := range entries {
		text, err := inputs.ReadFile("testdata/" + e.Name())
		if err != nil {
			return "", nil, err
		}
		text = bytes.ReplaceAll(text, []byte(inputDir), []byte(filepath.ToSlash(project)))
		text = bytes.ReplaceAll(text, []byte(inputDay), []byte(time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)))
		if err := os.WriteFile(filepath.Join(project, e.Name()), text, 0o600); err != nil {
			return "", nil, err
		}
	}
	return project, env, nil
}

// longest is how long background processes may take. They need less than a second.
const longest = 2 * time.Minute

// wait returns when no process of the program runs any more. It looks twice, because a
// process that ends during the first look may have started another.
func wait(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	for idle := 0; idle < 2; {
		running, err := isRunning(ctx, program)
		switch {
		case err != nil:
			return err
		case running:
			idle = 0
		default:
			idle++
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for background processes: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// isRunning reports whether a process of the program runs.
func isRunning(ctx context.Context, program string) (bool, error) {
	if runtime.GOOS != "linux" {
		out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "command=").Output()
		return strings.Contains(string(out), program), err
	}
	processes, err := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range processes {
		if target, err := os.Readlink(exe); err == nil && target == program {
			return true, nil
		}
	}
	return false, err
}

// countFunctions counts the functions of our module that were executed at least in part.
func countFunctions(ctx context.Context, root, counters string) (int, error) {
	cmd := command(ctx, root, os.Environ(), "go", "tool", "covdata", "func", "-i="+counters)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("read coverage: %w", err)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "total" && words[len(words)-1] != "0.0%" {
			n++
		}
	}
	if n == 0 {
		return 0, errors.New("read coverage: no function was executed")
	}
	return n, nil
}
