// Package notetest holds statements for the tests of every room that asks whether
// two of them say the same.
package notetest

import (
	_ "embed"
	"strings"
	"testing"
)

// A Pair is two statements, each without a title.
type Pair struct {
	A, B string
	Same bool
}

//go:embed pairs.txt
var pairs string

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r", `\t`, "\t")

// Pairs returns the statements of pairs.txt.
func Pairs(tb testing.TB) (all []Pair) {
	tb.Helper()
	for line := range strings.Lines(pairs) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 || f[0] != "=" && f[0] != "!" {
			tb.Fatalf("pairs.txt: %q", line)
		}
		all = append(all, Pair{unescape.Replace(f[1]), unescape.Replace(f[2]), f[0] == "="})
	}
	return all
}
