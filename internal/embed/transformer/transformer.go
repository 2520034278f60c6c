// Package transformer runs small transformers of BERT's shape in this process:
// encoders whose vectors say what a text means (MiniLM, BGE), and cross-encoders
// that read a text together with a question (TinyBERT, MiniLM). It reads the files
// in which such models are published: config.json, model.safetensors, tokenizer.json
// or vocab.txt, and what sentence-transformers says of pooling.
//
// Weights are mapped into memory where they are float32 already, else made float32
// when the model is opened. Every file is taken for hostile: sizes are checked before
// anything is allocated, and no link leads out of the model's folder. The package
// keeps no state, writes nothing, and works on at most two cores.
package transformer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"time"

	"anamnesis/internal/embed/mapped"
)

// The files of a model. All but the first two may be missing; of the next two there
// has to be one.
const (
	ConfigFile    = "config.json"
	WeightsFile   = "model.safetensors"
	TokenizerFile = "tokenizer.json"
	vocabFile     = "vocab.txt"
	wordsFile     = "tokenizer_config.json"     // says of a vocab.txt whether it is lower case
	modulesFile   = "modules.json"              // what sentence-transformers does with the output
	PoolingFile   = "1_Pooling/config.json"     // mean, or the first token
	lengthFile    = "sentence_bert_config.json" // tokens of a text
)

// Files lists the files that are read of a model, with slashes.
func Files() []string {
	return []string{ConfigFile, WeightsFile, TokenizerFile, vocabFile, wordsFile, modulesFile, PoolingFile, lengthFile}
}

// The limits of files, in bytes.
const (
	MaxWeights = 2 << 30
	MaxSmall   = 32 << 20 // of each other file
)

// ErrUnfit says that the files of a model are not such as we can run.
var ErrUnfit = errors.New("not a model of BERT's shape that runs here")

func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrUnfit, fmt.Sprintf(format, args...))
}

// A Model is an opened transformer. It is safe for concurrent use.
type Model struct {
	shape   shape
	words   *wordPiece
	first   bool // the vector of a text is that of its first token, not their mean
	weights weights
	cores   chan struct{} // one for each core that it may use
	release func() error
}

// maxCores is how many cores a model uses, whoever asks how often.
const maxCores = 2

// Open reads the model in a folder. It is heavy: half a millisecond and more. The
// weights are released when nobody holds the Model any longer.
func Open(dir string) (*Model, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the model in %s: %w", dir, err)
	}
	defer func() { _ = root.Close() }() // nothing was written
	m, err := open(root)
	if err != nil {
		return nil, fmt.Errorf("open the model in %s: %w", dir, err)
	}
	if m.release != nil {
		runtime.AddCleanup(m, func(release func() error) { _ = release() }, m.release)
	}
	return m, nil
}

func open(root *os.Root) (*Model, error) {
	m := &Model{cores: make(chan struct{}, min(maxCores, runtime.GOMAXPROCS(0)))}
	data, err := small(root, ConfigFile)
	if err != nil {
		return nil, err
	}
	if m.shape, err = readShape(data); err != nil {
		return nil, err
	}
	if m.first, err = readPooling(root, &m.shape); err != nil {
		return nil, err
	}
	if m.words, err = readWords(root, m.shape.vocabulary); err != nil {
		return nil, err
	}
	f, size, err := regular(root, WeightsFile, MaxWeights)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size < 8 {
		return nil, unfit("%s has %d bytes", WeightsFile, size)
	}
	raw, release, err := mapped.File(f, int(size))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", WeightsFile, err)
	}
	m.release = release
	cut := mapped.Read(func() { m.weights, err = readWeights(raw, &m.shape) })
	if err = cmp.Or(cut, err); err != nil {
		return nil, errors.Join(err, release())
	}
	return m, nil
}

// regular opens a file that is no link, pipe or device and has at most so many bytes.
func regular(root *os.Root, name string, most int64) (*os.File, int64, error) {
	fi, err := root.Lstat(path.Clean(name))
	if err != nil {
		return nil, 0, err
	}
	if !fi.Mode().IsRegular() {
		return nil, 0, unfit("%s is no regular file", name)
	}
	if fi.Size() > most {
		return nil, 0, unfit("%s has %d bytes, at most %d are read", name, fi.Size(), most)
	}
	f, err := root.Open(name)
	return f, fi.Size(), err
}

// small reads a file of settings.
func small(root *os.Root, name string) ([]byte, error) {
	f, _, err := regular(root, name, MaxSmall)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxSmall))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// Reads reports whether the model is a cross-encoder: Score works, and Vectors does not.
func (m *Model) Reads() bool { return m.shape.labels > 0 }

// Dim is the number of values in a vector.
func (m *Model) Dim() int { return m.shape.hidden }

// MaxTokens is how many tokens of a text, or of a question and a text together, are read.
func (m *Model) MaxTokens() int { return m.shape.tokens }

// String says what the model is, for people.
func (m *Model) String() string {
	kind := "encoder"
	if m.Reads() {
		kind = "cross-encoder"
	}
	return fmt.Sprintf("%s, %d layers of %d, %d words, %d tokens", kind, m.shape.layers, m.shape.hidden, m.shape.vocabulary, m.shape.tokens)
}

// A SlowError says that a model would not have been ready in time, and was not waited for.
type SlowError struct {
	Need, Have time.Duration // an estimate; from when it was asked
}

func (e *SlowError) Error() string {
	return fmt.Sprintf("it would take %v, and there were %v", e.Need.Round(time.Millisecond), e.Have.Round(time.Millisecond))
}

// Vectors returns a vector of length 1 for each text. When the deadline of ctx cannot
// be met it says so early, with a SlowError.
func (m *Model) Vectors(ctx context.Context, texts []string) ([][]float32, error) {
	if m.Reads() {
		return nil, errors.New("the model is a cross-encoder: it makes no vectors")
	}
	all := make([]sequence, len(texts))
	for i, text := range texts {
		all[i] = m.words.encode(text, m.shape.tokens)
	}
	vectors := make([][]float32, len(texts))
	err := m.run(ctx, all, func(i int, hidden []float32) error {
		vectors[i] = m.pool(hidden)
		return nil
	})
	return vectors, err
}

// Score reads texts together with a question and returns a logit for each. When the
// deadline of ctx cannot be met it says so early, with a SlowError.
func (m *Model) Score(ctx context.Context, question string, texts []string) ([]float64, error) {
	if !m.Reads() {
		return nil, errors.New("the model is no cross-encoder: it reads no question together with a text")
	}
	all := make([]sequence, len(texts))
	for i, text := range texts {
		all[i] = m.words.pair(question, text, m.shape.tokens)
	}
	scores := make([]float64, len(texts))
	err := m.run(ctx, all, func(i int, hidden []float32) error {
		scores[i] = m.classify(hidden)
		return nil
	})
	return scores, err
}

// Tokens counts the tokens of a text, as far as they are read.
func (m *Model) Tokens(text string) int { return len(m.words.encode(text, m.shape.tokens).ids) }
