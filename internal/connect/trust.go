package connect

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"anamnesis/internal/note"
)

// ErrNoProgram says that an agent cannot be asked, because its program is not found.
var ErrNoProgram = errors.New("its program was not found on the PATH")

// maxTrustAnswer is the longest line of an agent's answer, in bytes.
const maxTrustAnswer = 4 << 20

// Trust asks an agent which of our hooks it runs, and which it passes over until its user
// approves them. environ is the environment of its program; our own hooks are off in it.
func Trust(ctx context.Context, asks *TrustReporter, dir string, environ []string) (all []Approval, err error) {
	words, input, isAnswer := asks.Question(dir)
	program, err := exec.LookPath(words[0])
	if err != nil {
		return nil, ErrNoProgram
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, words[1:]...)
	cmd.Env = append(slices.Clip(environ), "ANAMNESIS_DISABLED=1")
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	stdin, err := cmd.StdinPipe() // it stays open: the program ends with its input, at times before it answers
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var answer []byte
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, maxTrustAnswer)
		for lines.Scan() {
			if isAnswer(lines.Bytes()) {
				answer = bytes.Clone(lines.Bytes())
				break
			}
		}
	}()
	_, werr := stdin.Write(input)
	select {
	case <-read:
	case <-ctx.Done():
	}
	ended := ctx.Err()
	werr = errors.Join(werr, stdin.Close()) // the program may be a script: what it started ends with its input
	cancel()
	_ = stdout.Close()
	<-read
	_ = cmd.Wait()
	if answer == nil {
		return nil, fmt.Errorf("%s did not say which hooks it trusts: %s", note.Line(CommandLine(words), 80),
			note.Line(fmt.Sprint(errors.Join(ended, werr)), 200))
	}
	if all = asks.Read(answer, Own); len(all) == 0 {
		return nil, errors.New("it lists no hook of ours")
	}
	return all, nil
}

// Approvals returns the part in which the approvals of hooks stand, none for an agent that asks for
// no approval. all are those to write.
func Approvals(h *Client, home string, all []Approval) []Part {
	asks := h.Approvals
	if asks == nil {
		return nil
	}
	return []Part{{
		What: "approvals", Path: asks.Path(home),
		Install:   func(old []byte) ([]byte, error) { return asks.Approve(old, all) },
		Uninstall: asks.Disapprove,
	}}
}
