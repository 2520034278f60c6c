package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"anamnesis/internal/embed/transformer"
)

var publishedModels = []modelShape{
	{name: "encoder, MiniLM-L6", hidden: 384, layers: 6, heads: 12, inner: 1536, positions: 512},
	{name: "encoder, BGE-small", hidden: 384, layers: 12, heads: 12, inner: 1536, positions: 512, first: true},
	{name: "cross-encoder, TinyBERT-L2", hidden: 128, layers: 2, heads: 2, inner: 512, positions: 512, cross: true},
	{name: "cross-encoder, MiniLM-L6", hidden: 384, layers: 6, heads: 12, inner: 1536, positions: 512, cross: true},
}

// The texts, in tokens. A cross-encoder's include the question.
const (
	questionTokens = 12
	manyPassages   = 20
)

var passageTokens = []int{128, 256}

// A modelTask is one reading: so many texts of so many tokens.
type modelTask struct{ texts, tokens int }

// modelTasks are the columns of the table.
func modelTasks() []modelTask {
	all := []modelTask{{1, questionTokens}}
	for _, n := range passageTokens {
		all = append(all, modelTask{1, n})
	}
	return append(all, modelTask{manyPassages, passageTokens[0]})
}

func (t modelTask) String() string {
	switch {
	case t.tokens == questionTokens:
		return fmt.Sprintf("question of %d tokens", t.tokens)
	case t.texts == 1:
		return fmt.Sprintf("passage of %d", t.tokens)
	}
	return fmt.Sprintf("%d passages of %d", t.texts, t.tokens)
}

// skips says that a model has no such reading: a cross-encoder reads no question alone.
func (t modelTask) skips(m modelShape) bool { return m.cross && t.tokens == questionTokens }

// products is how many numbers a model multiplies and adds to read one text of n tokens.
func (m modelShape) products(n int) float64 {
	h := m.hidden
	return float64(m.layers * (n*(4*h*h+2*h*m.inner) + 2*n*n*h))
}

// A modelRow is what was measured of one model.
type modelRow struct {
	modelShape
	size, memory float64 // MB, of the weights and of a process; memory is 0 where it cannot be shown
	open         series
	tasks        []series // as modelTasks; nil where there is none
}

// models measures transformers that run in the program. The weights are random: what
// they take hardly depends on them, and how well they find notes is not measured.
func (s *stage) models(shapes []modelShape, out string) error {
	all := make([]modelRow, len(shapes))
	for i, shape := range shapes {
		fmt.Fprintf(os.Stderr, "making %s\n", shape.name)
		if err := s.makeModel(i, shape, &all[i]); err != nil {
			return err
		}
	}
	rounds := s.rounds(16)
	plain, err := s.readTexts(all, rounds)
	if err != nil {
		return err
	}
	section := modelsSection(all, plain, rounds)
	fmt.Printf("\n%s", section)
	if out == "" {
		return nil
	}
	page, err := readPage(out)
	if err != nil {
		return err
	}
	return os.WriteFile(out, withModels(page, section), 0o644)
}

func (s *stage) modelFolder(i int) string { return filepath.Join(s.dir, fmt.Sprintf("model-%d", i)) }

// makeModel writes a model's files, and measures the memory of a process that uses it.
func (s *stage) makeModel(i int, shape modelShape, into *modelRow) error {
	into.modelShape = shape
	dir := s.modelFolder(i)
	if err := shape.write(dir, s.seed); err != nil {
		return err
	}
	fi, err := os.Stat(filepath.Join(dir, transformer.WeightsFile))
	if err != nil {
		return err
	}
	into.size = float64(fi.Size()) / 1e6
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var used [2]series // without the model, and with it
	for range 3 {
		for k, args := range [][]string{{}, {dir}} {
			out, _, err := (child{args: append([]string{s.rough, "peak", self, readsCommand}, args...)}).run()
			if err != nil {
				return err
			}
			n, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
			if err != nil {
				return fmt.Errorf("peak of %s: %w", shape.name, err)
			}
			used[k] = append(used[k], time.Duration(n))
		}
	}
	into.memory = (used[1].median() - used[0].median()) * float64(time.Millisecond) / 1e6
	return nil
}

