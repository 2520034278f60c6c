package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"anamnesis/internal/config"
)

// leastFaults is how many faults a feature must have.
const leastFaults = 3

// A fault is one deliberate mistake in a feature: in a file of package internal, an
// expression or a statement is replaced by another. The proof of the feature must
// notice it, or the unit test that is named.
type fault struct {
	id        string // R3/2: the second of R3
	what      string
	file      string // below internal
	old, new  string
	room, run string // the folder of the unit test and its name, "" for the proof

	start, end int  // of old in the file, once it is found
	statement  bool // old is a statement, not an expression
}

func (f *fault) feature() string { return strings.Split(f.id, "/")[0] }

// readFaults reads the faults of all features. Those of one stand in
// testdata/fault/ID.txt, with blank lines between them:
//
//	recall/mmr.go: what the fault does
//	- the text that is replaced; it stands once in the file
//	+ what takes its place; nothing means that a statement is left out
//	test recall TestName
//
// The last line names the unit test that must notice the fault where the proof cannot.
func readFaults(t *testing.T) []*fault {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "fault", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*fault
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Trim(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
		for i, block := range strings.Split(text, "\n\n") {
			f := &fault{id: fmt.Sprintf("%s/%d", strings.TrimSuffix(filepath.Base(file), ".txt"), i+1)}
			if err := f.parse(block); err != nil {
				t.Fatalf("%s: fault %d: %v", file, i+1, err)
			}
			all = append(all, f)
		}
	}
	return all
}

func (f *fault) parse(block string) error {
	var old, replacement []string
	for i, line := range strings.Split(block, "\n") {
		mark, rest, _ := strings.Cut(line, " ")
		switch {
		case i == 0:
			var ok bool
			if f.file, f.what, ok = strings.Cut(line, ": "); !ok {
				return fmt.Errorf("%q is not file: what", line)
			}
		case mark == "-":
			old = append(old, rest)
		case mark == "+":
			replacement = append(replacement, rest)
		case mark == "test":
			f.room, f.run, _ = strings.Cut(rest, " ")
		default:
			return fmt.Errorf("what is %q?", line)
		}
	}
	f.old, f.new = strings.Join(old, "\n"), strings.Join(replacement, "\n")
	if f.old == "" || f.old == f.new {
		return errors.New("it changes nothing")
	}
	return nil
}

// locate finds the place of a fault in a file.
func (f *fault) locate(text string, parsed *ast.File) error {
	if n := strings.Count(text, f.old); n != 1 {
		return fmt.Errorf("%s: %q stands %d times in internal/%s, want once", f.id, f.old, n, f.file)
	}
	f.start = strings.Index(text, f.old)
	f.end = f.start + len(f.old)
	var found ast.Node
	ast.Inspect(parsed, func(n ast.Node) bool { // outer ones first: a call that is a statement is found as one
		if n != nil && found == nil && int(n.Pos()-parsed.FileStart) == f.start && int(n.End()-parsed.FileStart) == f.end {
			found = n
		}
		return found == nil
	})
	switch found.(type) {
	case ast.Stmt:
		f.statement = true
	case ast.Expr:
	default:
		return fmt.Errorf("%s: %q in internal/%s is neither an expression nor a statement", f.id, f.old, f.file)
	}
	return nil
}

// around returns what stands before and behind the sound text, so that the program
// holds both and takes the faulty one when it is asked to.
func (f *fault) around() (before, behind string) {
	switch {
	case !f.statement:
		return fmt.Sprintf("unlessFault(%q, ", f.id), ", " + f.new + ")"
	case strings.Contains(strings.Split(f.old, "\n")[0], ":=") && !strings.HasPrefix(f.old, "if ") && !strings.HasPrefix(f.old, "for "):
		return fmt.Sprintf("if faultIs(%q) {\n%s\n}\n", f.id, f.new), "" // what it defines must stay visible
	}
	return fmt.Sprintf("if faultIs(%q) {\n%s\n} else {\n", f.id, f.new), "\n}"
}

// switches is what a package gets besides its faults.
const switches = `package %s

import "os"

func faultIs(id string) bool { return os.Getenv("ANAMNESIS_FAULT") == id }

func unlessFault[T any](id string, sound, faulty T) T {
	if faultIs(id) {
		return faulty
	}
	return sound
}
`

