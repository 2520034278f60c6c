package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"anamnesis/internal/embed/transformer"
)

// A modelShape is a transformer that is measured: a published shape, random weights.
type modelShape struct {
	name                         string
	hidden, layers, heads, inner int
	positions                    int
	cross                        bool // a cross-encoder, of one label
	first                        bool // of an encoder: the first token is the vector of a text
}

// bertWords is how many words the vocabulary has with which these models are published.
const bertWords = 30522

// bertSpecial are the words that no text has. The others are called by modelWord.
var bertSpecial = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

func modelWord(i int) string { return fmt.Sprintf("word%d", i) }

// A weight is a tensor: each value is the middle and a random number of so much spread.
type weight struct {
	name           string
	dims           []int
	spread, middle float64
}

func (w weight) values() int {
	n := 1
	for _, d := range w.dims {
		n *= d
	}
	return n
}

// weights lists the tensors of a model, as its file has them.
func (m modelShape) weights() (all []weight) {
	linear := func(name string, in, out int) {
		all = append(all, weight{name + ".weight", []int{out, in}, 1 / math.Sqrt(float64(in)), 0}, weight{name + ".bias", []int{out}, 0.1, 0})
	}
	scaling := func(name string) {
		all = append(all, weight{name + ".weight", []int{m.hidden}, 0.1, 1}, weight{name + ".bias", []int{m.hidden}, 0.1, 0})
	}
	all = append(
		all,
		weight{"embeddings.word_embeddings.weight", []int{bertWords, m.hidden}, 1, 0},
		weight{"embeddings.position_embeddings.weight", []int{m.positions, m.hidden}, 0.1, 0},
		weight{"embeddings.token_type_embeddings.weight", []int{2, m.hidden}, 0.1, 0},
	)
	scaling("embeddings.LayerNorm")
	for i := range m.layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, part := range []string{"self.query", "self.key", "self.value", "output.dense"} {
			linear(at+"attention."+part, m.hidden, m.hidden)
		}
		scaling(at + "attention.output.LayerNorm")
		linear(at+"intermediate.dense", m.hidden, m.inner)
		linear(at+"output.dense", m.inner, m.hidden)
		scaling(at + "output.LayerNorm")
	}
	if m.cross {
		linear("pooler.dense", m.hidden, m.hidden)
		linear("classifier", m.hidden, 1)
	}
	return all
}

// write makes the files of the model in a folder, which it makes. The same seed makes
// the same files.
func (m modelShape) write(dir string, seed uint64) error {
	config := map[string]any{
		"model_type": "bert", "architectures": []string{"BertModel"}, "hidden_size": m.hidden, "num_hidden_layers": m.layers,
		"num_attention_heads": m.heads, "intermediate_size": m.inner, "vocab_size": bertWords, "max_position_embeddings": m.positions,
		"type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "position_embedding_type": "absolute",
	}
	if m.cross {
		config["architectures"], config["id2label"] = []string{"BertForSequenceClassification"}, map[string]string{"0": "LABEL_0"}
	}
	vocabulary := make(map[string]int)
	for i, word := range bertSpecial {
		vocabulary[word] = i
	}
	for i := range bertWords - len(bertSpecial) {
		vocabulary[modelWord(i)] = i + len(bertSpecial)
	}
	tokenizer := map[string]any{
		"normalizer":    map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "lowercase": true},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"model": map[string]any{
			"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary,
		},
	}
	for name, content := range map[string]any{
		transformer.ConfigFile:    config,
		transformer.TokenizerFile: tokenizer,
		transformer.PoolingFile:   map[string]any{"pooling_mode_cls_token": m.first, "pooling_mode_mean_tokens": !m.first},
	} {
		data, err := json.Marshal(content)
		if err != nil {
			return err
		}
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, data, 0o600)); err != nil {
			return err
		}
	}
	return m.writeWeights(filepath.Join(dir, transformer.WeightsFile), seed)
}

// writeWeights writes model.safetensors: the length of a header, the header, the values.
func (m modelShape) writeWeights(name string, seed uint64) error {
	header := make(map[string]any)
	at := 0
	for _, w := range m.weights() {
		end := at + 4*w.values()
		header[w.name] = map[string]any{"dtype": "F32", "shape": w.dims, "data_offsets": []int{at, end}}
		at = end
	}
	head, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(head)%8 != 0 { // so that the values can be used where they lie
		head = append(head, ' ')
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	to := bufio.NewWriterSize(f, 1<<20)
	_, err = to.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...))
	return errors.Join(err, m.writeValues(to, seed), to.Flush(), f.Close())
}

func (m modelShape) writeValues(to io.Writer, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 7))
	for _, w := range m.weights() {
		data := make([]byte, 0, 4*w.values())
		for range w.values() {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(w.middle+w.spread*random.NormFloat64())))
		}
		if _, err := to.Write(data); err != nil {
			return err
		}
	}
	return nil
}
