package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The oldest git that this package works with.
const (
	minMajor = 2
	minMinor = 30
)

// settings are given to every git, over what a configuration file says.
var settings = [...]string{
	"core.hooksPath=" + os.DevNull,
	"core.attributesFile=" + os.DevNull,
	"core.excludesFile=" + os.DevNull,
	"core.autocrlf=false",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.quotePath=false",
	"core.precomposeUnicode=true",
	"core.askPass=",
	"commit.gpgSign=false",
	"commit.template=",
	"gc.auto=0",
	"maintenance.auto=false",
	"init.templateDir=",
	"status.relativePaths=false",
	"diff.noprefix=false",
	"protocol.ext.allow=never",
	"credential.interactive=never",
	"advice.detachedHead=false",
}

// sealed returns the environment of a child: the caller's, without what would
// point git elsewhere, make it ask, or make it speak another language. HOME and
// the agent's socket stay, because ssh needs them.
func sealed(env []string, more ...string) []string {
	out := make([]string, 0, len(env)+20)
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		key = strings.ToUpper(key)
		switch {
		case strings.HasPrefix(key, "GIT_"), strings.HasPrefix(key, "LC_"), key == "LANG", key == "LANGUAGE",
			key == "SSH_ASKPASS", key == "SSH_ASKPASS_REQUIRE", key == "EDITOR", key == "VISUAL", key == "PAGER":
		default:
			out = append(out, kv)
		}
	}
	out = append(out,
		"ANAMNESIS_DISABLED=1", "REFLECT_DISABLED=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "GIT_EDITOR=:", "GIT_PAGER=cat", "LC_ALL=C",
	)
	return append(out, more...)
}

// A gitError is a git that failed.
type gitError struct {
	verb   string
	stderr string
	err    error
}

func (e *gitError) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.stderr), "\n")
	if line == "" {
		return fmt.Sprintf("git %s: %v", e.verb, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.verb, line)
}

func (e *gitError) Unwrap() error { return e.err }

// git runs git on the tree and returns what it prints. The arguments begin
// with the verb; in is its standard input.
func (g *git) git(ctx context.Context, in string, args ...string) (string, error) {
	prefix := []string{"--no-pager", "--literal-pathspecs"}
	for _, s := range settings {
		prefix = append(prefix, "-c", s)
	}
	if args[0] != "init" && args[0] != "version" {
		prefix = append(prefix, "--git-dir="+filepath.Join(g.dir, ".git"), "--work-tree="+g.dir)
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.program, append(prefix, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
	cmd.Dir = g.dir
	stamp := "@" + strconv.FormatInt(g.now().Unix(), 10) + " +0000"
	cmd.Env = sealed(
		g.env,
		"GIT_AUTHOR_NAME=anamnesis", "GIT_AUTHOR_EMAIL="+g.email, "GIT_AUTHOR_DATE="+stamp,
		"GIT_COMMITTER_NAME=anamnesis", "GIT_COMMITTER_EMAIL="+g.email, "GIT_COMMITTER_DATE="+stamp,
	)
	switch args[0] {
	case "status", "diff", "rev-parse", "config":
		cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0")
	}
	detach(cmd)
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	if cause := ctx.Err(); cause != nil && err != nil {
		if errors.Is(cause, context.DeadlineExceeded) {
			cause = fmt.Errorf("stopped after %v: %w", g.timeout, cause)
		}
		return "", &gitError{verb: args[0], err: cause}
	}
	if err != nil {
		return "", &gitError{verb: args[0], stderr: stderr.String(), err: err}
	}
	return stdout.String(), nil
}

// ready finds git and looks at its version, once.
func (g *git) ready(ctx context.Context) error {
	if g.program != "" {
		return nil
	}
	program, err := lookPath(g.name, g.env)
	if err != nil {
		return fmt.Errorf("%w: %s was not found; notes stay on this machine until git %d.%d or newer is installed, or sync is turned off",
			ErrNoGit, g.name, minMajor, minMinor)
	}
	g.program = program
	out, err := g.git(ctx, "", "version")
	if err == nil && !recent(out) {
		err = fmt.Errorf("%s is older than %d.%d", strings.TrimSpace(out), minMajor, minMinor)
	}
	if err != nil {
		g.program = ""
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w: %w; notes stay on this machine until git %d.%d or newer is installed, or sync is turned off",
			ErrNoGit, err, minMajor, minMinor)
	}
	return nil
}

// recent reads "git version 2.39.5 (Apple Git-154)".
func recent(version string) bool {
	fields := strings.Fields(version)
	if len(fields) < 3 {
		return false
	}
	parts := strings.SplitN(fields[2], ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (major > minMajor || major == minMajor && minor >= minMinor)
}

// lookPath finds a program in the PATH of env, in absolute folders only.
func lookPath(name string, env []string) (string, error) {
	if filepath.Base(name) != name {
		return exec.LookPath(name)
	}
	for i := len(env) - 1; i >= 0; i-- {
		key, list, _ := strings.Cut(env[i], "=")
		if !strings.EqualFold(key, "PATH") {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			if !filepath.IsAbs(dir) {
				continue
			}
			if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return found, nil
			}
		}
		break
	}
	return "", exec.ErrNotFound
}