// plant returns the source with all faults in it: what stands in which file.
func plant(t *testing.T, faults []*fault) map[string]string {
	t.Helper()
	byFile := make(map[string][]*fault)
	for _, f := range faults {
		byFile[f.file] = append(byFile[f.file], f)
	}
	planted := make(map[string]string)
	for file, here := range byFile {
		path, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), "\r\n", "\n")
		parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		type insertion struct {
			at, order int
			text      string
		}
		var insertions []insertion
		for _, f := range here {
			if err := f.locate(text, parsed); err != nil {
				t.Error(err)
			}
		}
		slices.SortStableFunc(here, func(a, b *fault) int { // one around another stands before it
			return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
		})
		for i, f := range here {
			before, behind := f.around()
			insertions = append(insertions, insertion{f.start, i, before}, insertion{f.end, -i - 1, behind})
		}
		slices.SortFunc(insertions, func(a, b insertion) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
		var b strings.Builder
		at := 0
		for _, x := range insertions {
			b.WriteString(text[at:x.at] + x.text)
			at = x.at
		}
		planted[path] = b.String() + text[at:]
		planted[filepath.Join(filepath.Dir(path), "faults_planted.go")] = fmt.Sprintf(switches, parsed.Name)
	}
	return planted
}

// TestMutantsFit: every feature has its faults, each fault its place, and each test
// that is to notice one is there.
func TestMutantsFit(t *testing.T) {
	faults := readFaults(t)
	plant(t, faults)
	have := make(map[string]int)
	seen := make(map[string]string)
	for _, f := range faults {
		if have[f.feature()]++; have[f.feature()] == 1 && f.run != "" {
			t.Errorf("%s: the first fault takes the feature out, and the proof itself must notice it", f.id)
		}
		change := f.file + "\n" + f.old + "\n" + f.new
		if other, ok := seen[change]; ok {
			t.Errorf("%s is the same fault as %s", f.id, other)
		}
		seen[change] = f.id
		if f.run != "" && !hasTest(t, f.room, f.run) {
			t.Errorf("%s: internal/%s has no test %s", f.id, f.room, f.run)
		}
	}
	for _, f := range config.Features() {
		if have[f.ID] < leastFaults {
			t.Errorf("%s has %d faults, want %d: a proof that cannot fail proves nothing", f.ID, have[f.ID], leastFaults)
		}
		delete(have, f.ID)
	}
	for id := range have {
		t.Errorf("testdata/fault/%s.txt is of no feature", id)
	}
}

func hasTest(t *testing.T, room, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(room), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(data), "\nfunc "+name+"(t *testing.T) {")
	})
}

// TestMutants builds the program with all faults, each of which an environment
// variable brings out, and runs for each the proof of its feature, which must fail,
// or the unit test. It takes minutes, so it runs in CI, or with ANAMNESIS_MUTANTS=1.
//
// ANAMNESIS_MUTANTS_PASSED names a folder with a file for each feature whose faults were
// noticed, named after what they depend on (see digests). Those features are left out,
// unless ANAMNESIS_MUTANTS is "all"; the others get their file when they pass.
func TestMutants(t *testing.T) {
	if os.Getenv("ANAMNESIS_MUTANTS") == "" {
		t.Skip("set ANAMNESIS_MUTANTS=1 to try the program with each deliberate fault")
	}
	faults := readFaults(t)
	marks := make(map[string]string) // of the features that are tried: the file that says they passed, "" for none
	known := 0
	for id, digest := range digests(t, faults) {
		mark := ""
		if dir := os.Getenv("ANAMNESIS_MUTANTS_PASSED"); dir != "" {
			mark = filepath.Join(dir, id+"-"+digest)
		}
		if _, err := os.Stat(mark); mark != "" && err == nil && os.Getenv("ANAMNESIS_MUTANTS") != "all" {
			known++
			continue
		}
		marks[id] = mark
	}
	t.Logf("mutants: %d features run, %d skipped: their code, proof and faults are those of a run that passed", len(marks), known)
	if len(marks) == 0 {
		return
	}
	left := make(map[string]*atomic.Int32) // what has not passed yet of each feature: the control and its faults
	for id := range marks {
		left[id] = new(atomic.Int32)
		left[id].Add(1)
	}
	for _, f := range faults {
		if n := left[f.feature()]; n != nil {
			n.Add(1)
		}
	}
	t.Cleanup(func() { // when the parallel tests have ended
		for id, mark := range marks {
			if mark == "" || left[id].Load() > 0 {
				continue
			}
			older, _ := filepath.Glob(filepath.Join(filepath.Dir(mark), id+"-*"))
			for _, name := range older {
				_ = os.Remove(name)
			}
			if err := os.WriteFile(mark, nil, 0o600); err != nil {
				t.Errorf("record that the faults of %s were noticed: %v", id, err)
			}
		}
	})
	tried := slices.DeleteFunc(slices.Clone(faults), func(f *fault) bool { return left[f.feature()] == nil })
	m := buildMutants(t, faults, tried)
	t.Run("none", func(t *testing.T) { // the control: without a fault all proofs and tests pass
		if out, err := m.check("", "^TestProofs$/^("+strings.Join(slices.Sorted(maps.Keys(marks)), "|")+")$"); err != nil {
			t.Errorf("the proofs fail without any fault: %v\n%s", err, out)
		}
		for room, tests := range m.tests {
			if out, err := m.unit("", room, strings.Join(tests, "|")); err != nil {
				t.Errorf("the tests of %s fail without any fault: %v\n%s", room, err, out)
			}
		}
		if !t.Failed() {
			for _, n := range left {
				n.Add(-1)
			}
		}
	})
	for _, f := range tried {
		t.Run(f.id, func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() {
				if !t.Failed() {
					left[f.feature()].Add(-1)
				}
			})
			if f.run != "" {
				if out, err := m.unit(f.id, f.room, f.run); err == nil {
					t.Errorf("%s passes though %s: %q for %q in internal/%s\n%s", f.run, f.what, f.new, f.old, f.file, out)
				}
				return
			}
			if out, err := m.check(f.id, "^TestProofs$/^"+f.feature()+"$"); err == nil {
				t.Errorf("the proof passes though %s: %q for %q in internal/%s\n%s", f.what, f.new, f.old, f.file, out)
			}
		})
	}
}

