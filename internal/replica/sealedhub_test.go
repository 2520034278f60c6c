package replica_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
	"anamnesis/internal/replica/seal"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// desks are machines of one circle on one remote.
type desks struct {
	*circle
	remote string
	dirs   map[string]string
}

func newDesks(t *testing.T) *desks {
	return &desks{newCircle(t), bare(t), make(map[string]string)}
}

func (d *desks) open(t *testing.T, name string, change ...func(*replica.Options)) replica.Backend {
	t.Helper()
	if d.dirs[name] == "" {
		d.dirs[name] = t.TempDir()
	}
	o := options(t, d.dirs[name])
	o.MachineID, o.Remote, o.Seal = name, d.remote, d.keys(name)
	for _, f := range change {
		f(&o)
	}
	return open(t, o)
}

func (d *desks) write(t *testing.T, name, file, text string) {
	t.Helper()
	replicatest.Write(t, d.dirs[name], map[string]string{file: text})
}

func (d *desks) sync(t *testing.T, name string) replica.Outcome {
	t.Helper()
	out, err := d.open(t, name).Sync(t.Context())
	if err != nil || out.Offline {
		t.Fatalf("%s: %+v, %v", name, out, err)
	}
	return out
}

// replace makes the remote hold other files: nil takes one away.
func (d *desks) replace(t *testing.T, files map[string][]byte) {
	t.Helper()
	at := t.TempDir()
	run(t, at, "clone", "-q", d.remote, "x")
	at = filepath.Join(at, "x")
	for name, data := range files {
		_ = os.Remove(filepath.Join(at, name))
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(at, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, at, "add", "-A")
	run(t, at, "commit", "-q", "-m", "x")
	run(t, at, "push", "-q", "origin", "HEAD:main")
}

// held returns the files that the remote has.
func (d *desks) held(t *testing.T) (list, segment []byte, name string) {
	t.Helper()
	for _, row := range cut(run(t, d.remote, "ls-tree", "-z", "--name-only", "main")) {
		data := []byte(run(t, d.remote, "cat-file", "blob", "main:"+row))
		if row == "anamnesis.sealed" {
			list = data
		} else {
			segment, name = data, row
		}
	}
	return list, segment, name
}

// A hub can cut, change and make up what it likes: nothing of it is taken.
func TestSealedAndForged(t *testing.T) {
	storetest.SkipQuick(t)
	d := newDesks(t)
	a := d.open(t, "a")
	d.write(t, "a", "semantic/a.md", "the pelican\n")
	if _, err := a.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := strings.TrimSpace(run(t, d.remote, "rev-parse", "main"))
	list, segment, name := d.held(t)
	outsider := must(seal.NewIdentity())
	self := must(seal.ParseIdentity(string(must(os.ReadFile(filepath.Join(d.keys("b"), "identity.txt")))))).Member("b")
	// Somebody who knows the public key of a machine can encrypt to it, and no more.
	group := must(must(seal.NewGroup(outsider, "mallory", must(seal.NewIdentity()).Member("recovery key"), options(t, "x").Now())).
		Add(outsider, self, options(t, "x").Now()))
	forged := must(seal.Manifest{V: 1, N: 99, Group: group}.Seal(outsider))
	var other bytes.Buffer
	w := must(seal.Encrypt(&other, []seal.Member{self}))
	_, _ = w.Write([]byte("# v2 git bundle\n"))
	_ = w.Close()
	flipped := append([]byte{}, segment...)
	flipped[len(flipped)-1] ^= 1
	for _, tt := range []struct {
		what  string
		files map[string][]byte
	}{
		{"another list", map[string][]byte{"anamnesis.sealed": forged}},
		{"a cut list", map[string][]byte{"anamnesis.sealed": list[:len(list)/2]}},
		{"an empty list", map[string][]byte{"anamnesis.sealed": {}}},
		{"a list of garbage", map[string][]byte{"anamnesis.sealed": bytes.Repeat([]byte("x"), 3<<20)}},
		{"a cut file", map[string][]byte{name: segment[:len(segment)-1]}},
		{"a longer file", map[string][]byte{name: append(segment[:len(segment):len(segment)], 0)}},
		{"a changed file", map[string][]byte{name: flipped}},
		{"another file", map[string][]byte{name: other.Bytes()}},
		{"a file that is gone", map[string][]byte{name: nil}},
	} {
		d.replace(t, tt.files)
		out, err := d.open(t, "b").Sync(t.Context())
		if !errors.Is(err, replica.ErrDamaged) && !errors.Is(err, replica.ErrSealed) || out.Pushed || len(tree(t, d.dirs["b"])) != 0 {
			t.Errorf("%s: %+v, %v", tt.what, out, err)
		}
		run(t, d.remote, "update-ref", "refs/heads/main", before)
	}
	// Notes as they are in place of what was sealed: neither taken, nor are sealed ones put beside them.
	d.replace(t, map[string][]byte{"anamnesis.sealed": nil, name: nil, "note.md": []byte("x")})
	if out, err := d.open(t, "b").Sync(t.Context()); !errors.Is(err, replica.ErrSealed) || out.Pushed || out.Result != replica.Blocked {
		t.Errorf("a remote that is not sealed any more: %+v, %v", out, err)
	}
	run(t, d.remote, "update-ref", "refs/heads/main", before)
	if out := d.sync(t, "b"); out.Pulled != 1 {
		t.Errorf("when it is as it was: %+v", out)
	}
}

// A hub that shows an older state is noticed; what it holds is sent again, and a machine
// that was revoked since stays out.
func TestSealedAndReplayed(t *testing.T) {
	storetest.SkipQuick(t)
	d := newDesks(t)
	d.open(t, "b")
	a := d.open(t, "a")
	d.write(t, "a", "semantic/a.md", "1\n")
	d.sync(t, "a")
	d.sync(t, "b")
	old := strings.TrimSpace(run(t, d.remote, "rev-parse", "main"))
	name := ""
	for _, m := range must(a.(*replica.Sealed).Group().Members()) {
		if m.Sign == d.open(t, "b").(*replica.Sealed).Self().Sign {
			name = m.Name
		}
	}
	if err := a.(*replica.Sealed).Revoke(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := d.open(t, "b").Sync(t.Context()); !errors.Is(err, replica.ErrSealed) || !strings.Contains(err.Error(), "any more") {
		t.Errorf("a machine that was revoked: %v", err)
	}
	d.write(t, "a", "semantic/a.md", "2\n")
	d.sync(t, "a")
	run(t, d.remote, "update-ref", "refs/heads/main", old)
	if out := d.sync(t, "a"); !strings.Contains(out.Detail, "was set back") {
		t.Errorf("an older state: %+v", out)
	}
	if out := d.sync(t, "a"); strings.Contains(out.Detail, "set back") || out.Pushed {
		t.Errorf("once more: %+v", out)
	}
	if got := d.files(t, d.remote); cmp.Diff(map[string]string{"semantic/a.md": "2\n"}, got) != "" {
		t.Errorf("the remote has %q", got)
	}
	if _, err := d.open(t, "b").Sync(t.Context()); !errors.Is(err, replica.ErrSealed) {
		t.Errorf("a machine that was revoked: %v", err)
	}
	// What it makes of the state that it can open is not believed.
	run(t, d.remote, "update-ref", "refs/heads/main", old)
	d.write(t, "b", "semantic/b.md", "of one that was revoked\n")
	d.sync(t, "b")
	if out := d.sync(t, "a"); !strings.Contains(out.Detail, fmt.Sprintf("%q was revoked", name)) {
		t.Errorf("signed by one that was revoked: %+v", out)
	}
	if got := d.files(t, d.remote); cmp.Diff(map[string]string{"semantic/a.md": "2\n"}, got) != "" {
		t.Errorf("the remote has %q", got)
	}
}

// name is how the list of machines calls one.
func (d *desks) name(t *testing.T, machine string) string {
	t.Helper()
	self := d.open(t, machine).(*replica.Sealed).Self()
	for _, m := range must(d.open(t, machine).(*replica.Sealed).Group().Members()) {
		if m.Sign == self.Sign {
			return m.Name
		}
	}
	t.Fatalf("%s is in no list", machine)
	return ""
}

func (d *desks) revoke(t *testing.T, by, machine string) {
	t.Helper()
	if err := d.open(t, by).(*replica.Sealed).Revoke(t.Context(), machine); err != nil {
		t.Fatalf("%s revokes %s: %v", by, machine, err)
	}
}

func (d *desks) tip(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(run(t, d.remote, "rev-parse", "main"))
}

func (d *desks) putBack(t *testing.T, tip string) {
	t.Helper()
	run(t, d.remote, "update-ref", "refs/heads/main", tip)
}

// members are the names in the list of a machine.
func (d *desks) members(t *testing.T, machine string) (names []string) {
	t.Helper()
	for _, m := range must(d.open(t, machine).(*replica.Sealed).Group().Members()) {
		names = append(names, m.Name)
	}
	return names
}

// readable reports whether a machine can read what the remote has.
func (d *desks) readable(t *testing.T, machine string) bool {
	t.Helper()
	list, _, _ := d.held(t)
	self := must(seal.ParseIdentity(string(must(os.ReadFile(filepath.Join(d.keys(machine), "identity.txt"))))))
	_, err := self.Decrypt(bytes.NewReader(list))
	return err == nil
}

// A revoked machine that may still write puts the remote back. One that has not heard of the revocation works on with
// it; the next sync of one that has takes what that one wrote, and seals everything again without the revoked one.
func TestSealedAndUnheard(t *testing.T) {
	storetest.SkipQuick(t)
	d := newDesks(t)
	for _, name := range []string{"a", "b", "x"} {
		d.open(t, name)
	}
	d.write(t, "a", "semantic/a.md", "a\n")
	for _, name := range []string{"a", "b", "x"} {
		d.sync(t, name)
	}
	x, old := d.name(t, "x"), d.tip(t)
	d.revoke(t, "a", x)
	d.putBack(t, old)
	for _, text := range []string{"1\n", "2\n", "b\n"} { // more states than a has seen
		d.write(t, "b", "semantic/b.md", text)
		d.sync(t, "b")
	}
	if !d.readable(t, "x") {
		t.Fatal("b has heard of the revocation")
	}
	out := d.sync(t, "a")
	if !strings.Contains(out.Detail, fmt.Sprintf("sealed for %q too, revoked since", x)) {
		t.Errorf("sealed for an older list: %+v", out)
	}
	want := map[string]string{"semantic/a.md": "a\n", "semantic/b.md": "b\n"}
	if got := tree(t, d.dirs["a"]); d.readable(t, "x") || cmp.Diff(want, got) != "" {
		t.Errorf("x can read it: %t; a has %q", d.readable(t, "x"), got)
	}
	if list := d.open(t, "a").(*replica.Sealed).Repelled(); len(list) != 0 {
		t.Errorf("nobody who is out wrote, and %+v is named", list)
	}
	d.sync(t, "b") // hears of it, and stays with it
	d.putBack(t, old)
	d.write(t, "x", "semantic/x.md", "x\n")
	d.sync(t, "x")
	for _, name := range []string{"b", "a"} {
		out := d.sync(t, name)
		if got := tree(t, d.dirs[name]); cmp.Diff(want, got) != "" || d.readable(t, "x") {
			t.Errorf("%s has %q, %+v", name, got, out)
		}
	}
	if list := d.open(t, "b").(*replica.Sealed).Repelled(); len(list) != 1 || list[0].Machine != x {
		t.Errorf("b names %+v", list)
	}
	// Whatever it shows instead of its list, and whoever it lets in.
	self := must(seal.ParseIdentity(string(must(os.ReadFile(filepath.Join(d.keys("x"), "identity.txt"))))))
	puppet := must(seal.NewIdentity())
	var group seal.Group
	group = append(group, d.open(t, "x").(*replica.Sealed).Group()...)
	group = must(group.Add(self, puppet.Member("puppet"), options(t, "x").Now()))
	for what, list := range map[string][]byte{
		"another machine": must(seal.Manifest{V: 1, N: 1 << 62, Group: group}.Seal(puppet)),
		"the same number": must(seal.Manifest{V: 1, N: 1, Group: group}.Seal(self)),
	} {
		d.replace(t, map[string][]byte{"anamnesis.sealed": list})
		if out := d.sync(t, "a"); !strings.Contains(out.Detail, "was revoked and still writes") {
			t.Errorf("%s: %+v", what, out)
		}
		if got := d.files(t, d.remote); cmp.Diff(want, got) != "" {
			t.Errorf("%s: the remote has %q", what, got)
		}
	}
	// To revoke it again says that its access was removed.
	d.revoke(t, "a", x)
	if list := d.open(t, "a").(*replica.Sealed).Repelled(); len(list) != 1 || list[0].Machine != "puppet" {
		t.Errorf("a still names %+v", list)
	}
}

// Two machines change the list of a remote that was put back between: both changes count, on both.
func TestSealedAndParted(t *testing.T) {
	storetest.SkipQuick(t)
	d := newDesks(t)
	for _, name := range []string{"a", "b", "x", "y"} {
		d.open(t, name)
		d.write(t, name, "semantic/"+name+".md", name+"\n")
		d.sync(t, name)
	}
	d.sync(t, "a")
	d.sync(t, "b")
	x, y, old := d.name(t, "x"), d.name(t, "y"), d.tip(t)
	d.revoke(t, "a", x)
	d.putBack(t, old)
	d.revoke(t, "b", y)
	for _, name := range []string{"a", "b", "a"} {
		d.sync(t, name)
	}
	a, b := d.members(t, "a"), d.members(t, "b")
	if cmp.Diff(a, b) != "" || slices.Contains(a, x) || slices.Contains(a, y) || d.readable(t, "x") || d.readable(t, "y") {
		t.Errorf("a has the list %q, b %q; x reads: %t, y: %t", a, b, d.readable(t, "x"), d.readable(t, "y"))
	}
	tip := d.tip(t)
	for _, name := range []string{"a", "b", "a"} {
		if out := d.sync(t, name); out.Pushed || d.tip(t) != tip {
			t.Errorf("%s sends again: %+v", name, out)
		}
	}
	// One that was revoked and is let in again is in.
	request := d.open(t, "x").(*replica.Sealed).Request()
	if _, err := d.open(t, "b").(*replica.Sealed).Add(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	d.sync(t, "x")
	if d.sync(t, "a"); !slices.Contains(d.members(t, "a"), "x") || !d.readable(t, "x") {
		t.Errorf("a has the list %q", d.members(t, "a"))
	}
}

// Whatever somebody puts there, a machine that sealed the remote can put what it has in its place.
func TestSealedAndReplaced(t *testing.T) {
	storetest.SkipQuick(t)
	d := newDesks(t)
	d.open(t, "b")
	d.open(t, "a")
	d.write(t, "a", "semantic/a.md", "a\n")
	d.sync(t, "a")
	d.sync(t, "b")
	outsider := must(seal.NewIdentity())
	group := must(seal.NewGroup(outsider, "mallory", must(seal.NewIdentity()).Member("recovery key"), options(t, "x").Now()))
	self := d.open(t, "a").(*replica.Sealed).Self()
	both := must(group.Add(outsider, self, options(t, "x").Now()))
	if _, _, err := d.open(t, "a").(*replica.Sealed).Replace(t.Context(), true); !errors.Is(err, replica.ErrSealed) {
		t.Errorf("when it can be read: %v", err)
	}
	for what, with := range map[string]func(list []byte, name string) map[string][]byte{
		"for others": func([]byte, string) map[string][]byte {
			return map[string][]byte{"anamnesis.sealed": must(seal.Manifest{V: 1, N: 99, Group: group}.Seal(outsider))}
		},
		"of others": func([]byte, string) map[string][]byte {
			return map[string][]byte{"anamnesis.sealed": must(seal.Manifest{V: 1, N: 99, Group: both}.Seal(outsider))}
		},
		"the last number": func([]byte, string) map[string][]byte {
			i := must(seal.ParseIdentity(string(must(os.ReadFile(filepath.Join(d.keys("b"), "identity.txt"))))))
			return map[string][]byte{"anamnesis.sealed": must(seal.Manifest{
				V: 1, N: 1 << 61, Group: d.open(t, "a").(*replica.Sealed).Group(),
			}.Seal(i))}
		},
		"a cut list": func(list []byte, _ string) map[string][]byte {
			return map[string][]byte{"anamnesis.sealed": list[:len(list)/2]}
		},
		"a missing file": func(_ []byte, name string) map[string][]byte { return map[string][]byte{name: nil} },
		"notes": func([]byte, string) map[string][]byte {
			return map[string][]byte{"anamnesis.sealed": nil, "note.md": []byte("x")}
		},
	} {
		list, _, name := d.held(t)
		d.replace(t, with(list, name))
		if err := os.RemoveAll(filepath.Join(d.dirs["a"], ".git", "anamnesis-sealed")); err != nil { // all of it has to be read
			t.Fatal(err)
		}
		tip := d.tip(t)
		if _, err := d.open(t, "a").Sync(t.Context()); err == nil || !strings.Contains(err.Error(), "--replace") {
			t.Errorf("%s: %v", what, err)
		}
		if n, _, err := d.open(t, "a").(*replica.Sealed).Replace(t.Context(), false); n == 0 || err != nil || d.tip(t) != tip {
			t.Errorf("%s: without --apply: %d, %v", what, n, err)
		}
		if _, _, err := d.open(t, "a").(*replica.Sealed).Replace(t.Context(), true); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, machine := range []string{"a", "b"} {
			if out := d.sync(t, machine); out.Result != replica.Synced {
				t.Errorf("%s: then %s: %+v", what, machine, out)
			}
		}
		if got := d.files(t, d.remote); cmp.Diff(map[string]string{"semantic/a.md": "a\n"}, got) != "" {
			t.Errorf("%s: the remote has %q", what, got)
		}
	}
}

// Whatever git call a sync dies at, before it or behind it, the next one mends. In CI every
// third call is tried, else every seventh.
func TestSealedAndKilled(t *testing.T) {
	storetest.SkipQuick(t)
	real, err := exec.LookPath("git")
	if runtime.GOOS == "windows" || err != nil {
		t.Skip("it needs git and a shell")
	}
	for _, when := range []string{"before", "behind"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			d := newDesks(t)
			bin := t.TempDir()
			calls := filepath.Join(bin, "calls")
			program(t, filepath.Join(bin, "git"), `n=$(cat `+calls+`); echo $((n-1)) > `+calls+`
				if [ $n -gt 1 ] || [ $n -lt 1 ]; then exec `+real+` "$@"; fi
				`+map[string]string{"before": "kill -9 $$", "behind": real + ` "$@" > /dev/null; kill -9 $$`}[when])
			failed, step := 0, 7
			if os.Getenv("ANAMNESIS_CI") != "" && !testing.Short() {
				step = 3
			}
			for n := 2; n < 60; n += step {
				d.open(t, "a")
				d.open(t, "b")
				d.write(t, "a", "semantic/a.md", fmt.Sprintf("a %d\n", n))
				d.write(t, "b", fmt.Sprintf("semantic/b%d.md", n), "b\n")
				d.sync(t, "b")
				if err := os.WriteFile(calls, []byte(strconv.Itoa(n)), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := d.open(t, "a", func(o *replica.Options) { o.Git = filepath.Join(bin, "git") }).Sync(t.Context())
				if err != nil || out.Offline {
					failed++
				}
				d.sync(t, "a")
				d.sync(t, "b")
				if a, b := tree(t, d.dirs["a"]), tree(t, d.dirs["b"]); cmp.Diff(a, b) != "" || a["semantic/a.md"] != fmt.Sprintf("a %d\n", n) {
					t.Fatalf("killed %s call %d:\n%s", when, n, cmp.Diff(a, b))
				}
			}
			if failed < 3 {
				t.Errorf("only %d syncs died", failed)
			}
			if a := d.files(t, d.remote); cmp.Diff(a, tree(t, d.dirs["a"])) != "" {
				t.Errorf("the remote:\n%s", cmp.Diff(a, tree(t, d.dirs["a"])))
			}
		})
	}
}

// What this machine keeps of the sealed files can be lost, and so can the whole repository.
func TestSealedAndLost(t *testing.T) {
	storetest.SkipQuick(t)
	d := newDesks(t)
	d.open(t, "a")
	d.write(t, "a", "semantic/a.md", "1\n")
	d.sync(t, "a")
	for n, what := range []string{".git/anamnesis-sealed", ".git/anamnesis-sealed/.git/objects", ".git/anamnesis-sealed/.git/HEAD", ".git"} {
		if err := os.RemoveAll(filepath.Join(d.dirs["a"], what)); err != nil {
			t.Fatal(err)
		}
		d.write(t, "a", "semantic/a.md", fmt.Sprintln(n))
		d.sync(t, "a")
		// Without any history one of the two versions wins by its bytes.
		got := d.files(t, d.remote)
		if have := tree(t, d.dirs["a"]); got["semantic/a.md"] != fmt.Sprintln(n) && what != ".git" || cmp.Diff(have, got) != "" {
			t.Errorf("without %s: the remote has %q, the machine %q", what, got, have)
		}
	}
}

// Anybody with the key of a machine opens what a hub holds, with age and git alone.
func TestSealedIsAge(t *testing.T) {
	age, err := exec.LookPath("age")
	if err != nil {
		missing(t, "age is not on PATH: `go install filippo.io/age/cmd/age@latest`")
	}
	d := newDesks(t)
	d.open(t, "a")
	d.write(t, "a", "semantic/a.md", "the pelican\n")
	d.sync(t, "a")
	_, segment, _ := d.held(t)
	at := t.TempDir()
	if err := os.WriteFile(filepath.Join(at, "file.age"), segment, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(age, "--decrypt", "-i", filepath.Join(d.keys("b"), "identity.txt"), "-o", filepath.Join(at, "notes.bundle"),
		filepath.Join(at, "file.age")).CombinedOutput()
	if err != nil {
		t.Fatalf("age: %v\n%s", err, out)
	}
	run(t, at, "clone", "-q", "-b", "main", "notes.bundle", "notes")
	if data, err := os.ReadFile(filepath.Join(at, "notes", "semantic", "a.md")); err != nil || string(data) != "the pelican\n" {
		t.Errorf("the note reads %q, %v", data, err)
	}
}

// Few files stand on a hub, whatever the number of syncs, and each byte is sent few times.
func TestSealedStaysSmall(t *testing.T) {
	storetest.SkipQuick(t)
	var list []seal.Segment
	sent, fresh := int64(0), int64(0)
	for n := range 20000 {
		size := int64(900)
		if n == 0 {
			size = 3 << 20
		}
		fresh += size
		k := replica.Kept(list)
		for _, g := range list[k:] {
			size += g.Size
		}
		list = append(list[:k:k], seal.Segment{Size: size})
		sent += size
		if len(list) > 24 {
			t.Fatalf("after %d syncs there are %d files", n+1, len(list))
		}
	}
	if sent > 20*fresh {
		t.Errorf("%d bytes were sent for %d", sent, fresh)
	}
	d := newDesks(t)
	d.open(t, "a")
	syncs := 26
	for n := range syncs {
		d.write(t, "a", fmt.Sprintf("semantic/%d.md", n), "x\n")
		d.sync(t, "a")
		if n == syncs/2 {
			d.open(t, "b")
			d.sync(t, "b")
		}
	}
	if files := strings.Count(run(t, d.remote, "ls-tree", "--name-only", "main"), "\n"); files > 6 {
		t.Errorf("the remote has %d files", files)
	}
	if out := d.sync(t, "b"); out.Pulled != syncs-syncs/2-1 || len(d.files(t, d.remote)) != syncs {
		t.Errorf("a machine that was away took %+v", out)
	}
}

func FuzzBundled(f *testing.F) {
	head := strings.Repeat("ab", 20)
	for _, text := range []string{
		"# v2 git bundle\n" + head + " refs/heads/main\n\nPACK\x00\x00\x00\x02\x00\x00\x00\x07",
		"# v2 git bundle\n-" + head + "\n" + head + " refs/heads/main\n\nPACK\x00\x00\x00\x02\xff\xff\xff\xff",
		"# v2 git bundle\n\nPACK",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		objects, err := replica.Bundled(bufio.NewReader(bytes.NewReader(data)), head)
		if err == nil && (objects < 0 || !bytes.Contains(data, []byte(head+" refs/heads/main\n\nPACK"))) {
			t.Errorf("%q is taken, with %d objects", data, objects)
		}
		if err != nil && !errors.Is(err, seal.ErrForged) {
			t.Errorf("%q: %v", data, err)
		}
	})
}
