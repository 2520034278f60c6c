package replica_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
)

func TestCheckRemote(t *testing.T) {
	for _, remote := range []string{"ext::sh -c id", "fd::17", "--upload-pack=touch x", "a\nb", "https://me:geheim@host/\x1b", "-https://me:geheim@host/x"} {
		err := replica.CheckRemote(remote)
		if !errors.Is(err, replica.ErrRemote) || strings.ContainsAny(err.Error(), "\n\x1b") || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", remote, err)
		}
	}
	for _, remote := range []string{
		"", "git@host:me/notes.git", "https://host/x.git", "ssh://me@[::1]:22/x", "me@[::1]:x", "/srv/notes.git", "../x", "./a::b", `C:\x`, "file:///srv/x",
	} {
		if err := replica.CheckRemote(remote); err != nil {
			t.Errorf("%q: %v", remote, err)
		}
	}
}

func TestLocalPath(t *testing.T) {
	for _, tt := range []struct {
		remote        string
		unix, windows bool
	}{
		{"", false, false},
		{"mem.git", true, true},
		{"./mem.git", true, true},
		{"../x/mem.git", true, true},
		{"/srv/mem.git", true, true},
		{"~/mem.git", true, true},
		{"/srv/a:b.git", true, true},
		{"./a:b.git", true, true},
		{"a b.git", true, true},
		{"host:mem.git", false, false},
		{"me@host:mem.git", false, false},
		{"me@[::1]:mem.git", false, false},
		{"https://host/mem.git", false, false},
		{"ssh://me@host/mem.git", false, false},
		{"file:///srv/mem.git", false, false},
		{"ext::sh -c x", false, false},
		{"--x", false, false},
		{`C:\mem.git`, false, true}, // elsewhere git takes the letter for a host
		{"c:/mem.git", false, true},
		{`\\server\share\a:b`, false, true},
	} {
		for _, windows := range []bool{false, true} {
			want := tt.unix
			if windows {
				want = tt.windows
			}
			path, ok := replica.LocalPathOn(tt.remote, windows)
			if ok != want || ok && path != tt.remote {
				t.Errorf("%q, on Windows %v: %q, %v", tt.remote, windows, path, ok)
			}
		}
		a, b := replica.LocalPath(tt.remote)
		if c, d := replica.LocalPathOn(tt.remote, runtime.GOOS == "windows"); a != c || b != d {
			t.Errorf("%q: %q, %v", tt.remote, a, b)
		}
	}
}

func TestHidePassword(t *testing.T) {
	for _, tt := range []struct{ remote, want string }{
		{"", ""},
		{"https://bob:geheim@host/x.git", "https://host/x.git"},
		{"https://bob:ge%68eim@host:8443/x.git", "https://host:8443/x.git"},
		{"https://bob:ge!h(ei m@host/x.git", "https://host/x.git"}, // no URL at all
		{"https://bob:geh@eim@host/x.git", "https://host/x.git"},
		{"https://bob:geh/eim@host/x.git", "https://host/x.git"},
		{"https://bob:100%geheim@host", "https://host"},
		{"https://token@host/x.git", "https://host/x.git"},
		{"HTTPS://token@host/x.git", "HTTPS://host/x.git"},
		{"ssh://bob:geheim@host/x", "ssh://host/x"},
		{"ssh://bob@host/x", "ssh://bob@host/x"},
		{"ssh://bob@[::1]:22/x", "ssh://bob@[::1]:22/x"},
		{"https://host/a@b", "https://host/a@b"},
		{"https://host:8443/a@b", "https://host:8443/a@b"},
		{"https://[::1]/a@b", "https://[::1]/a@b"},
		{"bob@host:x.git", "bob@host:x.git"},
		{"/srv/a@b/x.git", "/srv/a@b/x.git"},
	} {
		if got := replica.HidePassword(tt.remote); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.remote, got, tt.want)
		}
	}
}

func FuzzRemote(f *testing.F) {
	for _, s := range []string{"https://bob:pw@host/x.git", "https://[::1]:1/a@b", "://:@", "ext::x", `C:\x`, "a:b", "\xff://\x00@"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, remote string) {
		shown := replica.HidePassword(remote)
		if len(shown) > len(remote) {
			t.Errorf("%q became longer: %q", remote, shown)
		}
		if path, ok := replica.LocalPath(remote); ok && (path == "" || shown != remote) {
			t.Errorf("%q is a path, and shown as %q", remote, shown)
		}
		_ = replica.CheckRemote(remote)
	})
}