// readTexts lets all models read all texts in turns, and beside them plain loops.
func (s *stage) readTexts(all []modelRow, rounds int) (plain series, err error) {
	steps := []step{plainLoops()}
	into := []*series{&plain}
	for i := range all {
		row, dir := &all[i], s.modelFolder(i)
		m, err := transformer.Open(dir)
		if err != nil {
			return nil, err
		}
		steps = append(steps, func() (time.Duration, error) {
			began := time.Now()
			_, err := transformer.Open(dir)
			return time.Since(began), err
		})
		into = append(into, &row.open)
		row.tasks = make([]series, len(modelTasks()))
		for k, task := range modelTasks() {
			if task.skips(row.modelShape) {
				continue
			}
			steps = append(steps, readStep(s.ctx, m, task))
			into = append(into, &row.tasks[k])
		}
	}
	got, err := rotate(rounds, steps...)
	if err != nil {
		return nil, err
	}
	for i, to := range into {
		*to = got[i]
	}
	return plain, nil
}

// readStep reads the texts of a task.
func readStep(ctx context.Context, m *transformer.Model, task modelTask) step {
	question, texts := taskTexts(m, task)
	return func() (took time.Duration, err error) {
		began, n := time.Now(), 0
		if m.Reads() {
			var scores []float64
			scores, err = m.Score(ctx, question, texts)
			n = len(scores)
		} else {
			var vectors [][]float32
			vectors, err = m.Vectors(ctx, texts)
			n = len(vectors)
		}
		took = time.Since(began)
		if err == nil && n != len(texts) {
			err = fmt.Errorf("%d of %d texts were read", n, len(texts))
		}
		return took, err
	}
}

// taskTexts makes texts of words of the vocabulary, each of which is one token. Three
// tokens, of an encoder two, stand around what is read.
func taskTexts(m *transformer.Model, task modelTask) (question string, texts []string) {
	r := rand.New(rand.NewPCG(uint64(task.texts), uint64(task.tokens)))
	text := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = modelWord(r.IntN(bertWords - len(bertSpecial)))
		}
		return strings.Join(words, " ")
	}
	n := task.tokens - 2
	if m.Reads() {
		question = text(questionTokens - 2)
		n -= questionTokens - 1
	}
	for range task.texts {
		texts = append(texts, text(n))
	}
	return question, texts
}

// The yardstick: rows of numbers times rows of numbers, as a loop in Go does it.
const plainRows, plainWidth = 64, 384

const plainProducts = plainRows * plainWidth * plainWidth

func plainLoops() step {
	a, b, out := make([]float32, plainRows*plainWidth), make([]float32, plainWidth*plainWidth), make([]float32, plainRows*plainWidth)
	for i := range a {
		a[i] = float32(i%7) - 3
	}
	for i := range b {
		b[i] = float32(i%5) - 2
	}
	return func() (time.Duration, error) {
		began := time.Now()
		for i := range plainRows {
			for j := range plainWidth {
				var sum float32
				x, y := a[i*plainWidth:(i+1)*plainWidth], b[j*plainWidth:(j+1)*plainWidth]
				for k := range x {
					sum += x[k] * y[k]
				}
				out[i*plainWidth+j] = sum
			}
		}
		return time.Since(began), nil
	}
}

// readsCommand lets this program open the model of a folder and read passages, so that
// another one can tell its memory; without a folder it does nothing.
const readsCommand = "reads"

func reads(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return nil
	}
	m, err := transformer.Open(args[0])
	if err != nil {
		return err
	}
	tasks := modelTasks()
	_, err = readStep(ctx, m, tasks[len(tasks)-1])()
	return err
}

const modelsTitle = "## Models that run in the program\n"

