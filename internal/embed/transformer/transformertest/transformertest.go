// Package transformertest writes models for tests: the files of a transformer with
// random weights, or with weights that were chosen so that it knows something.
package transformertest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options say what a model is like.
type Options struct {
	Hidden, Layers, Heads, Inner int
	Positions                    int
	Labels                       int // of the classifier; 0 makes an encoder
	Tanh                         bool
	First                        bool // the first token is the vector of a text
	Seed                         uint64
	Words                        []string          // of the vocabulary, beside its special tokens, letters and digits
	Synonyms                     map[string]string // words with the embedding of another one
	Marked                       string            // a word for which a cross-encoder looks; every text with it answers
	VocabTxt                     bool              // vocab.txt instead of tokenizer.json
	Kind                         string            // of the tensors: F32, F16 or BF16; "" is F32
	Prefix                       string            // of the tensors' names
}

// A Tensor is numbers with a shape.
type Tensor struct {
	Shape  []int
	Values []float32
}

// Small is an encoder of MiniLM's proportions.
func Small() Options {
	return Options{Hidden: 48, Layers: 2, Heads: 4, Inner: 96, Positions: 64, Seed: 1}
}

// Vocabulary lists the tokens of a model by their numbers.
func (o Options) Vocabulary() []string {
	all := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for c := '!'; c <= '~'; c++ {
		if c < 'A' || c > 'Z' {
			all = append(all, string(c))
		}
	}
	for c := 'a'; c <= 'z'; c++ {
		all = append(all, "##"+string(c))
	}
	for c := '0'; c <= '9'; c++ {
		all = append(all, "##"+string(c))
	}
	for _, w := range o.Words {
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// Tensors makes the weights. The same options give the same.
func (o Options) Tensors() map[string]Tensor {
	random := rand.New(rand.NewPCG(o.Seed, 7))
	all := make(map[string]Tensor)
	fill := func(name string, spread, middle float64, shape ...int) {
		n := 1
		for _, d := range shape {
			n *= d
		}
		t := Tensor{shape, make([]float32, n)}
		for i := range t.Values {
			t.Values[i] = float32(middle + spread*random.NormFloat64())
		}
		all[name] = t
	}
	linear := func(name string, in, out int) {
		fill(name+".weight", 1/math.Sqrt(float64(in)), 0, out, in)
		fill(name+".bias", 0.1, 0, out)
	}
	scaling := func(name string) {
		fill(name+".weight", 0.1, 1, o.Hidden)
		fill(name+".bias", 0.1, 0, o.Hidden)
	}
	words := o.Vocabulary()
	at := o.Prefix + "embeddings."
	fill(at+"word_embeddings.weight", 1, 0, len(words), o.Hidden)
	fill(at+"position_embeddings.weight", 0.1, 0, o.Positions, o.Hidden)
	fill(at+"token_type_embeddings.weight", 0.1, 0, 2, o.Hidden)
	scaling(at + "LayerNorm")
	for i := range o.Layers {
		at := fmt.Sprintf("%sencoder.layer.%d.", o.Prefix, i)
		for _, part := range []string{"query", "key", "value"} {
			linear(at+"attention.self."+part, o.Hidden, o.Hidden)
		}
		linear(at+"attention.output.dense", o.Hidden, o.Hidden)
		scaling(at + "attention.output.LayerNorm")
		linear(at+"intermediate.dense", o.Hidden, o.Inner)
		linear(at+"output.dense", o.Inner, o.Hidden)
		scaling(at + "output.LayerNorm")
	}
	if o.Labels > 0 {
		linear(o.Prefix+"pooler.dense", o.Hidden, o.Hidden)
		linear("classifier", o.Hidden, o.Labels)
	}
	table := all[at+"word_embeddings.weight"].Values
	row := func(word string) []float32 {
		i := slices.Index(words, word)
		return table[i*o.Hidden : (i+1)*o.Hidden]
	}
	for _, word := range slices.Sorted(maps.Keys(o.Synonyms)) {
		copy(row(word), row(o.Synonyms[word]))
	}
	if o.Marked != "" {
		o.mark(all, row(o.Marked), table)
	}
	return all
}

// mark makes a model of one thought: the first token sees the mean of all tokens, and
// the classifier looks at the one value that only the marked word has.
func (o Options) mark(all map[string]Tensor, marked, table []float32) {
	for name, t := range all {
		square := strings.HasSuffix(name, "self.value.weight") || strings.HasSuffix(name, "attention.output.dense.weight") ||
			strings.HasSuffix(name, "pooler.dense.weight")
		switch {
		case strings.Contains(name, "LayerNorm.weight") || strings.Contains(name, "word_embeddings"):
			continue
		case strings.Contains(name, "LayerNorm.bias") || !square:
			clear(t.Values)
		default:
			clear(t.Values)
			for i := range o.Hidden {
				t.Values[i*o.Hidden+i] = 1
			}
		}
	}
	for i := 0; i < len(table); i += o.Hidden {
		table[i] = 0
	}
	clear(marked)
	marked[0] = 30
	all["classifier.weight"].Values[0] = 20
	all["classifier.bias"].Values[0] = -2
}

// Write writes the files of a model into a folder, which it makes.
func Write(dir string, o Options) error {
	words := o.Vocabulary()
	vocabulary := make(map[string]int)
	for i, w := range words {
		vocabulary[w] = i
	}
	activation := "gelu"
	if o.Tanh {
		activation = "gelu_new"
	}
	config := map[string]any{
		"model_type": "bert", "architectures": []string{"BertModel"}, "hidden_size": o.Hidden, "num_hidden_layers": o.Layers,
		"num_attention_heads": o.Heads, "intermediate_size": o.Inner, "vocab_size": len(words), "max_position_embeddings": o.Positions,
		"type_vocab_size": 2, "layer_norm_eps": 1e-12, "hidden_act": activation, "position_embedding_type": "absolute",
	}
	if o.Labels > 0 {
		labels := make(map[string]string)
		for i := range o.Labels {
			labels[fmt.Sprint(i)] = fmt.Sprintf("LABEL_%d", i)
		}
		config["architectures"], config["id2label"] = []string{"BertForSequenceClassification"}, labels
	}
	files := map[string]any{
		"config.json":           config,
		"1_Pooling/config.json": map[string]any{"pooling_mode_cls_token": o.First, "pooling_mode_mean_tokens": !o.First},
		"README.md":             "---\nlicense: cc0-1.0\n---\n\nRandom weights.\n",
	}
	if o.VocabTxt {
		files["vocab.txt"] = strings.Join(words, "\n") + "\n"
		files["tokenizer_config.json"] = map[string]any{"do_lower_case": true}
	} else {
		files["tokenizer.json"] = Tokenizer(vocabulary)
	}
	errs := []error{os.MkdirAll(filepath.Join(dir, "1_Pooling"), 0o700)}
	for name, content := range files {
		data, ok := content.(string)
		if !ok {
			b, err := json.Marshal(content)
			errs = append(errs, err)
			data = string(b)
		}
		errs = append(errs, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(data), 0o600))
	}
	errs = append(errs, os.WriteFile(filepath.Join(dir, "model.safetensors"), Safetensors(o.Tensors(), o.Kind), 0o600))
	return errors.Join(errs...)
}

// Tokenizer is what tokenizer.json says of a vocabulary.
func Tokenizer(vocabulary map[string]int) map[string]any {
	special := []map[string]any{}
	for _, t := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		special = append(special, map[string]any{
			"id": vocabulary[t], "content": t, "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
		})
	}
	piece := func(id string, kind int) map[string]any {
		return map[string]any{"SpecialToken": map[string]any{"id": id, "type_id": kind}}
	}
	text := func(id string, kind int) map[string]any {
		return map[string]any{"Sequence": map[string]any{"id": id, "type_id": kind}}
	}
	named := func(id string) map[string]any {
		return map[string]any{"id": id, "ids": []int{vocabulary[id]}, "tokens": []string{id}}
	}
	return map[string]any{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": special,
		"normalizer": map[string]any{
			"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true,
		},
		"pre_tokenizer": map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{
			"type":           "TemplateProcessing",
			"single":         []any{piece("[CLS]", 0), text("A", 0), piece("[SEP]", 0)},
			"pair":           []any{piece("[CLS]", 0), text("A", 0), piece("[SEP]", 0), text("B", 1), piece("[SEP]", 1)},
			"special_tokens": map[string]any{"[CLS]": named("[CLS]"), "[SEP]": named("[SEP]")},
		},
		"decoder": map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model": map[string]any{
			"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary,
		},
	}
}

// Safetensors makes a file of tensors, in the order of their names.
func Safetensors(all map[string]Tensor, kind string) []byte {
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t, begin := all[name], len(data)
		for _, v := range t.Values {
			bits := math.Float32bits(v)
			switch kind {
			case "F16":
				data = binary.LittleEndian.AppendUint16(data, half(v))
			case "BF16":
				data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16))
			default:
				data = binary.LittleEndian.AppendUint32(data, bits)
			}
		}
		if kind == "" {
			kind = "F32"
		}
		header[name] = map[string]any{"dtype": kind, "shape": t.Shape, "data_offsets": []int{begin, len(data)}}
	}
	b, err := json.Marshal(header)
	if err != nil {
		panic(err) // unreachable: numbers and names
	}
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b, data)
}

// half makes the 16 bits of a float of the middle range, cutting what is too fine.
func half(v float32) uint16 {
	bits := math.Float32bits(v)
	sign, exponent := uint16(bits>>16&0x8000), int(bits>>23&0xff)-112
	if exponent <= 0 {
		return sign
	}
	return sign | uint16(min(exponent, 30))<<10 | uint16(bits>>13&0x3ff)
}
