package upgrade_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/upgrade"
	"anamnesis/internal/upgrade/upgradetest"
)

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL + "/newest"
}

func TestFetch(t *testing.T) {
	r := upgradetest.Make("1.2.3", []byte("the program"))
	s := upgrade.Source{Address: serve(t, r), Key: r.Key}
	o, err := s.Newest(t.Context())
	if err != nil || o.Version != "1.2.3" || o.Archive != r.Archive {
		t.Fatalf("Newest: %+v, %v", o, err)
	}
	if got, err := s.Fetch(t.Context(), o); err != nil || string(got) != "the program" {
		t.Errorf("Fetch: %q, %v", got, err)
	}
}

// Whatever is wrong with a release, nothing of it is returned.
func TestRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(r *upgradetest.Release, s *upgrade.Source)
		want   string
	}{
		{"no key", func(_ *upgradetest.Release, s *upgrade.Source) { s.Key = "" }, "without the public key"},
		{"a damaged key", func(_ *upgradetest.Release, s *upgrade.Source) { s.Key = s.Key[4:] }, "key of releases in this program is damaged"},
		{"no address", func(_ *upgradetest.Release, s *upgrade.Source) { s.Address = "" }, "--from"},
		{"plain http", func(_ *upgradetest.Release, s *upgrade.Source) { s.Address = "http://192.0.2.1/x" }, "over https"},
		{"a password", func(_ *upgradetest.Release, s *upgrade.Source) { s.Address = "https://a:b@192.0.2.1/x" }, "no plain one"},
		{"no signature", func(r *upgradetest.Release, _ *upgrade.Source) { delete(r.Files, upgrade.Signature) }, "HTTP 404"},
		{"another key", func(_ *upgradetest.Release, s *upgrade.Source) { s.Key = upgradetest.Make("1.0.0", nil).Key }, "signature is wrong"},
		{"another checksum", func(r *upgradetest.Release, _ *upgrade.Source) {
			r.Files[upgrade.Checksums] = bytes.Replace(r.Files[upgrade.Checksums], []byte("1.2.3"), []byte("1.2.4"), 1)
		}, "signature is wrong"},
		{"another comment", func(r *upgradetest.Release, _ *upgrade.Source) {
			r.Files[upgrade.Signature] = bytes.Replace(r.Files[upgrade.Signature], []byte("trusted comment: a test"), []byte("trusted comment: b test"), 1)
		}, "signature is wrong"},
		{"a cut signature", func(r *upgradetest.Release, _ *upgrade.Source) {
			r.Files[upgrade.Signature] = r.Files[upgrade.Signature][:40]
		}, "no file of minisign"},
		{"no archive for this system", func(r *upgradetest.Release, _ *upgrade.Source) {
			r.Files[upgrade.Checksums] = fmt.Appendf(nil, "%x  anamnesis_1.2.3_plan9_386.tar.gz\n", sha256.Sum256(nil))
			r.Sign()
		}, "no archive for"},
		{"two versions", func(r *upgradetest.Release, _ *upgrade.Source) {
			sums := r.Files[upgrade.Checksums]
			r.Files[upgrade.Checksums] = append(bytes.Clone(sums), bytes.ReplaceAll(sums, []byte("1.2.3"), []byte("1.2.4"))...)
			r.Sign()
		}, "no single version"},
		{"an archive that is not the signed one", func(r *upgradetest.Release, _ *upgrade.Source) {
			r.Files[r.Archive] = append(r.Files[r.Archive], 0)
		}, "not the file whose checksum was signed"},
		{"a cut archive", func(r *upgradetest.Release, _ *upgrade.Source) {
			r.Files[r.Archive] = r.Files[r.Archive][:60]
			r.Sum()
		}, "read the archive"},
		{"an archive without the program", func(r *upgradetest.Release, _ *upgrade.Source) {
			r.Files[r.Archive] = upgradetest.Tar("other", nil)
			if runtime.GOOS == "windows" {
				r.Files[r.Archive] = upgradetest.Zip("other", nil)
			}
			r.Sum()
		}, "no program is in it"},
		{"no archive", func(r *upgradetest.Release, _ *upgrade.Source) { delete(r.Files, r.Archive) }, "HTTP 404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := upgradetest.Make("1.2.3", []byte("the program"))
			s := upgrade.Source{Address: serve(t, r), Key: r.Key}
			tt.change(r, &s)
			program, err := both(t.Context(), s)
			if err == nil || !strings.Contains(err.Error(), tt.want) || program != nil {
				t.Errorf("%q, %v, want %q", program, err, tt.want)
			}
		})
	}
	if _, err := (upgrade.Source{}).Newest(t.Context()); !errors.Is(err, upgrade.ErrNoKey) {
		t.Error(err)
	}
}

