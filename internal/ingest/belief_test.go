package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// learning makes what a session taught on a day of March.
func learning(day int, rule string) ingest.Learning {
	when := time.Date(2026, 3, day, 10, 0, 0, 0, time.UTC)
	chunk := fmt.Sprintf("chunk-%d-%s", day, rule)
	return ingest.Learning{Note: &note.Note{
		ID: note.LearningID(when, chunk), Type: note.Semantic, Title: rule, Rule: rule + ".", Body: "**Why:** the user said it.", Project: "p",
		CreatedAt: note.At(when), UpdatedAt: note.At(when), ProofCount: 1,
		Provenance: note.Provenance{Source: note.Learning, Confidence: 0.6, Session: fmt.Sprint("s", day)},
		Evidence:   []note.Evidence{{Session: fmt.Sprint("claude/s", day), Chunk: chunk, Quote: rule}},
	}}
}

func (d *door) learn(l ingest.Learning) ingest.Believed {
	d.Helper()
	b, err := ingest.BeliefsOf(d.Ingester).Learn(d.Context(), l)
	if err != nil {
		d.Fatal(err)
	}
	return b
}

func TestBearing(t *testing.T) {
	type said struct {
		rule                  string
		turned, again, except bool
	}
	for _, tt := range []struct {
		name     string
		old, now said
		want     ingest.Bearing
	}{
		{"another subject", said{rule: "Log every call with its order number"}, said{rule: "Use pnpm and not npm"}, ingest.Creates},
		{"the same words", said{rule: "Use pnpm and not npm"}, said{rule: "Use pnpm and not npm"}, ingest.Confirms},
		{"again", said{rule: "Write logs with slog, never with fmt"}, said{rule: "Logs are written with slog please", again: true}, ingest.Confirms},
		{
			"another value",
			said{rule: "Payment calls get 8 seconds"},
			said{rule: "Payment calls get 12 seconds now instead of 8", turned: true},
			ingest.Contradicts,
		},
		{
			"the opposite, and nothing changed",
			said{rule: "Use tabs in the yaml files of charts"},
			said{rule: "Never use tabs in the yaml files of charts"},
			ingest.Undecided,
		},
		{
			"a number in words",
			said{rule: "Every change needs two reviews"},
			said{rule: "From now on one review per change is enough", turned: true},
			ingest.Contradicts,
		},
		{
			"another thing in its place",
			said{rule: "Tests of the importer are written in RSpec"},
			said{rule: "Tests of the importer are written in minitest from today", turned: true},
			ingest.Contradicts,
		},
		{
			"a turn of something else",
			said{rule: "Tests of the importer are written in RSpec"},
			said{rule: "Releases are cut on Tuesday from today", turned: true},
			ingest.Creates,
		},
		{
			"another version of the same thing",
			said{rule: "We support Rust 1.70, nothing newer"},
			said{rule: "We bumped the minimum to Rust 1.82", turned: true},
			ingest.Contradicts,
		},
		{
			"another version of something else",
			said{rule: "We support Rust 1.70, nothing newer"},
			said{rule: "We bumped the minimum to Node 22", turned: true},
			ingest.Creates,
		},
		{
			"what is wrong with a thing that has a name",
			said{rule: "Parse arguments of commands using clap"},
			said{rule: "Clap makes the binary too fat, use lexopt from now on", turned: true},
			ingest.Contradicts,
		},
		{
			"what is wrong with the thing at hand",
			said{rule: "The header of a page has a logo"},
			said{rule: "The header is too tall, from now on it gets 40 pixels", turned: true},
			ingest.Creates,
		},
		{
			"what is done with a thing",
			said{rule: "Don't write coroutines for animations, we use DOTween"},
			said{rule: "DOTween is being thrown out, animations are done with PrimeTween now", turned: true},
			ingest.Contradicts,
		},
		{
			"fewer cases",
			said{rule: "Warnings always go to stderr"},
			said{rule: "With --json warnings must be part of the output, not on stderr"},
			ingest.Creates,
		},
		{
			"things of a kind",
			said{rule: "Every airflow task gets three retries"},
			said{rule: "Tasks that send payments get no retries at all"},
			ingest.Creates,
		},
		{
			"the case that both are about",
			said{rule: "Use floats for the prices of articles"},
			said{rule: "For prices of articles use integers, never floats"},
			ingest.Contradicts,
		},
		{
			"who begins another clause",
			said{rule: "Ids are uuids here"},
			said{rule: "Instead of uuids we take ulids for ids", turned: true},
			ingest.Contradicts,
		},
		{"said again in few words", said{rule: "Never use floats for prices"}, said{rule: "Again: no floats for prices", again: true}, ingest.Confirms},
		{"one of a group", said{rule: "Use yarn in this repo"}, said{rule: "We moved to bun last week", turned: true}, ingest.Contradicts},
		{"tabs and spaces", said{rule: "Use tabs"}, said{rule: "Use spaces"}, ingest.Contradicts},
		{
			"what is gone",
			said{rule: "State lives in pinia"},
			said{rule: "We move away from pinia, state goes into composables", turned: true},
			ingest.Contradicts,
		},
		{
			"an exception",
			said{rule: "Mails are always sent with deliver_later"},
			said{rule: "The only exception: password mails are sent with deliver_now", except: true},
			ingest.Creates,
		},
		{
			"a broader rule does not touch the exception",
			said{rule: "The only exception: password mails are sent with deliver_now", except: true},
			said{rule: "Mails are sent with deliver_later, never with deliver_now"},
			ingest.Creates,
		},
		{
			"something else moved",
			said{rule: "An invoice without our number is invalid, every template shows it"},
			said{rule: "We moved to bexio for invoices, so no more excel templates", turned: true},
			ingest.Creates,
		},
		{"the same against the same", said{rule: "Use pnpm, never npm"}, said{rule: "No npm here, use pnpm", again: true}, ingest.Confirms},
	} {
		d := newDoor(t)
		make := func(day int, s said) ingest.Learning {
			l := learning(day, s.rule)
			l.Turned, l.Again, l.Except = s.turned, s.again, s.except
			return l
		}
		old := d.learn(make(1, tt.old))
		b := d.learn(make(5, tt.now))
		if b.Bearing != tt.want || tt.want != ingest.Creates && b.Of != old.Note.ID {
			t.Errorf("%s: %s of %q, want %s", tt.name, b.Bearing, b.Of, tt.want)
		}
		if tt.want == ingest.Contradicts && (len(b.Note.Supersedes) != 1 || b.Note.Supersedes[0] != old.Note.ID) {
			t.Errorf("%s: it replaces %q", tt.name, b.Note.Supersedes)
		}
	}
}

