package recall

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
)

// benchQuestions are of three to fifteen words.
var benchQuestions = []string{
	"index is damaged",
	"how are notes of a conversation found by their date",
	"which threshold decides whether a question is answered at all in a small store",
	"merge two notes that say the same",
	"what happens to a session when the server cannot be reached",
	"password in an error message",
	"how long may a hook take before the agent goes on without what it would have said",
	"where do the weights of the reranker come from",
}

// BenchmarkReader reads a hundred notes together with a question and puts them in
// order, as the built-in reranker does, without the index: a note is so many words of
// this project's own documents.
func BenchmarkReader(b *testing.B) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		b.Fatal("no documents: ", err)
	}
	var all []string
	for _, p := range pages {
		text, err := os.ReadFile(p)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, strings.Fields(string(text))...)
	}
	static, err := embed.OpenStatic(index.Words)
	if err != nil {
		b.Fatal(err)
	}
	for _, words := range []int{60, 600} {
		b.Run(fmt.Sprintf("words=%d", words), func(b *testing.B) {
			hits, st := benchHits(all, words, static)
			readings := make([]benchReading, len(benchQuestions))
			for i, q := range benchQuestions {
				readings[i] = newBenchReading(q, hits, st, static)
			}
			table := newTokenTable()
			i := 0
			for b.Loop() {
				readings[i%len(readings)].run(hits, static, table)
				i++
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N), "µs/hundred")
		})
	}
}

// benchHits cuts a hundred notes of so many words out of a text, with all their
// passages, each of 160 words at most.
func benchHits(all []string, words int, static *embed.Static) (hits []*Hit, st index.Statistics) {
	const passage = 160
	for i := range reranked {
		h := &Hit{Row: index.Row{Key: int64(i), Updated: time.Unix(int64(i), 0)}, Found: map[string]Found{}}
		at := i * (len(all) - words) / reranked
		title := index.Words(strings.Join(all[at:at+6], " "))
		for from := at; from < at+words; from += passage {
			body := index.Words(strings.Join(all[from:min(from+passage, at+words)], " "))
			c := index.Candidate{Key: int64(i), Model: 1, Vector: index.Quantize(static.Tokens(append(title, body...)))}
			for f, tokens := range map[index.Field][]string{index.Title: title, index.Body: body} {
				for _, t := range tokens {
					c.Tokens[f] = append(c.Tokens[f], index.TokenHash(t))
				}
				st.Length[f] += float64(len(tokens))
			}
			h.passages = append(h.passages, c)
			st.Passages++
		}
		hits = append(hits, h)
		st.Notes++
	}
	for f := range st.Length {
		st.Length[f] /= float64(st.Passages)
	}
	return hits, st
}

// A benchReading is a question, and what the index says of its words.
type benchReading struct {
	text    string
	matches index.Matches
	vector  []float32
}

func newBenchReading(text string, hits []*Hit, st index.Statistics, static *embed.Static) benchReading {
	r := benchReading{text: text, matches: index.Matches{Statistics: st}}
	for _, token := range index.Words(text) {
		if index.Stopword(token) {
			continue
		}
		t := index.Term{Token: token}
		for _, h := range hits {
			for _, c := range h.passages {
				if slices.Contains(c.Tokens[index.Body], index.TokenHash(token)) {
					t.Frequency++
				}
			}
		}
		t.Weight = index.IDF(t.Frequency, st.Passages)
		r.matches.Terms = append(r.matches.Terms, t)
	}
	r.vector = static.Tokens(index.Words(text))
	return r
}

// run does what Engine.read and Engine.scoreHits do with hits, but for what they ask
// the index.
func (r *benchReading) run(hits []*Hit, static *embed.Static, table *tokenTable) {
	defer table.clear()
	reader := newReader(newScorer(Options{Tuning: Tuned()}, r.matches, static, table), r.text, r.vector, 1)
	for _, h := range hits {
		reader.read(h)
	}
	reader.addProximity(hits)
	reader.addCoverage(hits)
	reader.addWording(hits)
	feedback(hits)
	for _, h := range hits {
		h.replaceScore("read with the question", sigmoid(h.features.sum()))
	}
	order(hits)
}
