package transformer_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/embed/transformer"
	"anamnesis/internal/embed/transformer/transformertest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// opened writes a model and opens it.
func opened(t testing.TB, o transformertest.Options) *transformer.Model {
	t.Helper()
	m, err := transformer.Open(written(t, o))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func written(t testing.TB, o transformertest.Options) string {
	t.Helper()
	dir := t.TempDir()
	if err := transformertest.Write(dir, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

var near = cmpopts.EquateApprox(0, tolerance)

// Numbers that ONNX Runtime gave for the same weights (TestReference), so that a change
// is seen where there is no ONNX Runtime.
func TestKnownNumbers(t *testing.T) {
	vectors, err := opened(t, shapes["odd"]).Vectors(t.Context(), []string{"The timeout of the invoice queue."})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float32{0.15611, -0.13145, -0.23627, 0.02676}, vectors[0][:4], near); d != "" {
		t.Errorf("vector (-want +got):\n%s", d)
	}
	scores, err := opened(t, shapes["tanh"]).Score(t.Context(), "how long is the timeout", []string{"nine seconds", "green"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float64{-1.23414, -1.24636}, scores, near); d != "" {
		t.Errorf("scores (-want +got):\n%s", d)
	}
}

// A text has the same vector alone, among others, and on one core.
func TestPacksAreAlike(t *testing.T) {
	o := transformertest.Small()
	m, alone := opened(t, o), opened(t, o)
	alone.Alone()
	var many []string
	for i := range 40 {
		many = append(many, strings.Repeat("invoice queue ", i%7)+texts[i%len(texts)])
	}
	all, err := m.Vectors(t.Context(), many)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range many {
		one, err := alone.Vectors(t.Context(), []string{text})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(one[0], all[i], cmpopts.EquateApprox(0, 1e-5)); d != "" {
			t.Fatalf("text %d has another vector among others:\n%s", i, d)
		}
		length := 0.0
		for _, x := range one[0] {
			length += float64(x) * float64(x)
		}
		if math.Abs(length-1) > 1e-5 {
			t.Errorf("text %d has a vector of length² %v", i, length)
		}
	}
}

// What a model was made to know, it tells.
func TestMeaning(t *testing.T) {
	o := transformertest.Small()
	o.Words = []string{"timeout", "deadline", "green", "logo", "revoked"}
	o.Synonyms = map[string]string{"deadline": "timeout"}
	v, err := opened(t, o).Vectors(t.Context(), []string{"timeout", "deadline", "green logo"})
	if err != nil {
		t.Fatal(err)
	}
	cosine := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	if same, other := cosine(v[0], v[1]), cosine(v[0], v[2]); same < 0.999 || other > 0.95 {
		t.Errorf("cosine %.3f of two words that mean the same, %.3f of others", same, other)
	}
	o.Labels, o.Marked, o.Kind = 1, "revoked", "BF16"
	s, err := opened(t, o).Score(t.Context(), "what happens to the logo", []string{"green green green", "the green logo is revoked", "timeout"})
	if err != nil {
		t.Fatal(err)
	}
	if !(s[1] > 1 && s[0] < -1 && s[2] < -1) {
		t.Errorf("scores %v: the second text has the word", s)
	}
}

// Weights of 16 bits give nearly what those of 32 do, and names of both kinds are known.
func TestKinds(t *testing.T) {
	o := transformertest.Small()
	want, err := opened(t, o).Vectors(t.Context(), []string{texts[2]})
	if err != nil {
		t.Fatal(err)
	}
	for kind, most := range map[string]float64{"F16": 5e-3, "BF16": 5e-2} {
		o.Kind, o.Prefix = kind, "bert."
		got, err := opened(t, o).Vectors(t.Context(), []string{texts[2]})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, most)); d != "" {
			t.Errorf("%s (-want +got):\n%s", kind, d)
		}
	}
	for h, want := range map[uint16]float64{
		0x0000: 0, 0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x0001: math.Pow(2, -24), 0x8001: -math.Pow(2, -24), 0x0400: math.Pow(2, -14),
		0x3555: 0.333251953125, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := transformer.Half(h); float64(got) != want {
			t.Errorf("half of %#04x is %v, want %v", h, got, want)
		}
	}
	if !math.IsNaN(float64(transformer.Half(0x7e00))) {
		t.Error("0x7e00 is a number")
	}
}

func TestWrongUse(t *testing.T) {
	o := transformertest.Small()
	if _, err := opened(t, o).Score(t.Context(), "q", []string{"t"}); err == nil || !strings.Contains(err.Error(), "no cross-encoder") {
		t.Errorf("an encoder scores: %v", err)
	}
	o.Labels = 1
	if _, err := opened(t, o).Vectors(t.Context(), []string{"t"}); err == nil || !strings.Contains(err.Error(), "no vectors") {
		t.Errorf("a cross-encoder makes vectors: %v", err)
	}
}

// Who does not wait any longer is not worked for, and who cannot be served in time
// hears so early.
func TestPatience(t *testing.T) {
	o := transformertest.Options{Hidden: 384, Layers: 12, Heads: 12, Inner: 1536, Positions: 512, Seed: 6}
	m := opened(t, o)
	long := []string{}
	for range 2048 {
		long = append(long, strings.Repeat("run the script ", 100))
	}
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("nobody waits"))
	if _, err := m.Vectors(gone, long); err == nil || err.Error() != "nobody waits" {
		t.Errorf("a cancelled question: %v", err)
	}
	soon, cancelSoon := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancelSoon()
	_, err := m.Vectors(soon, long)
	var slow *transformer.SlowError
	if !errors.As(err, &slow) || slow.Need <= slow.Have {
		t.Fatalf("2048 long texts within 20 seconds: %v", err)
	}
	if soon.Err() != nil {
		t.Error("it was said when the time was over")
	}
	if _, err := m.Vectors(t.Context(), []string{"short"}); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// The files of a model that do not fit are refused, with the reason.
func TestUnfit(t *testing.T) {
	for _, tt := range []struct{ name, file, from, to, want string }{
		{"another kind", "config.json", `"bert"`, `"t5"`, `model_type "t5"`},
		{"another activation", "config.json", `"gelu"`, `"swiglu"`, `hidden_act "swiglu"`},
		{"another position", "config.json", `"absolute"`, `"relative_key"`, "position_embedding_type"},
		{"no layers", "config.json", `"num_hidden_layers":2`, `"num_hidden_layers":0`, "num_hidden_layers 0"},
		{"huge", "config.json", `"vocab_size":`, `"vocab_size":9999999`, "vocab_size"},
		{"heads", "config.json", `"num_attention_heads":4`, `"num_attention_heads":5`, "5 heads do not share 48"},
		{"another size", "config.json", `"hidden_size":48`, `"hidden_size":40`, "has the shape"},
		{"one layer more", "config.json", `"num_hidden_layers":2`, `"num_hidden_layers":3`, "there is no tensor encoder.layer.2."},
		{"no JSON", "config.json", `{`, `[`, "config.json"},
		{"fewer words", "config.json", `"vocab_size":`, `"vocab_size":1,"x":`, "there are 1"},
		{"another tokenizer", "tokenizer.json", `"WordPiece","unk`, `"BPE","unk`, `type "BPE"`},
		{"another normalizer", "tokenizer.json", `"BertNormalizer"`, `"Lowercase"`, "normalizer"},
		{"no special token", "tokenizer.json", `"[CLS]":2`, `"[CLX]":2`, `no token "[CLS]"`},
		{"below zero", "tokenizer.json", `"[CLS]":2`, `"[CLS]":-2`, "number -2"},
		{"another pooling", "1_Pooling/config.json", `{`, `{"pooling_mode_max_tokens":true,`, "1_Pooling/config.json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := written(t, transformertest.Small())
			name := filepath.Join(dir, filepath.FromSlash(tt.file))
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(data), tt.from, tt.to, 1)
			if changed == string(data) {
				t.Fatalf("%s has no %s", tt.file, tt.from)
			}
			if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := transformer.Open(dir); !errors.Is(err, transformer.ErrUnfit) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	dir := written(t, transformertest.Small())
	dense := `[{"type": "sentence_transformers.models.Transformer"}, {"type": "sentence_transformers.models.Dense"}]`
	if err := os.WriteFile(filepath.Join(dir, "modules.json"), []byte(dense), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := transformer.Open(dir); err == nil || !strings.Contains(err.Error(), `"Dense"`) {
		t.Errorf("a model with a dense layer behind it: %v", err)
	}
}

// No link leads out of a folder, and what is no file is not opened.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	outside := written(t, transformertest.Small())
	for _, name := range []string{"config.json", "model.safetensors", "tokenizer.json"} {
		dir := written(t, transformertest.Small())
		if err := errors.Join(os.Remove(filepath.Join(dir, name)), os.Symlink(filepath.Join(outside, name), filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
		if _, err := transformer.Open(dir); err == nil {
			t.Errorf("%s was read through a link", name)
		}
	}
}

func TestLength(t *testing.T) {
	dir := written(t, transformertest.Small())
	if err := os.WriteFile(filepath.Join(dir, "sentence_bert_config.json"), []byte(`{"max_seq_length": 16}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := transformer.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Tokens(strings.Repeat("a ", 100)); got != 16 || m.MaxTokens() != 16 {
		t.Errorf("%d tokens of at most %d", got, m.MaxTokens())
	}
}

func BenchmarkVectors(b *testing.B) {
	m := opened(b, shapes["MiniLM"])
	for name, text := range map[string]string{"12": "how do I rotate it", "200": strings.Repeat("run the script ", 17)} {
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(float64(m.Tokens(text)), "tokens")
			for b.Loop() {
				if _, err := m.Vectors(b.Context(), []string{text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
