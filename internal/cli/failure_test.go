package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/store/storetest"

	"github.com/gofrs/flock"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Commands whose data is not one object.
var notJSON = map[string]string{
	"tail":         "a line of JSON for each record",
	"serve":        "messages of MCP",
	"hook":         "what an agent reads",
	"man":          "a page of a manual",
	"merge-driver": "what git reads",
	"dashboard":    "it serves pages until it is ended",
	"prompts":      "it plays sessions for a minute, whatever the store is; a script looks at its JSON",
	"learning":     "likewise",
}

// TestFailuresInJSON makes every command fail in every way that it has, with --json:
// standard output holds one object or nothing, and what failed is one object on
// standard error, in the last line, with the exit code. The ways come from the command
// tree, so that a new command is met here, too.
func TestFailuresInJSON(t *testing.T) {
	storetest.SkipQuick(t)
	home := alone(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(home, "locked")
	if err := os.Mkdir(locked, 0o700); err != nil {
		t.Fatal(err)
	}
	l := flock.New(filepath.Join(locked, "store.lock"))
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal("not locked:", err)
	}
	defer func() { _ = l.Unlock() }()
	unknown := slices.Repeat([]string{"01ABCDEFGHJKMNPQRSTVWXYZ00"}, 4)
	var waiting sync.WaitGroup
	var visit func(cmd *cobra.Command, path []string)
	visit = func(cmd *cobra.Command, path []string) {
		try := func(home string, args ...string) {
			t.Helper()
			failure(t, home, append(slices.Clone(path), args...))
		}
		wait := func(args ...string) {
			args = append(slices.Clone(path), args...)
			if testing.Short() || slices.Contains(args, "--lines") || slices.Contains(args, "--follow") { // a line of JSON for each, without end
				return
			}
			waiting.Go(func() { failure(t, locked, args) })
		}
		n := 0 // how many arguments it takes at least
		for n < 4 && cmd.Args != nil && cmd.Args(cmd, unknown[:n]) != nil {
			n++
		}
		fit := unknown[:n]
		with := func(flags ...string) []string { return append(flags, fit...) }
		try(home, with("--no-such-flag")...)
		try(home, with("--set", "nonsense")...)
		try(home, with("--set", "sessions.days=many")...)
		try(home)
		try(home, fit...)
		try(home, unknown...)
		try(file, fit...)
		wait(fit...)
		for _, f := range flagsOf(cmd) {
			switch f.Value.Type() {
			case "bool":
				try(home, with("--"+f.Name+"=maybe")...)
				wait(with("--" + f.Name)...)
			case "int", "float64", "duration":
				try(home, with("--"+f.Name, "many")...)
				try(home, with("--"+f.Name, "-7")...)
			default:
				try(home, with("--"+f.Name, "\x00/no such thing")...)
				try(home, with("--"+f.Name, "")...)
			}
		}
		for _, sub := range cmd.Commands() {
			former := slices.ContainsFunc(commands, func(c namedCommand) bool { return c.name == sub.Name() && c.path != "" })
			if notJSON[sub.Name()] == "" && (len(path) > 0 || !former) {
				visit(sub, append(slices.Clone(path), sub.Name()))
			}
		}
	}
	visit((&program{environ: config.Process}).root(commands...), nil)
	waiting.Wait()
}

// failure runs a command that may fail, and checks how it says so.
func failure(t *testing.T, home string, args []string) {
	t.Helper()
	args = append(args, "--json")
	var out, diag bytes.Buffer
	code := programAt(home, "", "", &out, &diag, "patience=0.1").run(args)
	answer := map[string]any{}
	dec := json.NewDecoder(&out)
	text := out.String()
	err := dec.Decode(&answer)
	if err == nil {
		var more any
		if err = dec.Decode(&more); err == nil || err != io.EOF {
			t.Errorf("%q prints more than one value: %q", args, text)
		}
		err = nil
	}
	switch {
	case err == io.EOF && code == 0:
		t.Errorf("%q exits with 0 and says nothing", args)
	case err != nil && err != io.EOF:
		t.Errorf("%q prints no JSON: %q", args, text)
	case err == nil: // the answer says it, whatever the code
		return
	}
	lines := strings.Split(strings.TrimSpace(diag.String()), "\n")
	var said struct {
		Schema int         `json:"schema_version"`
		Error  app.Failure `json:"error"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &said); err != nil || said.Error.Message == "" || said.Error.Exit != code {
		t.Errorf("%q exits with %d and says %q", args, code, diag.String())
	}
	if !strings.Contains(said.Error.Message+said.Error.Hint, "`") {
		t.Errorf("%q names no command that helps: %q", args, diag.String())
	}
}

// programAt is the program of a user with a home of their own, whose store is that folder.
func programAt(home, stdin, editor string, out, diag io.Writer, settings ...string) *program {
	return &program{
		screen: screen{stdout: out, stderr: diag}, stdin: strings.NewReader(stdin),
		environ: func(flags []string) config.Environment {
			vars := map[string]string{
				"ANAMNESIS_DISABLED": "1", "CLAUDE_CONFIG_DIR": filepath.Join(home, "claude"), "PATH": os.Getenv("PATH"), "EDITOR": editor,
			}
			return config.Environment{
				Lookup:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
				UserHome: home, Hostname: "testbox", Flags: slices.Concat([]string{"home=" + home, "sync.on=false"}, settings, flags),
			}
		},
	}
}

func flagsOf(cmd *cobra.Command) (all []*pflag.Flag) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			all = append(all, f)
		}
	})
	return all
}
