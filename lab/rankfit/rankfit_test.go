package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tinyPairs writes pairs of three sources, in which the question names two words of its
// passage, and one source that is held out.
func tinyPairs(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pairs.jsonl.gz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	enc := json.NewEncoder(z)
	words := strings.Fields("alpha beta gamma delta epsilon zeta theta iota kappa lambda sigma omega")
	for s := range 4 {
		for i := range 24 {
			a, b := words[i%12], words[(i*5+s+3)%12]
			p := pair{
				Kind: "tiny", Source: fmt.Sprintf("source %d", s), Held: s == 3, Query: fmt.Sprintf("how does %s meet %s", a, b),
				Passage: fmt.Sprintf("number %d of source %d tells where %s stands and when %s comes", i, s, a, b),
			}
			if err := enc.Encode(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// The same pairs make the same file, and it is Go source.
func TestSameBytes(t *testing.T) {
	s := defaults()
	s.least, s.epochs = 4, 2
	table := filepath.Join("..", "..", "internal", "embed", "static.bin")
	f := files{pairs: tinyPairs(t), tables: []string{table, table}}
	var made [2][]byte
	for i := range made {
		f.out = filepath.Join(t.TempDir(), "curves.go")
		var log bytes.Buffer
		if err := run(t.Context(), s, f, &log); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), "held-out sources") {
			t.Errorf("report:\n%s", log.String())
		}
		var err error
		if made[i], err = os.ReadFile(f.out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Errorf("two runs:\n%s\n%s", made[0], made[1])
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "", made[0], 0); err != nil || !bytes.Contains(made[0], []byte("knots:")) {
		t.Errorf("%v\n%s", err, made[0])
	}
}

// Curves learn what tells a relevant hit: here the fourth feature, against weights that
// think more of another one.
func TestFitLearns(t *testing.T) {
	const told, misleading, features = 3, 1, 12
	q := judged{all: 1}
	for i := range 20 {
		f := make([]float64, features)
		f[misleading] = float64(20-i) / 20
		if i == 12 {
			f[told] = 0.8
			f[misleading] = 0
		} else {
			f[told] = float64(i) / 100
		}
		q.features, q.relevant = append(q.features, f), append(q.relevant, i == 12)
	}
	s := &set{name: "x", weight: 1}
	for i := range 300 {
		q.many = float64(i%3) / 2
		s.questions = append(s.questions, q)
	}
	options := defaults()
	options.epochs = 40
	m := fit([]*set{s}, options)
	before, after := s.judge(weighted), s.judge(m.scores)
	if after.hit1 != 300 || before.hit1 == after.hit1 {
		t.Errorf("first in %v questions before, %v after", before.hit1, after.hit1)
	}
	for f := range m.knots {
		for _, long := range []bool{false, true} {
			if len(m.knots[f]) < 2 {
				continue
			}
			h := m.heights(f, long)
			for j := 1; j < len(h); j++ {
				if h[j] < h[j-1] {
					t.Errorf("feature %d falls: %v", f, h)
				}
			}
		}
	}
}

func TestReadSets(t *testing.T) {
	var f files
	if err := f.readSets("3=a,b 0.5=c"); err != nil || len(f.sets) != 2 || f.sets[0].weight != 3 || len(f.sets[0].dirs) != 2 {
		t.Errorf("%v %+v", err, f.sets)
	}
	for _, bad := range []string{"a,b", "=a", "x=a", "3=", "-1=a", "0=a"} {
		if err := new(files).readSets(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if err := run(t.Context(), defaults(), files{pairs: "nowhere", tables: []string{"a"}}, io.Discard); err == nil {
		t.Error("one table was enough")
	}
}

func FuzzReadSets(f *testing.F) {
	f.Add("3=a,b 0.5=c")
	f.Fuzz(func(t *testing.T, line string) {
		var f files
		if f.readSets(line) == nil {
			for _, g := range f.sets {
				if !(g.weight > 0) || len(g.dirs) == 0 {
					t.Errorf("%q: %+v", line, g)
				}
			}
		}
	})
}
