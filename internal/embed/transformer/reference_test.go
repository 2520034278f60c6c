package transformer_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/embed/transformer"
	"anamnesis/internal/embed/transformer/transformertest"

	"github.com/google/go-cmp/cmp"
)

// modules returns the folder of node_modules with the programs that these tests compare
// ours with: ONNX Runtime for the numbers, Hugging Face's tokenizers for the tokens.
func modules(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("ANAMNESIS_TEST_ONNX")
	for _, name := range []string{"onnxruntime-web", "@huggingface/tokenizers"} {
		if _, err := os.Stat(filepath.Join(dir, name)); dir == "" || err != nil {
			const missing = "ANAMNESIS_TEST_ONNX does not name a folder of node_modules with onnxruntime-web and @huggingface/tokenizers"
			if os.Getenv("ANAMNESIS_CI") != "" {
				t.Fatal(missing)
			}
			t.Skip(missing)
		}
	}
	return dir
}

// node runs a script of node with an argument, and decodes what it prints.
func node(t *testing.T, script string, into any, args ...string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "script.mjs")
	if err := os.WriteFile(name, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", append([]string{name}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("node printed %.200s: %v", out, err)
	}
}

// runONNX runs a graph on sequences, and prints what comes out of each.
const runONNX = `
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [modules, model, asked] = process.argv.slice(2);
const ort = await import(pathToFileURL(modules + "/onnxruntime-web/dist/ort.node.min.mjs"));
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";
const session = await ort.InferenceSession.create(new Uint8Array(readFileSync(model)), { graphOptimizationLevel: "disabled" });
const all = [];
for (const { ids, kinds } of JSON.parse(readFileSync(asked))) {
	const tensor = (list) => new ort.Tensor("int64", BigInt64Array.from(list, BigInt), [list.length]);
	const out = await session.run({ ids: tensor(ids), kinds: tensor(kinds), places: tensor(ids.map((_, i) => i)) });
	const answer = {};
	for (const name in out) answer[name] = Array.from(out[name].data);
	all.push(answer);
}
process.stdout.write(JSON.stringify(all));
`

// tolerance is how far a number may be from the reference's.
const tolerance = 1e-4

// The shapes that are compared with the reference, all with random weights. Their
// vocabularies are small: a table of words is looked up, not calculated with.
var shapes = map[string]transformertest.Options{
	"MiniLM":   {Hidden: 384, Layers: 6, Heads: 12, Inner: 1536, Positions: 512, Seed: 1},
	"BGE":      {Hidden: 384, Layers: 12, Heads: 12, Inner: 1536, Positions: 512, First: true, Seed: 2, VocabTxt: true},
	"TinyBERT": {Hidden: 312, Layers: 4, Heads: 12, Inner: 1200, Positions: 512, Labels: 1, Seed: 3, Prefix: "bert."},
	"tanh":     {Hidden: 128, Layers: 2, Heads: 2, Inner: 512, Positions: 64, Labels: 2, Tanh: true, Seed: 4, Prefix: "bert."},
	"odd":      {Hidden: 30, Layers: 1, Heads: 6, Inner: 37, Positions: 40, Seed: 5},
}

var texts = []string{
	"", "a", "The timeout of the invoice queue is nine seconds.",
	"Über naïve cafés, 数据库 and don't-touch; x = f(y[3]) + 7.5%!", strings.Repeat("run the rotation script on the proxy host ", 30),
}

