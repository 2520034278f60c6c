package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"anamnesis/internal/note"
)

// The shape of a corpus. A note is a title and a body of some 615 bytes, three
// to nine sentences; with its front matter it is a file of about 1 KB.
const (
	projects       = 20
	topicsPer      = 50 // in a project
	topicWords     = 60
	vocabularySize = 30000
	bodyBytes      = 615
	globals        = 5 // notes that every project is shown
)

// A corpus makes notes and questions. The same seed makes the same ones, and a
// smaller store is the beginning of a larger one.
type corpus struct {
	r      *rand.Rand
	words  []string  // by falling frequency
	cum    []float64 // cumulated frequency, Zipf-like
	topics [][]string
}

// glue are the words that carry no topic; four words in ten are among them.
var glue = strings.Fields(`the the the the a a to to of of and and in is it for that on with this was as be by not when from
	at or an we if but are which after before because so then only must should can will does has have into its our they there`)

// letters of made-up roots, which the stemmer takes for English.
var (
	onsets  = strings.Fields("b br c cl cr d dr f fl fr g gr h j k l m n p pl pr qu r s sc sh sl sp st str t th tr v w y")
	nuclei  = strings.Fields("a e i o u ai ea ee oa ou")
	codas   = strings.Fields("b ck d ft g ll lm m mp n nd ng nk nt p r rd rk rm rn rt sh sk ss st t th v x")
	endings = []string{"", "", "", "", "s", "s", "ed", "ing", "er", "ation", "able", "ly"}
	tagWord = strings.Fields("build ci deploy test database cache auth api network release docs style perf security config logging")
)

func newCorpus(seed uint64) *corpus {
	c := &corpus{r: rand.New(rand.NewPCG(seed, 615))}
	seen := make(map[string]bool)
	for len(c.words) < vocabularySize {
		w := c.pick(onsets) + c.pick(nuclei) + c.pick(codas)
		if len(c.words) > 400 || c.r.IntN(3) == 0 { // frequent words are short
			w += c.pick(nuclei[:5]) + c.pick(codas)
		}
		if c.r.IntN(20) == 0 {
			w = c.identifier(w)
		}
		if !seen[w] {
			seen[w] = true
			c.words = append(c.words, w)
		}
	}
	sum := 0.0
	for i := range c.words {
		sum += 1 / float64(i+20)
		c.cum = append(c.cum, sum)
	}
	for range projects * topicsPer {
		topic := make([]string, topicWords)
		for i := range topic {
			topic[i] = c.words[100+c.r.IntN(len(c.words)-100)]
		}
		c.topics = append(c.topics, topic)
	}
	return c
}

func (c *corpus) pick(from []string) string { return from[c.r.IntN(len(from))] }

// identifier dresses a root as what stands in code and on command lines.
func (c *corpus) identifier(w string) string {
	other := c.pick(onsets) + c.pick(nuclei) + c.pick(codas)
	switch c.r.IntN(5) {
	case 0:
		return w + strings.ToUpper(other[:1]) + other[1:]
	case 1:
		return w + "_" + other
	case 2:
		return "internal/" + w + "/" + other + ".go"
	case 3:
		return "--" + w + "-" + other
	}
	return fmt.Sprintf("%s%d", w, 1+c.r.IntN(99))
}

// frequent draws a word by its frequency.
func (c *corpus) frequent() string {
	return c.words[sort.SearchFloat64s(c.cum, c.r.Float64()*c.cum[len(c.cum)-1])]
}

// inflect gives a plain word an ending now and then.
func (c *corpus) inflect(w string) string {
	if strings.ContainsAny(w, "/_-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return w
	}
	return w + c.pick(endings)
}

// word draws the next word of a text about a topic.
func (c *corpus) word(topic []string) string {
	switch n := c.r.IntN(10); {
	case n < 4:
		return c.pick(glue)
	case n < 7:
		return c.inflect(c.pick(topic))
	}
	return c.inflect(c.frequent())
}