// What is learnt once is known, whatever became of it.
func TestLearnOnce(t *testing.T) {
	d := newDoor(t)
	first, second := learning(1, "Use pnpm and not npm"), learning(2, "Use pnpm and not npm")
	made := d.learn(first)
	if b := d.learn(first); b.Bearing != ingest.Known || b.Result != ingest.Unchanged {
		t.Errorf("again: %s", b.Bearing)
	}
	if b := d.learn(second); b.Bearing != ingest.Confirms || d.read(made.Note.ID).ProofCount != 2 {
		t.Errorf("another session: %s, %d proofs", b.Bearing, d.read(made.Note.ID).ProofCount)
	}
	fork := learning(2, "Use pnpm and not npm")
	fork.Note.Evidence[0].Session = "claude/fork"
	if b := d.learn(fork); b.Bearing != ingest.Known || d.read(made.Note.ID).ProofCount != 2 {
		t.Errorf("a fork: %s, %d proofs", b.Bearing, d.read(made.Note.ID).ProofCount)
	}
	if _, err := d.Archive(t.Context(), []note.ID{made.Note.ID}, "wrong"); err != nil {
		t.Fatal(err)
	}
	for _, l := range []ingest.Learning{first, second} {
		if b := d.learn(l); b.Bearing != ingest.Known {
			t.Errorf("what was archived comes back: %s", b.Bearing)
		}
	}
}

// What a person wrote or reviewed waits with both sides, and is replaced by nobody else.
func TestOwnersDecide(t *testing.T) {
	d := newDoor(t)
	own := d.learn(learning(1, "Use tabs"))
	if _, err := d.Review(t.Context(), own.Note.ID); err != nil {
		t.Fatal(err)
	}
	b := d.learn(learning(5, "Use spaces"))
	if b.Result != ingest.Held || b.Note.ConflictOf != own.Note.ID || !strings.Contains(b.Why, "contradicts") {
		t.Fatalf("%s: %s", b.Result, b.Why)
	}
	if again := d.learn(learning(5, "Use spaces")); again.Bearing != ingest.Known {
		t.Errorf("it waits twice: %s", again.Bearing)
	}
	if err := ingest.BeliefsOf(d.Ingester).Release(t.Context(), b.Note.ID, true); err != nil {
		t.Fatal(err)
	}
	if n := d.read(b.Note.ID); len(n.Supersedes) != 1 || n.ConflictOf != "" {
		t.Errorf("replaces %q, conflict of %q", n.Supersedes, n.ConflictOf)
	}
}