// digests returns for each feature a hash of its code (the file that its row
// names, the packages with its faults, and those whose tests must notice them), its proof,
// its faults, and the code that runs proofs.
func digests(t *testing.T, faults []*fault) map[string]string {
	t.Helper()
	homes := make(map[string]string)
	for _, f := range config.Features() {
		homes[f.ID] = f.Home
	}
	files := make(map[string][]string) // by feature
	add := func(id, pattern string) {
		found, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no file matches %s (%v)", id, pattern, err)
		}
		files[id] = append(files[id], found...)
	}
	for _, f := range faults {
		id := f.feature()
		if files[id] == nil {
			for _, pattern := range []string{
				"testdata/fault/" + id + ".txt", "testdata/proof/" + id + ".txt*", "script*_test.go", "proof_test.go", "mutant_test.go", "../../go.mod",
				"../" + homes[id],
			} {
				add(id, pattern)
			}
		}
		add(id, "../"+path.Dir(f.file)+"/*.go")
		if f.room != "" {
			add(id, "../"+f.room+"/*.go")
		}
	}
	all := make(map[string]string)
	for id, names := range files {
		slices.Sort(names)
		hash := sha256.New()
		fmt.Fprintln(hash, runtime.Version())
		for _, name := range slices.Compact(names) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(hash, "%s %x\n", filepath.ToSlash(name), sha256.Sum256(data))
		}
		all[id] = fmt.Sprintf("%.10x", hash.Sum(nil))
	}
	return all
}

// mutants are the programs with all faults.
type mutants struct {
	dir   string              // they stand in
	tests map[string][]string // the unit tests of each room
}

// buildMutants builds the program with all faults, and the unit tests that some of them need.
func buildMutants(t *testing.T, faults, tried []*fault) *mutants {
	t.Helper()
	m := &mutants{dir: t.TempDir(), tests: make(map[string][]string)}
	replace := make(map[string]string)
	for path, text := range plant(t, faults) {
		file := filepath.Join(m.dir, fmt.Sprintf("%d_%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[path] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(m.dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := func(command, exe, what string, flags ...string) {
		args := slices.Concat([]string{command, "-overlay", file, "-ldflags=-s -w -X anamnesis/internal/cli.attendedBy=test", "-o", exe}, flags, []string{what})
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %s with the faults: %v\n%s", command, what, err, out)
		}
	}
	build("build", m.exe("anamnesis"), "../..")
	for _, f := range tried {
		if f.run == "" {
			continue
		}
		if m.tests[f.room] == nil {
			build("test", m.unitTests(f.room), "anamnesis/internal/"+f.room, "-c")
		}
		m.tests[f.room] = append(m.tests[f.room], f.run)
	}
	return m
}

func (m *mutants) exe(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(m.dir, name)
}

func (m *mutants) unitTests(room string) string {
	return m.exe(strings.ReplaceAll(room, "/", "_") + ".test")
}

// check runs proofs with the program that has a fault.
func (m *mutants) check(id, run string) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(exe, "-test.run="+run)
	cmd.Env = append(os.Environ(), "ANAMNESIS_FAULT="+id, "ANAMNESIS_MUTANT="+m.dir)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// unit runs tests of a room in which a fault is.
func (m *mutants) unit(id, room, run string) (string, error) {
	cmd := exec.Command(m.unitTests(room), "-test.run=^("+run+")$")
	cmd.Dir = filepath.Join("..", filepath.FromSlash(room))
	cmd.Env = append(os.Environ(), "ANAMNESIS_FAULT="+id)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
