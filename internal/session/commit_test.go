package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/agent/agenttest"
	"anamnesis/internal/session"
)

func TestCommits(t *testing.T) {
	const one, two = `$ git commit -am "Add map" => [main aaaaaa1] Add map`, `$ git -C . commit -m "Fix map" => [main bbbbbb2] Fix map`
	for name, tt := range map[string]struct {
		lines []string
		want  []session.Commit
	}{
		"none":   {[]string{"$ git status => [main aaaaaa1] x", "$ echo => [main aaaaaa1] x", "> [main aaaaaa1] x"}, nil},
		"failed": {[]string{`$ git commit -am "Add map" !> [main aaaaaa1] Add map`}, nil},
		"two":    {[]string{one, two}, []session.Commit{{ID: "aaaaaa1", Subject: "Add map"}, {Turn: 1, ID: "bbbbbb2", Subject: "Fix map"}}},
		"root":   {[]string{`$ git commit => [main (root-commit) aaaaaa1] Add map`}, []session.Commit{{ID: "aaaaaa1", Subject: "Add map"}}},
		"revert of an id": {[]string{one, `$ git revert --no-edit aaaaaa1 => [main cccccc3] Revert "Add map"`}, []session.Commit{
			{ID: "aaaaaa1", Subject: "Add map", Undone: true}, {Turn: 1, ID: "cccccc3", Subject: `Revert "Add map"`, Undoes: []string{"aaaaaa1"}},
		}},
		"revert of the one before the last": {[]string{one, two, `$ git revert HEAD~1 => [main cccccc3] Revert "Add map"`}, []session.Commit{
			{ID: "aaaaaa1", Subject: "Add map", Undone: true},
			{Turn: 1, ID: "bbbbbb2", Subject: "Fix map"},
			{Turn: 2, ID: "cccccc3", Subject: `Revert "Add map"`, Undoes: []string{"aaaaaa1"}},
		}},
		"revert of another session's": {[]string{`$ git revert ddddddd4 => [main cccccc3] Revert "Old"`}, []session.Commit{
			{ID: "cccccc3", Subject: `Revert "Old"`, Undoes: []string{"ddddddd4"}},
		}},
		"reset": {[]string{one, two, "$ git reset --hard HEAD~1 => HEAD is now at aaaaaa1"}, []session.Commit{
			{ID: "aaaaaa1", Subject: "Add map"}, {Turn: 1, ID: "bbbbbb2", Subject: "Fix map", Undone: true},
		}},
		"reset to an id": {[]string{one, two, "$ git reset --hard aaaaaa1 => HEAD is now at aaaaaa1"}, []session.Commit{
			{ID: "aaaaaa1", Subject: "Add map"}, {Turn: 1, ID: "bbbbbb2", Subject: "Fix map", Undone: true},
		}},
		"amended": {[]string{one, "$ git commit --amend --no-edit => [main eeeeee5] Add map"}, []session.Commit{
			{ID: "aaaaaa1", Subject: "Add map", Undone: true}, {Turn: 1, ID: "eeeeee5", Subject: "Add map"},
		}},
		"fixup": {[]string{one, "$ git commit --fixup=aaaaaa1 => [main ffffff6] fixup! Add map"}, []session.Commit{
			{ID: "aaaaaa1", Subject: "Add map"}, {Turn: 1, ID: "ffffff6", Subject: "fixup! Add map", Mends: "aaaaaa1"},
		}},
		"too far back": {[]string{one, "$ git reset --hard HEAD~99999999999999999999 => x", "$ git revert HEAD~50 => [main cccccc3] x"}, []session.Commit{
			{ID: "aaaaaa1", Subject: "Add map", Undone: true}, {Turn: 2, ID: "cccccc3", Subject: "x"},
		}},
	} {
		if diff := cmp.Diff(tt.want, session.Commits(agenttest.Talk(tt.lines...))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
