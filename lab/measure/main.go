// Measure measures the memory on data sets, in temporary stores, and the program itself:
//
//	go run -C lab ./measure retrieval -corpus C.jsonl -queries Q.jsonl -out RUN.tsv
//	go run -C lab ./measure ablate    -corpus C.jsonl -queries Q.jsonl [-qrels R.tsv]
//	go run -C lab ./measure gate      -corpus C.jsonl -queries Q.jsonl -strangers S.jsonl
//	go run -C lab ./measure page      [FOLDER]
//	go run -C lab ./measure learning  [FOLDER]
//	go run -C lab ./measure sessions  FOLDER
//	go run -C lab ./measure house     [-check | -update]
//
// docs/eval.md explains the data sets and the formats of their files. CONTRIBUTING.md explains
// house, which counts what the program costs to change and to run. Of the user's files, Measure reads
// only the settings and the models. It writes the file that -out names; house -update writes
// docs/house.json. Paths are relative to the folder lab, where go run -C starts the program.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/schema"
)

// An action measures one thing and returns what it measured and how people read it;
// no answer when it wrote that elsewhere.
type action func(ctx context.Context, h app.Host, args []string) (answer any, text func(io.Writer), err error)

// commands make their flags, and what they do with them.
var commands = map[string]func(*flag.FlagSet) action{
	"retrieval": retrieval, "ablate": ablate, "gate": gate, "page": page, "learning": learning, "sessions": sessions,
	"house": houseCounts,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr, config.Process)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return
	}
	fmt.Fprintln(os.Stderr, "measure:", err)
	os.Exit(app.Explain(err).Exit) //nolint:gocritic // nothing is left to be stopped
}

// run runs one command line.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, environ func([]string) config.Environment) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return app.Errorf(app.Usage, "give one of %s", strings.Join(slices.Sorted(maps.Keys(commands)), ", "))
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.SetOutput(stderr)
	asJSON := f.Bool("json", false, "print JSON")
	dsn := f.String("index", "", "keep the index in the migrated PostgreSQL database at this `address`")
	h := app.Host{
		Environ:  environ,
		Notify:   func(line string) { fmt.Fprintln(stderr, line) },
		Progress: func(what string) app.Progress { return &counter{stderr, what} },
	}
	f.Func("set", "use a setting's value (`KEY=VALUE`, may be repeated)", func(s string) error {
		h.Flags = append(h.Flags, s)
		return nil
	})
	do := commands[args[0]](f)
	if err := f.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return app.Errorf(app.Usage, "%w", err)
	}
	h.Config = config.Load(environ(h.Flags))
	if len(h.Config.Mistaken) > 0 {
		return app.Errorf(app.Usage, "%s", strings.Join(h.Config.Mistaken, "; "))
	}
	for _, w := range h.Config.Warnings {
		h.Notify(w)
	}
	if *dsn != "" {
		h.Backend = onServer(*dsn)
	}
	answer, text, err := do(ctx, h, f.Args())
	if err != nil || answer == nil {
		return err
	}
	if !*asJSON {
		text(stdout)
		return nil
	}
	e := json.NewEncoder(stdout)
	e.SetIndent("", "  ")
	return e.Encode(answer)
}

// onServer keeps the index of each throw-away store in a separate workspace of a database.
func onServer(dsn string) func(context.Context, string) (index.Backend, error) {
	return func(ctx context.Context, root string) (index.Backend, error) {
		sum := sha256.Sum256([]byte(root))
		h := hex.EncodeToString(sum[:16])
		workspace := strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
		if err := schema.AddWorkspace(ctx, dsn, workspace, filepath.Base(root)); err != nil {
			return nil, err
		}
		return postgres.Open(ctx, postgres.Options{DSN: dsn, Workspace: workspace, Origin: "here", Busy: time.Minute, Connect: time.Minute})
	}
}

// A counter shows how far a work is.
type counter struct {
	w    io.Writer
	what string
}

// Step implements app.Progress.
func (c *counter) Step(done, total int) { fmt.Fprintf(c.w, "\r%s: %d of %d", c.what, done, total) }

// Done implements app.Progress.
func (c *counter) Done() { fmt.Fprintln(c.w) }
