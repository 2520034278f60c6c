package models_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/embed/models"
	"anamnesis/internal/embed/transformer"
	"anamnesis/internal/embed/transformer/transformertest"
	"anamnesis/internal/store"
)

func folder(t *testing.T, disk store.Disk) (f *models.Folder, root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "store")
	return models.Of(root, disk), filepath.Join(root, "models")
}

func small(t *testing.T, o transformertest.Options) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "small")
	if err := transformertest.Write(dir, o); err != nil {
		t.Fatal(err)
	}
	return dir
}

func add(t *testing.T, f *models.Folder, from string) *models.Plan {
	t.Helper()
	p, err := f.Add(t.Context(), models.Order{From: from})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// names are the files and folders below one.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(dir, name); rel != "." {
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

func TestAddAndUse(t *testing.T) {
	f, dir := folder(t, nil)
	from := small(t, transformertest.Small())
	plan, err := f.Look(t.Context(), models.Order{From: from})
	if err != nil || len(names(t, dir)) > 0 {
		t.Fatalf("%v, and there are %v", err, names(t, dir))
	}
	p := add(t, f, from)
	if plan.Bytes() != p.Bytes() || plan.ID() != p.ID() || p.Kind != models.Encoder || p.Took <= 0 {
		t.Errorf("planned %+v, added %+v", plan, p)
	}
	e, err := f.Embedder("small")
	if err != nil {
		t.Fatal(err)
	}
	if want := "local/small-" + p.ID(); e.Name() != want || !e.Traits().Deferred || e.Traits().Leaves {
		t.Errorf("%s, %+v; want %s", e.Name(), e.Traits(), want)
	}
	v, err := e.Embed(t.Context(), []string{"a text", ""})
	if err != nil || len(v) != 2 || len(v[0]) != 48 {
		t.Errorf("%d vectors, %v", len(v), err)
	}
	if _, err := f.Reranker("small"); err == nil || !strings.Contains(err.Error(), "kind encoder") {
		t.Errorf("an encoder reranks: %v", err)
	}
	o := transformertest.Small()
	o.Seed = 2
	if other := add2(t, f, small(t, o), "other"); other.ID() == p.ID() {
		t.Error("other weights have the same name")
	}
}

func add2(t *testing.T, f *models.Folder, from, name string) *models.Plan {
	t.Helper()
	p, err := f.Add(t.Context(), models.Order{From: from, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Weights that say nothing are refused: every text would be like every other.
func TestEmptyWeights(t *testing.T) {
	for _, kind := range []transformertest.Options{transformertest.Small(), reader()} {
		for what, fill := range map[string]byte{"all zero": 0, "all the same": 0x3c} { // 0x3c3c3c3c is .0115
			f, dir := folder(t, nil)
			from := small(t, kind)
			name := filepath.Join(from, transformer.WeightsFile)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			head := 8 + int(binary.LittleEndian.Uint64(data))
			for i := head; i < len(data); i++ {
				data[i] = fill
			}
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = f.Add(t.Context(), models.Order{From: from})
			if err == nil || !strings.Contains(err.Error(), "alike") && !strings.Contains(err.Error(), "no number") {
				t.Errorf("weights that are %s are added: %v", what, err)
			}
			if left := names(t, dir); len(left) > 0 {
				t.Errorf("it leaves %v", left)
			}
		}
	}
}

func reader() transformertest.Options {
	o := transformertest.Small()
	o.Labels = 1
	return o
}

// A file that is too large is refused by its size, before anything of it is copied.
func TestTooLargeIsNotCopied(t *testing.T) {
	f, _ := folder(t, nil)
	from := small(t, transformertest.Small())
	if err := os.Truncate(filepath.Join(from, transformer.WeightsFile), 20<<30); err != nil { // sparse
		t.Skipf("no sparse file of 20 GB can be made here: %v", err)
	}
	read := 0
	_, err := f.Add(t.Context(), models.Order{From: from, Progress: func(done, _ int) { read = done }})
	if err == nil || !strings.Contains(err.Error(), "at most") || read > 0 {
		t.Errorf("%d KB of it were copied: %v", read, err)
	}
}

// What was changed since it was added is not used, whatever was changed.
func TestChangedFiles(t *testing.T) {
	for _, tt := range []struct {
		name string
		file string
		do   func(name string) error
		want string
	}{
		{"config", "config.json", func(n string) error { return flip(n, 1) }, "its checksum is another"},
		{"weights", "model.safetensors", func(n string) error { return flip(n, 5000) }, "its checksum is another"},
		{"longer weights", "model.safetensors", func(n string) error { return appendTo(n) }, "bytes, and had"},
		{"no tokenizer", "tokenizer.json", os.Remove, "cannot be read"},
		{"a folder", "config.json", func(n string) error { return errors.Join(os.Remove(n), os.Mkdir(n, 0o700)) }, "is not what was added"},
		{"another manifest", "manifest.json", func(n string) error { return os.WriteFile(n, []byte(`{"version": 9}`), 0o600) }, "not the manifest of small"},
		{"a way out", "manifest.json", func(n string) error {
			return os.WriteFile(n, []byte(`{"version":1,"name":"small","kind":"encoder","files":[{"name":"../../x","size":1}]}`), 0o600)
		}, "names a file that no model has"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, dir := folder(t, nil)
			add(t, f, small(t, transformertest.Small()))
			if err := tt.do(filepath.Join(dir, "small", tt.file)); err != nil {
				t.Fatal(err)
			}
			_, err := f.Load("small")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("it is opened: %v", err)
			}
			all, err := f.List()
			if err != nil || len(all) != 1 || !strings.Contains(all[0].Problem, tt.want) {
				t.Errorf("listed as %+v, %v", all, err)
			}
		})
	}
}

func flip(name string, at int64) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	b[0] ^= 1
	_, werr := f.WriteAt(b[:], at)
	if err = errors.Join(err, werr, f.Close()); err != nil {
		return err
	}
	later := time.Now().Add(time.Minute) // some file systems count in seconds
	return os.Chtimes(name, later, later)
}

func appendTo(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("more")
	return errors.Join(err, f.Close())
}

// Weights that carry an old time are not read each time; List reads them.
func TestOldTimes(t *testing.T) {
	f, dir := folder(t, nil)
	add(t, f, small(t, transformertest.Small()))
	weights := filepath.Join(dir, "small", "model.safetensors")
	long := time.Now().Add(-time.Hour)
	if err := errors.Join(flip(weights, 5000), os.Chtimes(weights, long, long)); err != nil {
		t.Fatal(err)
	}
	all, err := f.List()
	if err != nil || !strings.Contains(all[0].Problem, "its checksum is another") {
		t.Errorf("listed as %+v, %v", all, err)
	}
	if _, err := f.Try(t.Context(), "small", models.Encoder); err == nil {
		t.Error("it is tried")
	}
}

// failing is a disk that fails at a step.
type failing struct {
	store.OS
	left int
}

var errDisk = errors.New("the disk is full")

func (d *failing) step() error {
	if d.left--; d.left < 0 {
		return errDisk
	}
	return nil
}

func (d *failing) MkdirAll(dir string) error {
	return errors.Join(d.step(), d.OS.MkdirAll(dir))
}

func (d *failing) Create(dir string) (store.File, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	return d.OS.Create(dir)
}

func (d *failing) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.OS.Rename(from, to)
}

