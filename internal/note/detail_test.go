package note_test

import (
	"testing"

	"anamnesis/internal/note"
)

// A reader who opens a note sees its fields and its body, each sentence once, and whose words they are.
func TestWhole(t *testing.T) {
	for name, c := range map[string]struct {
		n    note.Note
		want string
	}{
		"of another memory": {
			note.Note{
				Title: "Regenerate gRPC clients after editing payments.proto", Problem: "Bumped payments.proto without regenerating clients",
				Fix: "Run `make proto-gen`", Rule: "Never ship a .proto change without regenerated clients", Body: "It broke staging.\n\nTwice.",
			},
			"rule: Never ship a .proto change without regenerated clients\nfix: Run `make proto-gen`\n" +
				"problem: Bumped payments.proto without regenerating clients\n\nIt broke staging.\n\nTwice.",
		},
		"said already": {
			note.Note{Title: "Use pnpm", Rule: "use pnpm.", Fix: "run pnpm install", Body: "Run pnpm install."}, "Run pnpm install.",
		},
		"by an agent, below the user's title": {
			note.Note{
				Title: "no, pnpm please", Rule: "Install packages with pnpm", Body: "Why: npm breaks the links.", Trusted: true,
				Provenance: note.Provenance{Source: note.User},
			},
			"Noted by an agent: rule: Install packages with pnpm; Why: npm breaks the links.",
		},
		"a slot":  {note.Note{Kind: note.Slot, Title: "persona", KeyInsight: "how the user works", Body: "Terse."}, "Terse."},
		"nothing": {note.Note{Title: "Use pnpm"}, ""},
	} {
		if got := note.Whole(&c.n); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
