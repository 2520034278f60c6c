package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"time"
)

// A series is the same thing measured many times.
type series []time.Duration

// at returns a quantile in milliseconds.
func (s series) at(q float64) float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return ms(sorted[max(0, i)])
}

func (s series) median() float64 { return s.at(0.5) }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// A step is measured once a round; it returns what it took.
type step func() (time.Duration, error)

// rotate runs the steps one after the other, round by round: what disturbs the
// machine disturbs them all alike. One round before is not counted.
func rotate(rounds int, steps ...step) ([]series, error) {
	got := make([]series, len(steps))
	for round := -1; round < rounds; round++ {
		for i, s := range steps {
			d, err := s()
			if err != nil {
				return nil, err
			}
			if round >= 0 {
				got[i] = append(got[i], d)
			}
		}
	}
	return got, nil
}

// A child is a program that is run many times.
type child struct {
	args  []string
	env   []string // beside the few names that every child gets
	stdin []byte
	dir   string
	wants string // must be in the output
	ok    int    // an exit code that is no failure beside 0
}

// run runs it once and returns its output.
func (c child) run() ([]byte, time.Duration, error) {
	out, took, _, err := c.runTimed()
	return out, took, err
}

// runTimed is run, and tells the processor time as well.
func (c child) runTimed() (out []byte, took, cpu time.Duration, err error) {
	cmd := exec.CommandContext(context.Background(), c.args[0], c.args[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, c.env...)
	cmd.Dir = c.dir
	if c.stdin != nil {
		cmd.Stdin = bytes.NewReader(c.stdin)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err = cmd.Run()
	took = time.Since(began)
	if cmd.ProcessState != nil {
		cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	if err != nil && (c.ok == 0 || cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != c.ok) {
		return nil, took, cpu, fmt.Errorf("%v: %w\n%s", c.args, err, stderr.Bytes())
	}
	if !bytes.Contains(stdout.Bytes(), []byte(c.wants)) {
		return nil, took, cpu, fmt.Errorf("%v: %q is not in its output %q\n%s", c.args, c.wants, stdout.Bytes(), stderr.Bytes())
	}
	return append(stdout.Bytes(), stderr.Bytes()...), took, cpu, nil
}

// step makes one step of it. Pause keeps what a run leaves behind, such as a
// child, out of the next measure.
func (c child) step(pause time.Duration) step {
	return func() (time.Duration, error) {
		_, took, err := c.run()
		time.Sleep(pause)
		return took, err
	}
}