// Whatever step fails, there is the whole model or nothing of it.
func TestFailures(t *testing.T) {
	from := small(t, transformertest.Small())
	for n := range 100 {
		f, dir := folder(t, &failing{left: n})
		_, err := f.Add(t.Context(), models.Order{From: from})
		if err == nil {
			if n < 10 {
				t.Fatalf("only %d steps", n)
			}
			return
		}
		if left := names(t, dir); !errors.Is(err, errDisk) || len(left) > 0 {
			t.Errorf("step %d: %v, left %v", n, err, left)
		}
	}
	t.Fatal("it never ends")
}

func TestRemove(t *testing.T) {
	f, dir := folder(t, nil)
	add(t, f, small(t, transformertest.Small()))
	if err := f.Remove("small"); err != nil || len(names(t, dir)) > 0 {
		t.Errorf("%v, left %v", err, names(t, dir))
	}
	if err := f.Remove("small"); !errors.Is(err, models.ErrNone) {
		t.Errorf("removed twice: %v", err)
	}
	for _, name := range []string{"", ".", "..", "../small", "a/b", `a\b`, "A", ".x", "-x", strings.Repeat("a", 65), "a\x00"} {
		if models.CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
		if f.Remove(name) == nil {
			t.Errorf("%q was removed", name)
		}
	}
}

// A server of a model, with a say in each answer.
func server(t *testing.T, dir string, wrap func(w http.ResponseWriter, r *http.Request, next http.Handler)) string {
	t.Helper()
	next := http.FileServer(http.Dir(dir))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { wrap(w, r, next) }))
	t.Cleanup(s.Close)
	return s.URL
}

