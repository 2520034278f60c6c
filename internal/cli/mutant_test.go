package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/config"

	"github.com/rogpeppe/go-internal/testscript"
)

// A mutant is the program with one deliberate fault in a feature: in a file of
// package internal, old is replaced by new. The proof of the feature must fail.
type mutant struct{ id, file, old, new string }

// mutants lists the faults, at least one for each feature. The first of each takes
// the feature out.
var mutants = []mutant{
	{"A2", "recall/arm_graph.go", "if !e.opts.BitemporalEdges {", "if true {"},
	{"A6", "recall/scope.go", "if !r.AllBranches {", "if false {"},
	{"C5", "store/bundle/bundle.go", "range slices.Concat(bundled, bundledFiles) {", "range slices.Concat(bundled, bundledFiles)[:0] {"},
	{"M1", "recall/stage.go", "rows := make([]StageRow, 0, len(res.Hits))\n\tfor _, h := range res.Hits {", "rows := make([]StageRow, 0, len(res.Hits))\n\tfor _, h := range res.Hits[:0] {"},
	{"M6", "redact/redact.go", "if tagged && !r.keepPrivate {", "if false && tagged && !r.keepPrivate {"},
	{"M7", "recall/recall.go", `if q.Corpus != "" {`, `if false && q.Corpus != "" {`},
	{"R1", "recall/arm.go", "return o.GraphArm }", "return false && o.GraphArm }"},
	{"R1", "recall/arm_graph.go", "graphHops    = 2", "graphHops    = 1"},
	{"R1", "recall/arm_graph.go", "graphHops    = 2", "graphHops    = 3"},
	{"R1", "recall/arm_graph.go", "hubLeast     = 10 //", "hubLeast     = 1000 //"},
	{"R2", "recall/rerank.go", "if !e.opts.Rerank || len(hits) == 0 {", "if true {"},
	{"R3", "recall/mmr.go", "if !e.opts.MMR || q.NoMMR", "if true || q.NoMMR"},
	{"R3", "recall/mmr.go", "(1-e.opts.MMRLambda)*like[h]", "0*like[h]"},
	{"R4", "recall/pack.go", "if q.MaxTokens > 0 && len(res.Hits) > 0", "if false && len(res.Hits) > 0"},
	{"R5", "recall/arm.go", "return o.TemporalArm && r.Window != nil }", "return false && r.Window != nil }"},
	{"R5", "recall/arm_temporal.go", "timedPlace = 3", "timedPlace = 300"},
	{"R6", "recall/recall.go", "if e.opts.Temporal {", "if false {"},
	{"R7", "recall/gate.go", "if !q.Gate || len(hits) == 0 {", "if true {"},
	{"R7", "recall/gate.go", "|| smalltalk.Subject(q.Text) {", "|| smalltalk.Subject(q.Text) || true {"},
	{"R8", "recall/boost.go", "return o.RecencyAlpha }", "return 0 }"},
	{"R9", "recall/cache.go", "return e.opts.CacheTTL > 0 &&", "return e.opts.CacheTTL > 1e9 &&"},
	{"R12", "recall/fuse.go", "Norm < floor {", "Norm < floor-10 {"},
	{"R15", "recall/scope.go", "if !r.Global {", "if false {"},
	{"R16", "recall/boost.go", "return o.ProjectAlpha }", "return 0 }"},
	{"R16", "recall/boost.go", "if q.Project != \"\" && q.Project == h.Row.Project {", "if q.Project != \"\" {"},
	{"R16", "recall/boost.go", "if q.Project != \"\" && q.Project == h.Row.Project {", "if q.Project != h.Row.Project {"},
	{"S1", "recall/field.go", "for _, name := range names {\n\t\tif v := field(", "for _, name := range names[:0] {\n\t\tif v := field("},
	{"S3", "recall/boost.go", "return o.ConfidenceAlpha }", "return 0 }"},
	{"S4", "recall/boost.go", "return o.ProofAlpha }", "return 0 }"},
	{"S4", "recall/boost.go", "clamp01(0.5 + math.Log(", "clamp01(0.5 - math.Log("},
	{"S4", "recall/boost.go", "if h.Row.Proofs < 1 {", "if h.Row.Proofs < 100 {"},
	{"S6", "store/history.go", "if id == \"\" {\n\t\treturn \"\", \"\", nil", "if true {\n\t\treturn \"\", \"\", nil"},
	{"S9", "store/record.go", "r.V, r.ID, r.At = 1, note.NewID(now), now.Format", "if true {\n\t\treturn nil\n\t}\n\tr.V, r.ID, r.At = 1, note.NewID(now), now.Format"},
	{"SG6", "recall/gap.go", "if !e.opts.GapLog ||", "if true || !e.opts.GapLog ||"},
}

