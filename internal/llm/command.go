package llm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/redact"
)

// Command is a Generator that is the command line of an agent, run once for
// each prompt: without tools, without permissions, in an empty folder. The
// prompt goes to its standard input, never into its arguments, which everybody
// on the machine can read. It is safe for concurrent use.
type Command struct {
	dialect dialect
	label   string
	program string
	env     []string
	timeout time.Duration
	budget  *Budget

	mu      sync.Mutex
	model   string   // "" is the program's own
	chosen  bool     // by a setting and not by us
	unknown []string // flags that this version of the program does not know
}

var _ Generator = (*Command)(nil)

// A dialect is how one agent is run and what it answers with.
type dialect struct {
	program string
	small   string // the vendor's smallest model; "" where the program has many vendors
	flags   func(model, file string) []option
	read    func(stdout, file []byte) (Completion, error)
	files   [][2]string // in the folder in which it runs: name and text
	env     []string    // besides the usual
}

// An option is an argument with what follows it. One that is not needed is left
// out, or replaced by instead, for a version that does not know it.
type option struct {
	words   []string
	needed  bool
	instead []string
}

// Limits of one run.
const (
	maxCommandOutput = 8 << 20 // bytes
	maxStderr        = 64 << 10
	commandFactor    = 4 // times GeneratorOptions.Timeout
	killDelay        = 2 * time.Second
)

// NewCommand returns a Generator that runs a command line. env is the
// environment it starts from, as in os.Environ; the error is ErrNotConfigured
// when o names no command line.
func NewCommand(o GeneratorOptions, env []string, b *Budget) (*Command, error) {
	d, ok := dialects()[o.Provider]
	if !ok {
		return nil, fmt.Errorf("%w: %q is no command line", ErrNotConfigured, o.Provider)
	}
	if strings.HasPrefix(o.Model, "-") {
		return nil, fmt.Errorf("the model %q begins with a hyphen; set reflection.model to a name", o.Model)
	}
	c := &Command{
		dialect: d, label: o.Provider, program: cmp.Or(o.Command, d.program), model: o.Model, chosen: o.Model != "", env: childEnv(env),
		timeout: commandFactor * seconds(o.Timeout, defaultWhole/2), budget: b,
	}
	switch o.Model {
	case "":
		c.model = d.small
	case OwnModel:
		c.model = ""
	}
	return c, nil
}

// OwnModel stands in place of a model name for the default model of a command line.
const OwnModel = "default"

// childEnv is the environment of a child of ours. Its hooks do nothing, so that
// what we ask is never captured as a session; it gets none of our keys; and it
// does not take itself for a part of the agent that may have started us.
func childEnv(env []string) []string {
	out := make([]string, 0, len(env)+2)
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		key = strings.ToUpper(key)
		switch {
		case strings.HasPrefix(key, "ANAMNESIS_"), strings.HasPrefix(key, "RECALL_"), strings.HasPrefix(key, "REFLECT_"):
		case key == "CLAUDECODE", key == "CLAUDE_CODE_ENTRYPOINT":
		default:
			out = append(out, kv)
		}
	}
	return append(out, "ANAMNESIS_DISABLED=1", "REFLECT_DISABLED=1")
}

// Name implements Generator. It changes when the program does not have our default.
func (c *Command) Name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.label + "/" + cmp.Or(c.model, OwnModel)
}

// Generate implements Generator.
func (c *Command) Generate(ctx context.Context, p Prompt) (string, error) {
	got, err := c.Complete(ctx, p)
	return got.Text, err
}

// Complete is Generate that also says what the answer cost.
func (c *Command) Complete(ctx context.Context, p Prompt) (Completion, error) {
	got, err := metered(ctx, c.Name, c.budget, p, func() (Completion, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("no answer within %v; set reflection.timeout higher", c.timeout))
		defer cancel()
		got, err := c.run(ctx, p)
		for err != nil && c.learn(err) {
			got, err = c.run(ctx, p)
		}
		return got, err
	})
	if err == nil && got.Text == "" {
		err = fmt.Errorf("ask %s: %s gives %w", c.Name(), c.dialect.program, ErrEmpty)
	}
	return got, err
}

// The folder in which a program runs: one of the system's temporary folders, and one in it.
const (
	workPrefix = "anamnesis-model-"
	workName   = "work"
)