func TestDownload(t *testing.T) {
	from := small(t, transformertest.Small())
	for _, tt := range []struct {
		name string
		wrap func(w http.ResponseWriter, r *http.Request, next http.Handler)
		want string // of the error, "" for none
	}{
		{"plain", func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }, ""},
		{"no HEAD", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			next.ServeHTTP(w, r)
		}, ""},
		{"sent on", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.URL.RawQuery == "" {
				http.Redirect(w, r, r.URL.Path+"?signature=secret", http.StatusFound)
				return
			}
			next.ServeHTTP(w, r)
		}, ""},
		{"sent round", func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(w, r, r.URL.Path+"?signature=secret", http.StatusFound)
		}, "more than 5 times"},
		{"sent elsewhere", func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(w, r, "http://192.0.2.1/x?signature=secret", http.StatusFound)
		}, "http://192.0.2.1 is neither"},
		{"a login", func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusForbidden) }, "fetch the files yourself"},
		{"too large", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "config.json") {
				for range 40 {
					_, _ = w.Write(make([]byte, 1<<20))
				}
				return
			}
			next.ServeHTTP(w, r)
		}, "more than 33554432 bytes"},
		{"cut off", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "safetensors") {
				w.Header().Set("Content-Length", "100000")
				_, _ = w.Write(make([]byte, 1000))
				return
			}
			next.ServeHTTP(w, r)
		}, "unexpected EOF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, dir := folder(t, nil)
			p, err := f.Add(t.Context(), models.Order{From: server(t, from, tt.wrap), Name: "small"})
			if tt.want == "" {
				if err != nil || p.Kind != models.Encoder || p.Licence != "cc0-1.0" {
					t.Errorf("%+v, %v", p, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if left := names(t, dir); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
	stopped, cancel := context.WithCancel(t.Context())
	f, dir := folder(t, nil)
	url := server(t, from, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "safetensors") && r.Method == http.MethodGet {
			cancel()
		}
		next.ServeHTTP(w, r)
	})
	if _, err := f.Add(stopped, models.Order{From: url, Name: "small"}); err == nil || len(names(t, dir)) > 0 {
		t.Errorf("stopped: %v, left %v", err, names(t, dir))
	}
	for _, address := range []string{"http://192.0.2.1/x", "file:///etc", "https://", "https://u:secret@x.example", "https://x.example/?a=secret", "https://x.example/#a"} {
		if _, err := f.Look(t.Context(), models.Order{From: address, Name: "x"}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestNamesAndLicences(t *testing.T) {
	f, _ := folder(t, nil)
	for readme, want := range map[string]string{
		"---\nlicense: apache-2.0\n---\n":           "apache-2.0",
		"---\ntags: [x]\nlicense: \"mit\"\n---\n":   "mit",
		"# no front matter\nlicense: mit\n":         "",
		"---\n---\nlicense: mit\n":                  "",
		"---\nlicense: \x1b[31mred\u202e\n---\n":    "[31mred",
		"---\nlicense: " + strings.Repeat("x", 300): strings.Repeat("x", 100) + "…",
	} {
		from := small(t, transformertest.Small())
		if err := os.WriteFile(filepath.Join(from, "README.md"), []byte(readme), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := f.Look(t.Context(), models.Order{From: from})
		if err != nil || p.Licence != want {
			t.Errorf("%q says the licence %q (%v), want %q", readme, p.Licence, err, want)
		}
	}
	from := filepath.Join(t.TempDir(), "All MiniLM_L6.v2")
	if err := transformertest.Write(from, transformertest.Small()); err != nil {
		t.Fatal(err)
	}
	p, err := f.Look(t.Context(), models.Order{From: from})
	if err != nil || p.Name != "all-minilm_l6.v2" {
		t.Errorf("name %q, %v", p.Name, err)
	}
	wrong := fmt.Sprintf("%064d", 0)
	if _, err := f.Add(t.Context(), models.Order{From: from, SHA256: wrong}); err == nil || !strings.Contains(err.Error(), "was asked for") {
		t.Errorf("with another checksum: %v", err)
	}
}

// What a link leads to is not copied into the store.
func TestLinkedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	from, elsewhere := small(t, transformertest.Small()), filepath.Join(t.TempDir(), "private")
	readme := filepath.Join(from, "README.md")
	if err := errors.Join(os.WriteFile(elsewhere, []byte("mine"), 0o600), os.Remove(readme), os.Symlink(elsewhere, readme)); err != nil {
		t.Fatal(err)
	}
	f, dir := folder(t, nil)
	if _, err := f.Add(t.Context(), models.Order{From: from}); err == nil || !strings.Contains(err.Error(), "is not followed") || len(names(t, dir)) > 0 {
		t.Errorf("%v, left %v", err, names(t, dir))
	}
	// Within the folder neither.
	if err := errors.Join(os.Remove(readme), os.Symlink("config.json", readme)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(t.Context(), models.Order{From: from}); err == nil || !strings.Contains(err.Error(), "is not followed") {
		t.Errorf("a link within: %v", err)
	}
}

// A model of a shape that does not run is not kept.
func TestUnfit(t *testing.T) {
	f, dir := folder(t, nil)
	from := small(t, transformertest.Small())
	if err := os.WriteFile(filepath.Join(from, "config.json"), []byte(`{"model_type": "t5"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Add(t.Context(), models.Order{From: from}); !errors.Is(err, transformer.ErrUnfit) || len(names(t, dir)) > 0 {
		t.Errorf("%v, left %v", err, names(t, dir))
	}
}
