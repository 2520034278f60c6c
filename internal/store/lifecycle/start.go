package lifecycle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// maxSaid is how much of what a program writes to its standard error is kept, in bytes.
const maxSaid = 500

// start runs a program for an event in the folder dir and waits for it.
func start(ctx context.Context, program []string, e change, dir string, environ []string, limit time.Duration) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not end within %v", limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Dir = dir
	cmd.Env = append(withoutOurs(environ), "ANAMNESIS_DISABLED=1", "REFLECT_DISABLED=1",
		"ANAMNESIS_EVENT="+string(e.Event), "ANAMNESIS_EVENT_ID="+string(e.ID), "ANAMNESIS_EVENT_PROJECT="+plain(e.Project),
		"REFLECT_EVENT="+string(e.Event), "REFLECT_EVENT_PAYLOAD="+string(data))
	cmd.Stdin = bytes.NewReader(append(data, '\n'))
	said := &beginning{}
	cmd.Stderr = said
	cmd.WaitDelay = time.Second // what the program has started may hold its pipes
	err = runGroup(cmd)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && len(said.text) > 0 {
		return fmt.Errorf("%w: %s", err, strings.ToValidUTF8(strings.TrimSpace(string(said.text)), "�"))
	}
	return err
}

// runGroup runs a program to its end. What it has started ends with it.
func runGroup(cmd *exec.Cmd) error {
	var g group
	defer g.close()
	if err := g.prepare(cmd); err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = g.started() // of a program that has ended already there is nothing to hold
	return cmd.Wait()
}

// withoutOurs is the environment without our own settings: a program may ask the memory,
// and must not be taken for a hook.
func withoutOurs(environ []string) (out []string) {
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch name = strings.ToUpper(name); {
		case name == "ANAMNESIS_HOME":
			out = append(out, kv)
		case strings.HasPrefix(name, "ANAMNESIS_"), strings.HasPrefix(name, "RECALL_"), strings.HasPrefix(name, "REFLECT_"):
		default:
			out = append(out, kv)
		}
	}
	return out
}

// plain is a text without what no environment may hold.
func plain(s string) string { return strings.ReplaceAll(s, "\x00", "") }

// A beginning keeps the beginning of what is written to it, and takes the rest.
type beginning struct{ text []byte }

func (t *beginning) Write(p []byte) (int, error) {
	t.text = append(t.text, p[:min(len(p), maxSaid-len(t.text))]...)
	return len(p), nil
}
