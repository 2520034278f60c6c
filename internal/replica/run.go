package replica

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	"core.symlinks=false",
	"core.fileMode=false",
	"fetch.fsckObjects=true",
	"fetch.writeCommitGraph=false",
	"fetch.recurseSubmodules=false",
	"submodule.recurse=false",
	"push.gpgSign=false",
	"push.followTags=false",
	"push.pushOption=", // a hub that knows none refuses the push
}

// childEnv returns the environment of a child: the caller's, without what would
// point git elsewhere, make it ask, or make it speak another language. HOME and
// the agent's socket stay, because ssh needs them.
//
// Where a connection is made the user's git configuration stays too, below the
// settings above: credential helpers, proxies, certificates, the command of
// ssh and rewritten addresses (insteadOf) are there, and without them many could
// not sync. Everything else runs without it. docs/compatibility.md lists which of
// the user's settings have a say.
func childEnv(env []string, network bool, more ...string) []string {
	out := make([]string, 0, len(env)+20)
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		key = strings.ToUpper(key)
		switch {
		case network && slices.Contains(connecting[:], key):
			out = append(out, kv)
		case strings.HasPrefix(key, "GIT_"), strings.HasPrefix(key, "LC_"), key == "LANG", key == "LANGUAGE",
			key == "SSH_ASKPASS", key == "SSH_ASKPASS_REQUIRE", key == "EDITOR", key == "VISUAL", key == "PAGER":
		default:
			out = append(out, kv)
		}
	}
	out = append(out,
		"ANAMNESIS_DISABLED=1", "REFLECT_DISABLED=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never", "GIT_EDITOR=:", "GIT_PAGER=cat",
		"LC_ALL=C",
		"MALLOC_TRIM_THRESHOLD_=67108864", // glibc else gives zlib's memory back after each file: half of the time of a first commit
	)
	if !network {
		out = append(out, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	}
	return append(out, more...)
}

// connecting lists the variables of git that say how to reach a remote.
var connecting = [...]string{
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_PROXY_COMMAND", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
}

// A gitError is a git that failed.
type gitError struct {
	verb   string
	stdout string
	stderr string
	err    error
}

// code returns the exit code, -1 when there was none.
func (e *gitError) code() int {
	var exit *exec.ExitError
	if errors.As(e.err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

func (e *gitError) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.stderr), "\n")
	if line == "" {
		return fmt.Sprintf("git %s: %v", e.verb, e.err)
	}
	return fmt.Sprintf("git %s: %s", e.verb, line)
}

func (e *gitError) Unwrap() error { return e.err }

// A call is one run of git. The arguments begin with the verb.
type call struct {
	args    []string
	in      string    // its standard input
	src     io.Reader // its standard input, instead of in
	out     io.Writer // takes what it prints, which is returned when nil
	env     []string  // besides the usual
	network bool      // with the user's settings for connections
	locks   bool      // it takes locks in the repository, which a killed one leaves
}

// git runs git on the tree and returns what it prints.
func (g *git) git(ctx context.Context, in string, args ...string) (string, error) {
	return g.run(ctx, call{args: args, in: in, network: args[0] == "fetch" || args[0] == "push"})
}

func (g *git) run(ctx context.Context, c call) (string, error) {
	verb := c.args[0]
	prefix := []string{"--no-pager", "--literal-pathspecs"}
	for _, s := range settings {
		prefix = append(prefix, "-c", s)
	}
	if g.opaque {
		prefix = append(prefix, "-c", "core.compression=0", "-c", "pack.window=0")
	}
	if verb == "fetch" || verb == "push" || verb == "ls-remote" {
		for _, s := range g.link() {
			prefix = append(prefix, "-c", s)
		}
	}
	if verb != "init" && verb != "version" {
		prefix = append(prefix, "--git-dir="+filepath.Join(g.dir, ".git"), "--work-tree="+g.dir)
	}
	ctx, cancel := context.WithTimeout(ctx, g.o.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, g.program, append(prefix, c.args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.in), &stdout, &stderr
	if c.src != nil {
		cmd.Stdin = c.src
	}
	if c.out != nil {
		cmd.Stdout = c.out
	}
	cmd.Dir = g.dir
	stamp := "@" + strconv.FormatInt(g.o.Now().Unix(), 10) + " +0000"
	cmd.Env = childEnv(
		g.o.Env, c.network,
		"GIT_AUTHOR_NAME=anamnesis", "GIT_AUTHOR_EMAIL="+g.email, "GIT_AUTHOR_DATE="+stamp,
		"GIT_COMMITTER_NAME=anamnesis", "GIT_COMMITTER_EMAIL="+g.email, "GIT_COMMITTER_DATE="+stamp,
	)
	cmd.Env = append(cmd.Env, c.env...)
	switch {
	case verb == "status" || verb == "diff" || verb == "rev-parse" || verb == "config":
		cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0")
	case c.network:
		cmd.Env = append(cmd.Env, g.ssh...)
	}
	detach(cmd)
	cmd.WaitDelay = 2 * time.Second
	ended := func(bool) {}
	if c.locks {
		ended = keepAlive(cmd, filepath.Join(g.dir, ".git", runsFile))
	}
	err := cmd.Run()
	ended(ctx.Err() == nil)
	if cause := ctx.Err(); cause != nil && err != nil {
		if errors.Is(cause, context.DeadlineExceeded) {
			cause = fmt.Errorf("stopped after %v: %w", g.o.Timeout, cause)
		}
		return "", &gitError{verb: verb, err: cause}
	}
	if err != nil {
		return "", &gitError{verb: verb, stdout: g.clean(stdout.String()), stderr: g.clean(stderr.String()), err: err}
	}
	return stdout.String(), nil
}

// clean takes the password of the remote out of what git prints.
func (g *git) clean(text string) string { return hidePassword(text, g.o.Remote) }

// ready finds git and looks at its version, once.
func (g *git) ready(ctx context.Context) error {
	if g.program != "" {
		return nil
	}
	program, err := lookPath(g.o.Git, g.o.Env)
	if err != nil {
		return fmt.Errorf("%w: %s was not found; notes stay on this machine until git %d.%d or newer is installed, or sync is turned off",
			ErrNoGit, g.o.Git, minMajor, minMinor)
	}
	g.program = program
	out, err := g.git(ctx, "", "version")
	if err == nil && !since(out, minMajor, minMinor) {
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
	g.packs = since(out, packMajor, packMinor)
	return nil
}

// since reports whether "git version 2.39.5 (Apple Git-154)" is at least a version.
func since(version string, major, minor int) bool {
	fields := strings.Fields(version)
	if len(fields) < 3 {
		return false
	}
	parts := strings.SplitN(fields[2], ".", 3)
	if len(parts) < 2 {
		return false
	}
	has, err1 := strconv.Atoi(parts[0])
	hasMinor, err2 := strconv.Atoi(parts[1])
	return err1 == nil && err2 == nil && (has > major || has == major && hasMinor >= minor)
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