func both(ctx context.Context, s upgrade.Source) ([]byte, error) {
	o, err := s.Newest(ctx)
	if err != nil {
		return nil, err
	}
	return s.Fetch(ctx, o)
}

// A server that sends us elsewhere sends us over https, or nowhere.
func TestRedirect(t *testing.T) {
	r := upgradetest.Make("1.2.3", []byte("the program"))
	to := ""
	from := serve(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		http.Redirect(w, req, to+req.URL.Path, http.StatusFound)
	}))
	s := upgrade.Source{Address: from, Key: r.Key}
	to = strings.TrimSuffix(serve(t, r), "/newest")
	if _, err := both(t.Context(), s); err != nil {
		t.Error(err)
	}
	for _, to = range []string{"http://192.0.2.1", "file://", strings.TrimSuffix(from, "/newest")} {
		if _, err := both(t.Context(), s); err == nil {
			t.Errorf("%s was followed", to)
		}
	}
}

// What minisign 0.11 made itself, with `minisign -S -l`, is understood.
func TestMinisign(t *testing.T) {
	files := map[string][]byte{}
	for _, name := range []string{upgrade.Checksums, upgrade.Signature} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = data
	}
	key, err := os.ReadFile("testdata/minisign.pub")
	if err != nil {
		t.Fatal(err)
	}
	s := upgrade.Source{Address: serve(t, &upgradetest.Release{Files: files}), Key: strings.Fields(string(key))[len(strings.Fields(string(key)))-1]}
	if _, err := s.Newest(t.Context()); err == nil || !strings.Contains(err.Error(), "no archive for") {
		t.Errorf("what comes after the signature: %v", err)
	}
}

func TestNewer(t *testing.T) {
	order := []string{"(devel)", "0.0.0-dev", "0.9.10", "1.0.0-rc.2", "1.0.0-rc.10", "1.0.0-rc.x", "1.0.0-rc.x.1", "v1.0.0+linux", "1.0.1", "1.10.0"}
	for i, a := range order {
		for k, b := range order {
			if got := upgrade.Newer(a, b); got != (i > k) {
				t.Errorf("Newer(%s, %s) = %v", a, b, got)
			}
		}
	}
}

func TestOrigin(t *testing.T) {
	root := t.TempDir()
	for _, kind := range []string{"deb", "rpm", "apk", "other"} {
		at := filepath.Join(root, kind, "share", "anamnesis")
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(kind, filepath.Join(at, "packaged-by")); err != nil {
			t.Skip(err)
		}
	}
	for _, tt := range []struct {
		path     string
		released bool
		want     string
	}{
		{filepath.Join(root, "deb", "bin", "anamnesis"), true, "deb"},
		{filepath.Join(root, "rpm", "bin", "anamnesis"), true, "rpm"},
		{filepath.Join(root, "apk", "bin", "anamnesis"), true, "apk"},
		{filepath.Join(root, "other", "bin", "anamnesis"), true, "archive"},
		{"/opt/homebrew/Caskroom/anamnesis/1.0.0/anamnesis", true, "homebrew"},
		{"/home/linuxbrew/.linuxbrew/Cellar/anamnesis/1.0.0/bin/anamnesis", true, "homebrew"},
		{"/users/ada/scoop/apps/anamnesis/1.0.0/anamnesis.exe", true, "scoop"},
		{"/usr/lib/node_modules/anamnesis-memory/node_modules/anamnesis-memory-linux-x64/bin/anamnesis", true, "npm"},
		{"/home/ada/.local/bin/anamnesis", true, "archive"},
		{"/home/ada/.anamnesis/bin/anamnesis", true, "archive"},
		{"/home/ada/go/bin/anamnesis", false, "source"},
	} {
		if got := upgrade.OriginOf(tt.path, tt.released); got.Name != tt.want || (got.Command == "") != (tt.want == "archive") {
			t.Errorf("%s: %+v, want %s", tt.path, got, tt.want)
		}
	}
}