func (c *corpus) sentence(topic []string, words int) string {
	var b strings.Builder
	for i := range words {
		w := c.word(topic)
		if i == 0 {
			w = strings.ToUpper(w[:1]) + w[1:]
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// projectKey is the key of the i-th project, as a repository's address gives it.
func projectKey(i int) string { return fmt.Sprintf("git.example.org/team/project-%02d", i) }

var epoch = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// note makes the i-th note.
func (c *corpus) note(i int) *note.Note {
	project := c.r.IntN(projects)
	topic := c.topics[project*topicsPer+c.r.IntN(topicsPer)]
	at := epoch.Add(time.Duration(i) * 97 * time.Second)
	n := &note.Note{
		ID: note.EpisodicID(at, "bench", fmt.Sprint(i)), Project: projectKey(project), MachineID: "bench",
		Scope: note.Portable, UserID: "self", WorkspaceID: "personal",
		Provenance: note.Provenance{Source: note.Human, Confidence: 1}, CreatedAt: note.At(at), UpdatedAt: note.At(at),
	}
	switch kind := c.r.IntN(20); {
	case kind < 9:
		n.Type = note.Procedural
	case kind < 16:
		n.Type = note.Semantic
	default:
		n.Type = note.Episodic
		n.Provenance.Source, n.Provenance.Session = note.SessionEnd, fmt.Sprintf("session-%d", i)
	}
	if i < globals {
		n.Project, n.Type = note.Global, note.Semantic
	}
	n.Title = c.sentence(topic, 4+c.r.IntN(5))
	var b strings.Builder
	for want := bodyBytes*2/3 + c.r.IntN(bodyBytes*2/3); b.Len() < want; {
		b.WriteString(c.sentence(topic, 8+c.r.IntN(14)))
		b.WriteString(".")
		b.WriteString([]string{" ", " ", "\n", "\n\n"}[c.r.IntN(4)])
	}
	n.Body = strings.TrimSpace(b.String())
	for range c.r.IntN(4) {
		n.AddTags(c.pick(tagWord))
	}
	return n
}

// question asks for a note as somebody who remembers some of it does: three to
// seven of its words in any order, now and then behind words that carry nothing.
func (c *corpus) question(n *note.Note) string {
	words := strings.Fields(n.Title + " " + n.Body)
	var asked []string
	want := 3 + c.r.IntN(5)
	for tries := 0; len(asked) < want && tries < 50; tries++ {
		w := strings.Trim(c.pick(words), ".")
		if len(w) > 3 && !slices.Contains(glue, strings.ToLower(w)) && !slices.Contains(asked, w) {
			asked = append(asked, w)
		}
	}
	openings := []string{"", "", "how do we", "why does", "where is", "what about the"}
	return strings.TrimSpace(c.pick(openings) + " " + strings.Join(asked, " "))
}

// write makes the note files of a new store and returns questions about them.
// The files are dated back, as those of a store that has been in use.
func (c *corpus) write(root string, count, questions int) ([]string, error) {
	for _, scope := range []note.Scope{note.Portable, note.Local} {
		for _, t := range note.Types {
			tree := map[note.Scope]string{note.Portable: "memory", note.Local: "local"}[scope]
			if err := os.MkdirAll(filepath.Join(root, tree, string(t)), 0o700); err != nil {
				return nil, err
			}
		}
	}
	var asked []string
	for i := range count {
		n := c.note(i)
		name := filepath.Join(root, "memory", string(n.Type), string(n.ID)+".md")
		if err := os.WriteFile(name, n.Format(), 0o600); err != nil {
			return nil, err
		}
		at := epoch.Add(time.Duration(i)*97*time.Second).AddDate(-1, 0, 0)
		if err := os.Chtimes(name, at, at); err != nil {
			return nil, err
		}
		if (i+1)*questions/count > len(asked) {
			asked = append(asked, c.question(n))
		}
	}
	return asked, nil
}

// text makes prose of some size, for the redactor.
func (c *corpus) text(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(c.sentence(c.topics[c.r.IntN(len(c.topics))], 8+c.r.IntN(14)))
		b.WriteString(".\n")
	}
	return b.String()
}