func TestReference(t *testing.T) {
	dir := modules(t)
	for name, o := range shapes {
		t.Run(name, func(t *testing.T) {
			m := opened(t, o)
			var pairs [][2]string
			for i, text := range texts {
				pairs = append(pairs, [2]string{text, texts[len(texts)-1-i]})
			}
			ids, kinds, hidden, err := m.Hidden(t.Context(), pairs)
			if err != nil {
				t.Fatal(err)
			}
			var asked []map[string]any
			for i := range ids {
				asked = append(asked, map[string]any{"ids": ids[i], "kinds": kinds[i]})
			}
			work := t.TempDir()
			file, list := filepath.Join(work, "model.onnx"), filepath.Join(work, "asked.json")
			b, err := json.Marshal(asked)
			if err != nil || os.WriteFile(file, onnx(o), 0o600) != nil || os.WriteFile(list, b, 0o600) != nil {
				t.Fatal(err)
			}
			var want []struct{ Hidden, Mean, Logits []float64 }
			node(t, runONNX, &want, dir, file, list)
			worst := 0.0
			for i := range ids {
				worst = max(worst, far(t, hidden[i], want[i].Hidden))
			}
			if worst > tolerance {
				t.Errorf("hidden states are up to %.1e from the reference's", worst)
			}
			t.Logf("hidden states: %.1e at most", worst)
			if m.Reads() {
				compareScores(t, m, pairs, func(i int) []float64 { return want[i].Logits })
				return
			}
			got, err := m.Vectors(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i := range texts {
				pooled := want[i].Mean
				if o.First {
					pooled = want[i].Hidden[:o.Hidden]
				}
				if d := far(t, got[i], unit(pooled)); d > tolerance {
					t.Errorf("the vector of text %d is %.1e from the reference's", i, d)
				}
			}
		})
	}
}

func compareScores(t *testing.T, m *transformer.Model, pairs [][2]string, want func(int) []float64) {
	t.Helper()
	for i, p := range pairs {
		got, err := m.Score(t.Context(), p[0], []string{p[1]})
		if err != nil {
			t.Fatal(err)
		}
		logits := want(i)
		w := logits[len(logits)-1]
		if len(logits) == 2 {
			w -= logits[0]
		}
		if d := math.Abs(got[0] - w); !(d <= tolerance) {
			t.Errorf("pair %d has the logit %v, %.1e from the reference's", i, got[0], d)
		}
	}
}

// far is the greatest distance between two numbers at the same place.
func far(t *testing.T, got []float32, want []float64) float64 {
	t.Helper()
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%d numbers, the reference has %d", len(got), len(want))
	}
	worst := 0.0
	for i, g := range got {
		if d := math.Abs(float64(g) - want[i]); !(d <= worst) {
			worst = d
		}
	}
	return worst
}

func unit(v []float64) []float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	all := make([]float64, len(v))
	for i, x := range v {
		all[i] = x / math.Sqrt(sum)
	}
	return all
}

// runTokenizer cuts texts and pairs with the tokenizer of a tokenizer.json.
const runTokenizer = `
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [modules, file, asked] = process.argv.slice(2);
const { Tokenizer } = await import(pathToFileURL(modules + "/@huggingface/tokenizers/dist/tokenizers.mjs"));
const t = new Tokenizer(JSON.parse(readFileSync(file)), {});
const all = JSON.parse(readFileSync(asked)).map(([a, b]) => b === "" ? t.encode(a).ids : t.encode(a, { text_pair: b }).ids);
process.stdout.write(JSON.stringify(all));
`

// Our tokens are those of Hugging Face's tokenizer, for made-up texts of all kinds of
// letters. Left out are text that looks like a special token, which is never one here,
// and ideographs beyond 16 bits, which that program reads as two halves.
func TestTokenizerReference(t *testing.T) {
	dir := modules(t)
	o := transformertest.Small()
	o.Positions = 512
	o.Words = []string{
		"the", "time", "##out", "##s", "invoice", "queue", "don", "uber", "##ber", "cafe", "naive", "数", "据", "é", "ss", "ß", "ト", "##ークン",
		"한", "##국", "i", "##i", "ö", "я", "##зык", "яз", "—", "…", "¿", "ﬁ", "x", "##x", "ᄒ", "##ᅡ", "##ᆫ",
	}
	m := opened(t, o)
	random := rand.New(rand.NewPCG(11, 12))
	parts := []string{
		" ", "\t", "\n", "\u00a0", "\u3000", "\u200b", "\u0000", "\ufffd", "\u00ad", "\u0301", "\u0300", "the", "timeouts", "invoice", "queue", "don't",
		"Über", "CAFÉ", "naïve", "数据库", "é", "straße", "トークン", "한국", "İ", "ÖL", "язык", "—", "…", "¿que?", "ﬁne", "xxxx", "(", ")", "_", "$", "`", "^",
		"a\u0308", "😀", "𝒳", "1.2.3", strings.Repeat("x", 100), strings.Repeat("x", 101), "\u1112\u1161\u11ab", "·", "«", "°", "©", "+", "|", "~",
	}
	var asked [][2]string
	for range 400 {
		var pair [2]string
		for side := range pair {
			for range random.IntN(9) {
				pair[side] += parts[random.IntN(len(parts))]
			}
		}
		asked = append(asked, pair)
	}
	work := t.TempDir()
	vocabulary := make(map[string]int)
	for i, w := range o.Vocabulary() {
		vocabulary[w] = i
	}
	write := func(name string, v any) string {
		b, err := json.Marshal(v)
		if err != nil || os.WriteFile(filepath.Join(work, name), b, 0o600) != nil {
			t.Fatal(name, err)
		}
		return filepath.Join(work, name)
	}
	var want [][]int32
	node(t, runTokenizer, &want, dir, write("tokenizer.json", transformertest.Tokenizer(vocabulary)), write("asked.json", asked))
	wrong := 0
	for i, p := range asked {
		got := m.TokensOf(p[0], p[1])
		if d := cmp.Diff(want[i], got); d != "" && wrong < 5 {
			wrong++
			t.Errorf("%q (-want +got):\n%s", p, d)
		}
	}
}
