package transformer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
)

// A shape is what config.json says of a model.
type shape struct {
	hidden, layers, heads, inner int
	vocabulary, positions, kinds int // rows of the three tables of embeddings
	epsilon                      float64
	tanh                         bool // GELU is the approximation by tanh
	labels                       int  // of the classifier, 0 when there is none
	tokens                       int  // of a sequence, at most
}

// What we run, at most. A sequence of maxTokens is all that the models read that this
// is for; attention costs the square of it.
const (
	maxHidden     = 2048
	maxLayers     = 48
	maxInner      = 8192
	maxVocabulary = 1 << 20
	maxPositions  = 1 << 16
	maxTokens     = 512
	leastTokens   = 8
)

// readShape reads config.json.
func readShape(data []byte) (shape, error) {
	var c struct {
		ModelType     string         `json:"model_type"`
		Architectures []string       `json:"architectures"`
		Hidden        int            `json:"hidden_size"`
		Layers        int            `json:"num_hidden_layers"`
		Heads         int            `json:"num_attention_heads"`
		Inner         int            `json:"intermediate_size"`
		Vocabulary    int            `json:"vocab_size"`
		Positions     int            `json:"max_position_embeddings"`
		Kinds         int            `json:"type_vocab_size"`
		Epsilon       *float64       `json:"layer_norm_eps"`
		Activation    *string        `json:"hidden_act"`
		Position      string         `json:"position_embedding_type"`
		Labels        map[string]any `json:"id2label"`
		LabelCount    int            `json:"num_labels"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return shape{}, fmt.Errorf("%w: %s: %w", ErrUnfit, ConfigFile, err)
	}
	s := shape{
		hidden: c.Hidden, layers: c.Layers, heads: c.Heads, inner: c.Inner,
		vocabulary: c.Vocabulary, positions: c.Positions, kinds: c.Kinds, epsilon: 1e-12,
	}
	if c.ModelType != "bert" {
		return s, unfit("%s says model_type %q, and only bert is known", ConfigFile, cut(c.ModelType))
	}
	if c.Position != "" && c.Position != "absolute" {
		return s, unfit("%s says position_embedding_type %q, and only absolute is known", ConfigFile, cut(c.Position))
	}
	if c.Epsilon != nil {
		s.epsilon = *c.Epsilon
	}
	if c.Activation != nil {
		switch *c.Activation {
		case "gelu":
		case "gelu_new", "gelu_pytorch_tanh":
			s.tanh = true
		default:
			return s, unfit("%s says hidden_act %q; known are gelu, gelu_new and gelu_pytorch_tanh", ConfigFile, cut(*c.Activation))
		}
	}
	for _, a := range c.Architectures {
		if strings.HasSuffix(a, "ForSequenceClassification") {
			s.labels = max(len(c.Labels), c.LabelCount)
			if s.labels == 0 {
				s.labels = 2 // as the format says
			}
		}
	}
	s.tokens = min(maxTokens, s.positions)
	return s, s.check()
}

// check refuses what does not fit together or would take too much.
func (s *shape) check() error {
	for _, d := range []struct {
		name      string
		got, most int
	}{
		{"hidden_size", s.hidden, maxHidden},
		{"num_hidden_layers", s.layers, maxLayers},
		{"num_attention_heads", s.heads, maxHidden},
		{"intermediate_size", s.inner, maxInner},
		{"vocab_size", s.vocabulary, maxVocabulary},
		{"max_position_embeddings", s.positions, maxPositions},
		{"type_vocab_size", s.kinds, 16},
	} {
		if d.got < 1 || d.got > d.most {
			return unfit("%s says %s %d, which is not from 1 to %d", ConfigFile, d.name, d.got, d.most)
		}
	}
	switch {
	case s.hidden%s.heads != 0:
		return unfit("%s: %d heads do not share %d values", ConfigFile, s.heads, s.hidden)
	case s.labels > 2:
		return unfit("%s: a classifier of %d labels does not say how well a text answers", ConfigFile, s.labels)
	case s.labels > 0 && s.kinds < 2:
		return unfit("%s: a cross-encoder tells questions from texts, and type_vocab_size is %d", ConfigFile, s.kinds)
	case s.tokens < leastTokens:
		return unfit("%s: %d positions are too few", ConfigFile, s.positions)
	case math.IsNaN(s.epsilon) || s.epsilon < 0 || s.epsilon > 1:
		return unfit("%s: layer_norm_eps %v", ConfigFile, s.epsilon)
	}
	return nil
}

// readPooling reads what sentence-transformers says of a model, and bounds the length
// of texts by it. A model without these files has its mean taken.
func readPooling(root *os.Root, s *shape) (first bool, err error) {
	var modules []struct {
		Type string `json:"type"`
	}
	if err := optional(root, modulesFile, &modules); err != nil {
		return false, err
	}
	for _, m := range modules {
		switch name := m.Type[strings.LastIndexByte(m.Type, '.')+1:]; name {
		case "Transformer", "Pooling", "Normalize":
		default:
			return false, unfit("%s names the module %q; known are Transformer, Pooling and Normalize", modulesFile, cut(name))
		}
	}
	var length struct {
		Tokens int `json:"max_seq_length"`
	}
	if err := optional(root, lengthFile, &length); err != nil {
		return false, err
	}
	if length.Tokens >= leastTokens {
		s.tokens = min(s.tokens, length.Tokens)
	}
	pooling := struct {
		First bool `json:"pooling_mode_cls_token"`
		Mean  bool `json:"pooling_mode_mean_tokens"`
		Max   bool `json:"pooling_mode_max_tokens"`
		Root  bool `json:"pooling_mode_mean_sqrt_len_tokens"`
		Last  bool `json:"pooling_mode_lasttoken"`
		Heavy bool `json:"pooling_mode_weightedmean_tokens"`
	}{}
	switch err := optional(root, PoolingFile, &pooling); {
	case err != nil:
		return false, err
	case pooling.Max || pooling.Root || pooling.Last || pooling.Heavy || pooling.First && pooling.Mean:
		return false, unfit("%s: known are the mean of all tokens and the first token, one of them", PoolingFile)
	}
	return pooling.First, nil
}

// optional reads a file of JSON that may be missing.
func optional(root *os.Root, name string, into any) error {
	data, err := small(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnfit, name, err)
	}
	return nil
}

// cut shortens what a file says for an error.
func cut(s string) string {
	const most = 60
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