// modelsSection writes the section of the page.
func modelsSection(all []modelRow, plain series, rounds int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nMade by `go run -C lab ./bench -models -out ../docs/performance.md`: %d cores, %s/%s, %s, %s. "+
		"[Models](models.md) says which these are.\n\n| shape, layers × width | weights | opening it |",
		modelsTitle, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), time.Now().UTC().Format("2006-01-02"))
	for _, task := range modelTasks() {
		fmt.Fprintf(&b, " %s |", task)
	}
	b.WriteString(" memory |\n|---|" + strings.Repeat("---:|", 3+len(modelTasks())) + "\n")
	for _, row := range all {
		fmt.Fprintf(&b, "| %s, %d × %d | %.1f MB | %.1f ms |", row.name, row.layers, row.hidden, row.size, row.open.median())
		for k, task := range modelTasks() {
			if row.tasks[k] == nil {
				b.WriteString(" |")
				continue
			}
			took := row.tasks[k].median()
			loops := plain.median() * float64(task.texts) * row.products(task.tokens) / plainProducts
			fmt.Fprintf(&b, " %s ms, %.2f× |", threeDigits(took), took/loops)
		}
		if row.memory > 0 {
			fmt.Fprintf(&b, " %.0f MB", row.memory)
		}
		b.WriteString(" |\n")
	}
	fmt.Fprintf(&b, howToReadModels, bertWords/1000, bertWords%1000, rounds, plain.median()*1e6/plainProducts, questionTokens)
	return b.Bytes()
}

// threeDigits writes milliseconds so that a small figure still says something.
func threeDigits(v float64) string {
	digits := 0
	for limit := 100.0; v < limit && digits < 3; limit /= 10 {
		digits++
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

const howToReadModels = `
- **The weights are random**, in the shapes and with the %d,%03d words of published models. Time and memory hardly depend on what the
  weights say. How well real weights find notes was **not measured**: none could be had here.
- Milliseconds are medians of %d rounds; in a round every shape reads every text once, in turns. × is the ratio to as many
  multiplications as plain loops in Go on one core, timed in each round (%.2f ns for one and its addition). A model uses up to
  two cores, so the ratio shows both the assembly and the second core, as far as the machine had one to spare.
- An encoder and a cross-encoder of one shape do nearly the same: how far their figures lie apart shows how noisy the run was.
- The tokens of a cross-encoder's passage include a question of %d. Many passages are read in one call.
- Opening is reading the vocabulary from ` + "`tokenizer.json`" + ` and mapping the weights, with the files in the page cache.
- Memory is the peak of a process that opens the model and reads the many passages, less that of the same process without:
  pages of the mapped file, the vocabulary, and room to work in.
`

// modelsOf returns the section of a page, nothing when there is none.
func modelsOf(page []byte) []byte {
	_, section, ok := cutSection(page)
	if !ok {
		return nil
	}
	return section
}

// cutSection tells where the section stands in a page.
func cutSection(page []byte) (at int, section []byte, ok bool) {
	at = bytes.Index(page, []byte("\n"+modelsTitle)) + 1
	if at == 0 {
		return 0, nil, false
	}
	section = page[at:]
	if end := bytes.Index(section[len(modelsTitle):], []byte("\n## ")); end >= 0 {
		section = section[:len(modelsTitle)+end]
	}
	return at, section, true
}

// withModels puts the section into a page: where it stood, or before the last section.
func withModels(page, section []byte) []byte {
	if len(section) == 0 {
		return page
	}
	text := string(bytes.TrimRight(section, "\n")) + "\n"
	if at, former, ok := cutSection(page); ok {
		rest := bytes.TrimLeft(page[at+len(former):], "\n")
		if len(rest) > 0 {
			text += "\n"
		}
		return append(append(bytes.Clone(page[:at]), text...), rest...)
	}
	if at := bytes.LastIndex(page, []byte("\n## ")) + 1; at > 0 {
		return append(append(bytes.Clone(page[:at]), text+"\n"...), page[at:]...)
	}
	return append(bytes.Clone(page), "\n"+text...)
}

// readPage reads a page, which may not be there yet.
func readPage(name string) ([]byte, error) {
	page, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return page, err
}
