package ingest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"anamnesis/internal/note"
)

func TestCommitsIn(t *testing.T) {
	for text, want := range map[string][]string{
		"fixed in 3f2a91c, see (aaaaaa1)":                             {"3f2a91c", "aaaaaa1"},
		"3f2a91c and 3f2a91c again":                                   {"3f2a91c"},
		"3f2a91c 77ab120 0a0b0c0":                                     {"3f2a91c", "77ab120", "0a0b0c0"},
		"the deadbeef pattern, effaced, facade":                       nil,
		"on 20240115 it took 1234567 ms, ticket 100200300":            nil,
		"commit 20240115 broke it":                                    {"20240115"},
		"reverts 1234567":                                             {"1234567"},
		"/objects/3f2a91c.pack src/3f2a91c v1.3f2a91c":                nil,
		"#3f2a91c is a colour, x3f2a91c a name":                       nil,
		"3f2a9":                                                       nil,
		"sha256 of 3f2a91c3f2a91c3f2a91c3f2a91c3f2a91c3f2a91c3f2a91c": nil,
	} {
		if diff := cmp.Diff(want, commitsIn(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestCheckRefs(t *testing.T) {
	known := func(answer map[string]bool) *Ingester {
		return &Ingester{commits: func(context.Context, string, []string) map[string]bool { return answer }}
	}
	for _, tt := range []struct {
		name   string
		answer map[string]bool
		body   string
		want   []string
		all    bool
	}{
		{"there", map[string]bool{"3f2a91c": true}, "see 3f2a91c", nil, false},
		{"invented", map[string]bool{"3f2a91c": false}, "see 3f2a91c", []string{"3f2a91c"}, true},
		{"some", map[string]bool{"3f2a91c": false, "77ab120": true}, "see 3f2a91c, 77ab120", []string{"3f2a91c"}, false},
		{"nobody knows", nil, "see 3f2a91c", nil, false},
		{"none", map[string]bool{}, "see the docs", nil, false},
	} {
		n := &note.Note{Body: tt.body}
		if all := known(tt.answer).checkRefs(t.Context(), n, "/src"); all != tt.all || !cmp.Equal(n.UnverifiedRefs, tt.want) {
			t.Errorf("%s: %v, %q", tt.name, all, n.UnverifiedRefs)
		}
	}
	n := &note.Note{Commits: []string{"3f2a91c", "77ab120"}}
	if known(map[string]bool{"77ab120": true}).checkRefs(t.Context(), n, "/src"); !cmp.Equal(n.Commits, []string{"77ab120"}) {
		t.Errorf("what is not there is not the note's: %q", n.Commits)
	}
}
