package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"
)

// canonical is an input with its members sorted and its texts escaped in one way.
func canonical(input string) string {
	var tree any
	dec := json.NewDecoder(strings.NewReader(input))
	dec.UseNumber()
	if dec.Decode(&tree) != nil || dec.More() {
		return "not JSON: " + input
	}
	sorted, err := json.Marshal(tree)
	if err != nil {
		return "not JSON: " + input
	}
	return string(sorted)
}

// TestToolUseHash compares which inputs are the same with what encoding/json makes of them.
func TestToolUseHash(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 7))
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	var value func(depth int) string
	value = func(depth int) string {
		space := pick("", "", " ", "\n\t")
		switch n := rnd.IntN(9 - 2*depth); {
		case n < 3:
			return space + pick(`"a"`, `"\u0061"`, `"b\n"`, `"b\u000a"`, `"<"`, `"\u003c"`, "\"\xff\"", `"\ufffd"`, `"\ud83d\ude00"`, `"😀"`, `"\ud83d"`, `"1"`, `"/"`, `"\/"`) + space
		case n < 5:
			return space + pick("1", "1.0", "-0", "0", "1e3", "true", "false", "null", `""`, "{}", "[]")
		case n < 6:
			var parts []string
			for range rnd.IntN(3) {
				parts = append(parts, value(depth+1))
			}
			return "[" + strings.Join(parts, ",") + "]"
		default:
			var parts []string
			for range rnd.IntN(4) {
				parts = append(parts, space+pick(`"a"`, `"b"`, `"\u0061"`, `"c"`, "\"\xfe\"")+space+":"+value(depth+1))
			}
			return "{" + strings.Join(parts, ",") + space + "}"
		}
	}
	seed := maphash.MakeSeed()
	same := 0
	for range 200 {
		says := map[uint64]string{}
		hashes := map[string]uint64{}
		for range 300 {
			input := value(0) + pick("", "", "", "", " ", "x")
			u := ToolUse{Name: "Edit", Input: []byte(input)}
			h, want := u.Hash(seed), canonical(input)
			if was, ok := says[h]; ok && was != want {
				t.Fatalf("%s and %s are told to be the same", was, want)
			}
			if was, ok := hashes[want]; ok {
				if was != h {
					t.Fatalf("%q is told to be another one than %s", input, want)
				}
				same++
			}
			says[h], hashes[want] = want, h
		}
	}
	if same < 1000 {
		t.Errorf("%d pairs that say the same are too few", same)
	}
	one, other := ToolUse{Name: "Edit"}, ToolUse{Name: "Write"}
	if one.Hash(seed) == other.Hash(seed) {
		t.Error("the name does not count")
	}
}

// BenchmarkToolUseHash hashes an edit of 4 KB.
func BenchmarkToolUseHash(b *testing.B) {
	text := fmt.Sprintf("%q", bytes.Repeat([]byte("a line of a program\n"), 100))
	u := ToolUse{Name: "Edit", Input: []byte(`{"file_path":"/src/a.go","old_string":` + text + `,"new_string":` + text + `}`)}
	b.SetBytes(int64(len(u.Input)))
	for seed := maphash.MakeSeed(); b.Loop(); {
		u.Hash(seed)
	}
}