// An address that cannot be used stops the exchange, and nothing that is local.
func TestInvalidRemote(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir)
	o.Remote = "ext::touch " + filepath.Join(dir, "ran")
	b := open(t, o)
	if s, err := b.State(t.Context()); err != nil || s.Initialized {
		t.Errorf("State = %+v, %v", s, err)
	}
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	mustCommit(t, b, true)
	replicatest.Write(t, dir, map[string]string{"semantic/b.md": "b\n"})
	out, err := b.Sync(t.Context())
	if !errors.Is(err, replica.ErrRemote) || !out.Committed || out.Result != replica.Blocked || out.Why != err.Error() {
		t.Errorf("Sync = %+v, %v", out, err)
	}
	s, err := b.State(t.Context())
	if err != nil || !s.Initialized || s.Head == "" || !strings.Contains(s.Detail, "is not allowed") {
		t.Errorf("State = %+v, %v", s, err)
	}
	h, ok := b.(replica.Historian)
	if !ok {
		t.Fatal("the backend keeps no history")
	}
	if log, err := h.Log(t.Context(), "", 0); err != nil || len(log) != 2 {
		t.Errorf("Log = %+v, %v", log, err)
	}
	if list, err := h.Machines(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("Machines = %+v, %v", list, err)
	}
	if out := run(t, dir, "config", "--local", "--list"); strings.Contains(out, "ext::") {
		t.Errorf("the address stands in the configuration:\n%s", out)
	}
	if _, err := os.Lstat(filepath.Join(dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// A password stands in no message, and in no state.
func TestPasswordIsNotPrinted(t *testing.T) {
	t.Parallel()
	for _, remote := range []string{"https://bob:ge!heim@127.0.0.1:1/x.git", "https://bob:100%ge!heim@127.0.0.1:1/x.git", "-https://bob:ge!heim@host/x.git"} {
		o := options(t, filepath.Join(t.TempDir(), "memory"))
		o.Remote = remote
		replicatest.Write(t, o.Dir, map[string]string{"semantic/a.md": "a\n"})
		b := open(t, o)
		out, err := b.Sync(t.Context())
		s, err2 := b.State(t.Context())
		if text := strings.Join([]string{out.Detail, out.Why, s.Remote, s.Detail}, "\n"); strings.Contains(text, "ge!heim") || err != nil && strings.Contains(err.Error(), "ge!heim") {
			t.Errorf("%s %v", text, err)
		}
		if err2 != nil || s.Failures != 1 && out.Offline {
			t.Errorf("State = %+v, %v", s, err2)
		}
	}
}

// A path at which nothing is is named in full.
func TestNothingAtPath(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	for _, remote := range []string{"mem.git", filepath.Join(at, "mem.git")} {
		o := options(t, filepath.Join(t.TempDir(), "memory"))
		o.Remote = remote
		want := remote
		if !filepath.IsAbs(want) {
			want = filepath.Join(o.Dir, want)
		}
		out, err := open(t, o).Sync(t.Context())
		if err != nil || !out.Offline || out.Result != replica.Offline || !strings.Contains(out.Detail, "there is nothing at "+want+";") {
			t.Errorf("Sync = %+v, %v", out, err)
		}
	}
}

// What the user says about a remote of the name origin is about another one.
func TestUserConfigurationOfOrigin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, config string }{
		{"mirror", "[remote \"origin\"]\nmirror = true\n"},
		{"another address for pushes", "[remote \"origin\"]\npushurl = $ELSEWHERE\n"},
		{"another address", "[remote \"origin\"]\nurl = $ELSEWHERE\n"},
		{"another program", "[remote \"origin\"]\nuploadpack = false\nreceivepack = false\n"},
		{"a helper", "[remote \"origin\"]\nvcs = nothing\n"},
		{"options of pushes", "[push]\npushOption = ci.skip\n"},
		{"rewritten for pushes", "[url \"$ELSEWHERE\"]\npushInsteadOf = $REMOTE\n"},
		{"what is gone is deleted", "[fetch]\nprune = true\npruneTags = true\n[remote]\npushDefault = nowhere\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			remote, elsewhere, home := bare(t), bare(t), t.TempDir()
			replicatest.Write(t, home, map[string]string{
				"config": strings.NewReplacer("$ELSEWHERE", filepath.ToSlash(elsewhere), "$REMOTE", filepath.ToSlash(remote)).Replace(tt.config),
			})
			roundTrip(t, remote, func(o *replica.Options) {
				o.Env = append(o.Env, "GIT_CONFIG_GLOBAL="+filepath.Join(home, "config"))
			})
			if got := committed(t, elsewhere); len(got) != 0 {
				t.Errorf("it went elsewhere: %q", got)
			}
			if got := committed(t, remote); len(got) != 3 {
				t.Errorf("the remote has %q", got)
			}
		})
	}
}

// An address that the user has rewritten is rewritten for both ways, so that
// what is sent goes where the rest comes from.
func TestRewrittenAddress(t *testing.T) {
	t.Parallel()
	remote, home := filepath.ToSlash(bare(t)), t.TempDir()
	replicatest.Write(t, home, map[string]string{"config": "[url \"" + remote + "\"]\ninsteadOf = https://notes.invalid/x\n"})
	roundTrip(t, "https://notes.invalid/x", func(o *replica.Options) {
		o.Env = append(o.Env, "GIT_CONFIG_GLOBAL="+filepath.Join(home, "config"))
	})
}

// How far the remote is says nothing about another one.
func TestDistanceToAnotherRemote(t *testing.T) {
	t.Parallel()
	o := options(t, filepath.Join(t.TempDir(), "memory"))
	o.Remote = bare(t)
	replicatest.Write(t, o.Dir, map[string]string{"semantic/a.md": "a\n"})
	if out, err := open(t, o).Sync(t.Context()); err != nil || !out.Pushed || out.Result != replica.Synced {
		t.Fatalf("Sync = %+v, %v", out, err)
	}
	if s, err := open(t, o).State(t.Context()); err != nil || s.Ahead != 0 || s.Behind != 0 {
		t.Errorf("State = %+v, %v", s, err)
	}
	o.Remote = bare(t)
	if s, err := open(t, o).State(t.Context()); err != nil || s.Ahead != 1 || s.Behind != 0 {
		t.Errorf("State = %+v, %v", s, err)
	}
}
