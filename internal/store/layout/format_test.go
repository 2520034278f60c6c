package layout

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckFormat(t *testing.T) {
	const may, reads, neither = "may write", "may read", "may do neither"
	for _, tt := range []struct{ content, program, want string }{
		{`{"format": 1}`, "", may},
		{`{"format": 1, "writer": "0.1.0"}`, "(devel)", may},
		{`{"format": 1, "writer": "0.1.0", "later": {"x": 1}}`, "", may},
		{`{"format": 1, "writer": "0.2.0"}`, "(devel)", reads},
		{`{"format": 1, "writer": "0.2.0"}`, "", reads},
		{`{"format": 1, "writer": "0.2.0"}`, "0.1.9", reads},
		{`{"format": 1, "writer": "0.2.0"}`, "v0.2.0", may},
		{`{"format": 1, "writer": "v0.2.0"}`, "0.3.0", may},
		{`{"format": 1, "writer": "0.2.0"}`, "0.2.0-rc.1", reads},
		{`{"format": 1, "writer": "0.2.0-rc.1"}`, "0.2.0", may},
		// Go gives such versions to builds that are no release: what they contain is known from the source alone.
		{`{"format": 1, "writer": "0.2.0"}`, "v0.3.1-0.20261127101500-0123456789ab", reads},
		{`{"format": 1, "writer": "0.2.0"}`, "v0.3.0+dirty", reads},
		{`{"format": 1, "writer": "0.1.0"}`, "v0.0.0-20261127101500-0123456789ab", may},
		{`{"format": 1, "writer": "2147483647.0.0"}`, "1.0.0", reads},
		{`{"format": 1, "writer": "99999999999999999999.0.0"}`, "1.0.0", reads},
		{`{"format": 1, "writer": "tomorrow"}`, "1.0.0", reads},
		{`{"format": 2, "writer": "0.1.0"}`, "1.0.0", neither},
		{`{"format": 99999999999999999999}`, "1.0.0", neither},
		{`{"writer": "0.1.0"}`, "1.0.0", neither},
		{`{"format": 1, "writer": 3}`, "1.0.0", neither},
		{`{"format": 1, "writer": "0.1.0"`, "1.0.0", neither},
		{``, "1.0.0", neither},
	} {
		got := may
		err := CheckFormat([]byte(tt.content), tt.program)
		if errors.Is(err, ErrOutdated) {
			got = reads
		} else if err != nil {
			got = neither
		}
		if got != tt.want {
			t.Errorf("version %q and %s: it %s (%v), want: it %s", tt.program, tt.content, got, err, tt.want)
		}
		if err != nil && !strings.Contains(err.Error(), "--reset-format") {
			t.Errorf("%s: the message names no way back: %v", tt.content, err)
		}
	}
}

// TestCheckFormatShowsNoCodes: whoever writes to the remote writes the file.
func TestCheckFormatShowsNoCodes(t *testing.T) {
	err := CheckFormat([]byte(`{"format":1,"writer":"9.9.9","machine":"\u001b[2Jx\n`+strings.Repeat("y", 500)+`","at":"\u0007"}`), "0.1.0")
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07\n") || len(err.Error()) > 600 {
		t.Errorf("the message is %q", err)
	}
}

func TestMergeFormat(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{`{"format":1,"writer":"0.2.0"}`, `{"format":1,"writer":"0.10.0"}`, `{"format":1,"writer":"0.10.0"}`},
		{`{"format":2}`, `{"format":1,"writer":"0.10.0"}`, `{"format":2}`},
		{`{"format":1}`, `damaged`, `{"format":1}`},
		{`{"format":1,"writer":"0.2.0","at":"a"}`, `{"format":1,"writer":"0.2.0","at":"b"}`, `{"format":1,"writer":"0.2.0","at":"b"}`},
	} {
		for _, got := range [][]byte{MergeFormat([]byte(tt.a), []byte(tt.b)), MergeFormat([]byte(tt.b), []byte(tt.a))} {
			if string(got) != tt.want {
				t.Errorf("MergeFormat(%s, %s) = %s, want %s", tt.a, tt.b, got, tt.want)
			}
		}
	}
	if got := MergeFormat(nil, []byte("x")); string(got) != "x" {
		t.Errorf("MergeFormat of one alone = %s", got)
	}
}
