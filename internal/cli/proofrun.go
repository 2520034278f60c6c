package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/config"
)

// errTestOnly says that a script uses something that only the tests have.
var errTestOnly = errors.New("needs a tool of the tests")

// A proofRun runs a script of the tests in the hands of a user: the few
// commands that proofs are written in, each program run by this executable.
type proofRun struct {
	work, at       string // the folder of the script, and the present one
	exe            string
	env            map[string]string
	stdin          []byte
	stdout, stderr string
}

// runProof runs a script in an empty folder. The error says which line failed.
func runProof(ctx context.Context, dir, text string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	script, files := splitArchive(text)
	r := &proofRun{work: dir, at: dir, exe: exe, env: map[string]string{
		"HOME": filepath.Join(dir, "home"), "USERPROFILE": filepath.Join(dir, "home"), "WORK": dir,
		"CLAUDE_CONFIG_DIR": filepath.Join(dir, "claude"), "ANAMNESIS_MACHINE_ID": "testbox", "ANAMNESIS_SYNC": "off",
		"STORE": filepath.Join(dir, "home", ".anamnesis"), "TZ": "UTC", "LC_ALL": "C",
	}}
	for _, kv := range config.Environ() {
		if key, value, _ := strings.Cut(kv, "="); strings.EqualFold(key, "PATH") || strings.EqualFold(key, "SystemRoot") ||
			strings.HasPrefix(strings.ToUpper(key), "TMP") || strings.EqualFold(key, "TEMP") {
			r.env[key] = value
		}
	}
	if err := os.MkdirAll(r.env["HOME"], 0o700); err != nil {
		return err
	}
	for name, data := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			return err
		}
	}
	n := 0
	for line := range strings.Lines(script) {
		n++
		words := r.words(strings.TrimSpace(line))
		if len(words) == 0 {
			continue
		}
		if err := r.step(ctx, words); err != nil {
			return fmt.Errorf("line %d, %s: %w", n, strings.TrimSpace(line), err)
		}
	}
	return nil
}

// splitArchive cuts an archive of text into its head and its files.
func splitArchive(text string) (head string, files map[string]string) {
	files = make(map[string]string)
	name := ""
	for line := range strings.Lines(text) {
		if s := strings.TrimSpace(line); strings.HasPrefix(s, "-- ") && strings.HasSuffix(s, " --") && len(s) > 6 {
			name = strings.TrimSpace(s[3 : len(s)-3])
			files[name] = ""
		} else if name == "" {
			head += line
		} else {
			files[name] += line
		}
	}
	return head, files
}

// words cuts a line at blanks; quotes keep them, and variables are filled in.
func (r *proofRun) words(line string) (words []string) {
	var word strings.Builder
	quoted, any := false, false
	flush := func() {
		if any {
			words = append(words, word.String())
		}
		word.Reset()
		any = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\'' && i+1 < len(line) && line[i+1] == '\'':
			word.WriteByte(c)
			i++
		case c == '\'':
			quoted, any = !quoted, true
		case quoted:
			word.WriteByte(c)
		case c == ' ' || c == '\t':
			flush()
		case c == '#' && !any:
			return words
		case c == '$':
			end := i + 1
			for end < len(line) && (line[end] == '_' || 'A' <= line[end] && line[end] <= 'Z') {
				end++
			}
			word.WriteString(r.env[line[i+1:end]])
			any, i = true, end-1
		default:
			word.WriteByte(c)
			any = true
		}
	}
	flush()
	return words
}

func (r *proofRun) step(ctx context.Context, words []string) error {
	not := words[0] == "!"
	if not {
		words = words[1:]
	}
	args := words[1:]
	switch words[0] {
	case "env":
		key, value, _ := strings.Cut(args[0], "=")
		r.env[key] = value
	case "cd":
		r.at = r.path(args[0])
	case "exec":
		return r.exec(ctx, args, not)
	case "stdout":
		return match(r.stdout, args, not)
	case "stderr":
		return match(r.stderr, args, not)
	case "stdin":
		var err error
		r.stdin, err = r.read(args[0])
		return err
	case "cp":
		data, err := r.read(args[0])
		if err != nil {
			return err
		}
		return os.WriteFile(r.path(args[1]), data, 0o600)
	case "rm":
		return os.RemoveAll(r.path(args[0]))
	case "mkdir":
		return os.MkdirAll(r.path(args[0]), 0o700)
	case "exists":
		if _, err := os.Stat(r.path(args[0])); (err == nil) == not {
			return errors.New("it is not so")
		}
	default:
		return fmt.Errorf("%w: %s", errTestOnly, words[0])
	}
	return nil
}

func (r *proofRun) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.at, filepath.FromSlash(name))
}

func (r *proofRun) read(name string) ([]byte, error) {
	switch name {
	case "stdout":
		return []byte(r.stdout), nil
	case "stderr":
		return []byte(r.stderr), nil
	}
	return os.ReadFile(r.path(name))
}

// proofStep is how long one program of a proof may take.
const proofStep = time.Minute

func (r *proofRun) exec(ctx context.Context, args []string, not bool) error {
	if args[0] != "anamnesis" {
		return fmt.Errorf("%w: %s", errTestOnly, args[0])
	}
	ctx, cancel := context.WithTimeout(ctx, proofStep)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.exe, args[1:]...)
	cmd.Dir, cmd.Stdin = r.at, bytes.NewReader(r.stdin)
	for key, value := range r.env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	err := cmd.Run()
	r.stdout, r.stderr, r.stdin = out.String(), diag.String(), nil
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return err
	case err != nil && !not:
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(r.stderr))
	case err == nil && not:
		return errors.New("it went well and should not")
	}
	return nil
}

// match compares what a program said with a pattern.
func match(said string, args []string, not bool) error {
	count := -1
	if number, ok := strings.CutPrefix(args[0], "-count="); ok {
		count, _ = strconv.Atoi(number)
		args = args[1:]
	}
	pattern, err := regexp.Compile("(?m)" + args[0])
	if err != nil {
		return err
	}
	n := len(pattern.FindAllString(said, -1))
	switch {
	case not && n > 0:
		return errors.New("it says so")
	case !not && n == 0:
		return errors.New("it does not say so")
	case count >= 0 && n != count:
		return fmt.Errorf("it says so %d times", n)
	}
	return nil
}