// Ours reports whether a folder is one in which a Command ran its program. Agents that
// cannot be kept from saving their sessions leave one there, which is no session of a user.
func Ours(dir string) bool {
	dir = strings.ReplaceAll(dir, `\`, "/")
	return path.Base(dir) == workName && strings.HasPrefix(path.Base(path.Dir(dir)), workPrefix)
}

// run starts the program once.
func (c *Command) run(ctx context.Context, p Prompt) (Completion, error) {
	dir, err := os.MkdirTemp("", workPrefix)
	if err != nil {
		return Completion{}, fmt.Errorf("make a folder to run it in: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // an empty folder of the system's own
	work := filepath.Join(dir, workName)
	if err := os.Mkdir(work, 0o700); err != nil {
		return Completion{}, fmt.Errorf("make a folder to run it in: %w", err)
	}
	for _, f := range c.dialect.files {
		name := filepath.Join(work, filepath.FromSlash(f[0]))
		err := os.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = os.WriteFile(name, []byte(f[1]), 0o600)
		}
		if err != nil {
			return Completion{}, fmt.Errorf("make a folder to run it in: %w", err)
		}
	}
	file := filepath.Join(dir, "answer")
	cmd := exec.CommandContext(ctx, c.program, c.args(file)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = work, slices.Concat(c.env, c.dialect.env), killDelay
	cmd.Stdin = strings.NewReader(p.System.String() + "\n\n" + p.User.String() + "\n")
	stdout, stderr := &bounded{most: maxCommandOutput}, &bounded{most: maxStderr, drop: true}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	detachGroup(cmd)
	err = cmd.Run()
	limits := ParseLimits(stdout.Bytes())
	if err != nil && len(limits) == 0 && ctx.Err() == nil {
		limits = refused(stderr.Bytes())
	}
	limited(c.budget, c.Name(), limits)
	switch {
	case ctx.Err() != nil:
		return Completion{}, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return Completion{}, fmt.Errorf("the program %s is not there; install it, or set reflection.command to its path", c.program)
	case stdout.over: // the program may have died of it
		return Completion{}, fmt.Errorf("its answer is longer than %d MB", maxCommandOutput>>20)
	case err != nil:
		return Completion{}, c.failed(err, stdout.Bytes(), stderr.Bytes())
	}
	last, err := readBounded(file)
	if err != nil {
		return Completion{}, err
	}
	return c.dialect.read(stdout.Bytes(), last)
}

// readBounded reads the file that a program was asked to leave, if it did.
func readBounded(name string) ([]byte, error) {
	fi, err := os.Lstat(name)
	if err != nil || !fi.Mode().IsRegular() {
		return nil, nil //nolint:nilerr // many leave none; the dialect says whether that is right
	}
	if fi.Size() > maxCommandOutput {
		return nil, fmt.Errorf("its answer is longer than %d MB", maxCommandOutput>>20)
	}
	return os.ReadFile(name)
}

// args lists the arguments of a run.
func (c *Command) args(file string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var args []string
	for _, o := range c.dialect.flags(c.model, file) {
		if slices.Contains(c.unknown, o.words[0]) {
			args = append(args, o.instead...)
			continue
		}
		args = append(args, o.words...)
	}
	return args
}

// A commandError is a program that did not end well.
type commandError struct {
	program, stderr string
	why             error
}

func (e *commandError) Error() string {
	text := fmt.Sprintf("%s fails (%v)", e.program, e.why)
	if e.stderr != "" {
		text += ": " + e.stderr
	}
	return text + "; run it once in a terminal to see whether it is signed in"
}

func (e *commandError) Unwrap() error { return e.why }

// failed makes an error of a run. What the program says may hold anything, so
// it is redacted and cut.
func (c *Command) failed(err error, stdout, stderr []byte) error {
	said := stderr
	if len(bytes.TrimSpace(said)) == 0 {
		if _, rerr := c.dialect.read(stdout, nil); rerr != nil { // it may say why on the other stream
			said = []byte(rerr.Error())
		}
	}
	return &commandError{c.dialect.program, harmless(string(said)), err}
}

// harmless makes one short line of somebody else's words, without secrets.
func harmless(text string) string {
	return (&server{}).clean((&redact.Redactor{}).Redact(text).String())
}

// noModel is what programs say of a model that they do not have, or not for this account.
var noModel = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bmodel\b.*\b(?:not (?:found|exist|supported|available)|unknown|unavailable|invalid|no access)\b|` +
		`\b(?:unknown|invalid|unsupported|no such) model\b`)
})

// learn reports whether a run failed because of a flag that is not needed, or because
// the program does not have the model that we chose, and does without it from now on.
func (c *Command) learn(err error) bool {
	if c.dropModel(err) {
		return true
	}
	var failed *commandError
	if !errors.As(err, &failed) {
		return false
	}
	said := strings.ToLower(failed.stderr)
	if !slices.ContainsFunc([]string{"unknown option", "unexpected argument", "unrecognized", "unknown flag", "unknown argument"},
		func(s string) bool { return strings.Contains(said, s) }) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.dialect.flags(c.model, "") {
		flag := o.words[0]
		named := strings.Contains(said, flag) || len(flag) > len("--x") && strings.Contains(said, strings.TrimLeft(flag, "-"))
		if !o.needed && named && !slices.Contains(c.unknown, flag) {
			c.unknown = append(c.unknown, flag)
			return true
		}
	}
	return false
}

// dropModel lets the program use its own model where it lacks our default. A model that a
// setting names is never replaced.
func (c *Command) dropModel(err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.chosen || c.model == "" || !noModel().MatchString(err.Error()) {
		return false
	}
	c.model = ""
	return true
}

var errTooMuch = errors.New("too much output")

// A bounded buffer keeps at most so many bytes; more is an error, or dropped.
// No bytes.Buffer is embedded: its ReadFrom would pass by the bound.
type bounded struct {
	kept bytes.Buffer
	most int
	drop bool
	over bool // more came than is kept
}

func (b *bounded) Bytes() []byte { return b.kept.Bytes() }

func (b *bounded) Write(p []byte) (int, error) {
	room := max(0, b.most-b.kept.Len())
	b.kept.Write(p[:min(room, len(p))])
	if len(p) <= room {
		return len(p), nil
	}
	if b.over = true; !b.drop {
		return room, errTooMuch
	}
	return len(p), nil
}