// source returns the file of a mutant, and its text with the fault.
func (m mutant) source(t *testing.T) (path, faulty string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(m.file)))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	if n := strings.Count(text, m.old); n != 1 {
		t.Errorf("%s: %q stands %d times in internal/%s, want once", m.id, m.old, n, m.file)
	}
	return path, strings.Replace(text, m.old, m.new, 1)
}

// TestMutantsFit: every feature has a fault, and every fault has its place.
func TestMutantsFit(t *testing.T) {
	have := make(map[string]bool)
	for _, m := range mutants {
		m.source(t)
		have[m.id] = true
	}
	for _, f := range config.Features() {
		if !have[f.ID] {
			t.Errorf("%s has no mutant: a proof that cannot fail proves nothing", f.ID)
		}
	}
}

// TestMutants builds the program with each fault and runs the proof of its feature,
// which must fail. It takes minutes, so it runs in CI, or with ANAMNESIS_MUTANTS=1.
func TestMutants(t *testing.T) {
	if os.Getenv("ANAMNESIS_MUTANTS") == "" {
		t.Skip("set ANAMNESIS_MUTANTS=1 to build the program with each deliberate fault")
	}
	sound := mutant{"*", "cli/main.go", "package cli", "package cli"} // the control: no fault, so all proofs pass
	for _, m := range append([]mutant{sound}, mutants...) {
		t.Run(m.id+"/"+strings.ReplaceAll(m.file, "/", "_"), func(t *testing.T) {
			if dir := os.Getenv("ANAMNESIS_MUTANT"); dir != "" { // the child that runs the proof
				m.prove(t, dir)
				return
			}
			dir := m.build(t)
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe, "-test.run=^"+strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^")+"$")
			cmd.Env = append(os.Environ(), "ANAMNESIS_MUTANT="+dir)
			switch out, err := cmd.CombinedOutput(); {
			case m == sound && err != nil:
				t.Errorf("the proofs fail without any fault: %v\n%s", err, out)
			case m != sound && err == nil:
				t.Errorf("the proof of %s passes with a fault in internal/%s: %q for %q\n%s", m.id, m.file, m.new, m.old, out)
			}
		})
	}
}

// prove runs the proof of the feature, or all for "*", with the program in dir.
func (m mutant) prove(t *testing.T, dir string) {
	params := proofParams()
	if m.id != "*" {
		params.Dir, params.Files = "", []string{"testdata/proof/" + m.id + ".txtar"}
	}
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		err := setup(env)
		env.Setenv("PATH", dir+string(os.PathListSeparator)+env.Getenv("PATH"))
		return err
	}
	testscript.Run(t, params)
}

// build builds the program with the fault and returns the folder it stands in.
func (m mutant) build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	path, faulty := m.source(t)
	file := filepath.Join(dir, "faulty.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: file}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{file: []byte(faulty), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(dir, "anamnesis")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", exe, "../..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build with %q in internal/%s: %v\n%s", m.new, m.file, err, out)
	}
	return dir
}
