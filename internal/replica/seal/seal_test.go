package seal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/replica/seal"
)

var now = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func identity(t testing.TB) *seal.Identity {
	t.Helper()
	i, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// begun is a group of a and a recovery key, with b let in.
func begun(t testing.TB, a, b *seal.Identity) (before, g seal.Group) {
	t.Helper()
	before, err := seal.NewGroup(a, "a", identity(t).Member("recovery key"), now)
	if err != nil {
		t.Fatal(err)
	}
	g, err = before.Add(a, b.Member("b"), now)
	if err != nil {
		t.Fatal(err)
	}
	return before, g
}

func TestIdentity(t *testing.T) {
	i := identity(t)
	again, err := seal.ParseIdentity("# my key\n\n" + i.Secret() + "\r\n")
	if err != nil || again.Member("x") != i.Member("x") {
		t.Errorf("read again it is another one: %v", err)
	}
	for _, text := range []string{"", "# only this", "AGE-SECRET-KEY-1X", i.Secret() + "\n" + i.Secret(), i.Member("x").Age} {
		if _, err := seal.ParseIdentity(text); err == nil || strings.Contains(err.Error(), "SECRET-KEY-1X") {
			t.Errorf("ParseIdentity(%q) = %v", text, err)
		}
	}
	for name, want := range map[string]string{"desk": "desk", " a\nb\x00 ": "a-b-", "": "unknown", strings.Repeat("é", 60): strings.Repeat("é", 32)} {
		m := i.Member(name)
		if got, err := seal.ParseRequest(" " + m.Request() + "\n"); err != nil || got != m || got.Name != want {
			t.Errorf("the machine %q asks as %q: %+v, %v", name, m.Request(), got, err)
		}
	}
}

func TestGroup(t *testing.T) {
	a, b, c := identity(t), identity(t), identity(t)
	before, g := begun(t, a, b)
	if !g.Goes(before) || before.Goes(g) || g.Name() != before.Name() || g.Name() == "" {
		t.Error("a longer list does not go on from the shorter one")
	}
	if members, err := g.Members(); err != nil || len(members) != 3 || !members[1].Recovery || members[2] != b.Member("b") {
		t.Errorf("Members() = %+v, %v", members, err)
	}
	if same, err := g.Add(b, b.Member("b"), now); err != nil || len(same) != len(g) {
		t.Errorf("adding what is in: %d, %v", len(same), err)
	}
	for what, err := range map[string]error{
		"a name twice":      second(g.Add(a, c.Member("b"), now)),
		"by an outsider":    second(g.Add(c, c.Member("c"), now)),
		"itself":            second(g.Remove(a, "a", now)),
		"nobody":            second(g.Remove(a, "z", now)),
		"out by a stranger": second(g.Remove(c, "a", now)),
	} {
		if err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
	out, err := g.Remove(a, "b", now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Add(b, c.Member("c"), now); err == nil {
		t.Error("a machine that was taken out lets another one in")
	}
	// Nothing of a list can be left out, changed or put elsewhere.
	for what, bad := range map[string]seal.Group{
		"without the first": out[1:], "without one": append(out[:1:1], out[2:]...), "turned": {out[1], out[0]},
	} {
		if _, err := bad.Members(); !errors.Is(err, seal.ErrForged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	data, _ := json.Marshal(out)
	var changed seal.Group
	if err := json.Unmarshal(bytes.Replace(data, []byte(`recovery key`), []byte(`recovery kex`), 1), &changed); err != nil {
		t.Fatal(err)
	}
	if _, err := changed.Members(); !errors.Is(err, seal.ErrForged) {
		t.Errorf("changed: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestManifest(t *testing.T) {
	a, b, c := identity(t), identity(t), identity(t)
	before, g := begun(t, a, b)
	out, err := g.Remove(a, "b", now)
	if err != nil {
		t.Fatal(err)
	}
	m := seal.Manifest{V: 1, N: 3, At: now, Group: g, Segments: []seal.Segment{
		{Name: strings.Repeat("ab", 32), Size: 7, Head: strings.Repeat("cd", 20)},
	}}
	sealed := func(m seal.Manifest, by *seal.Identity) []byte {
		data, err := m.Seal(by)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	good := sealed(m, b)
	for _, known := range []seal.Group{nil, before, g} {
		got, err := seal.Open(good, a, known, now)
		if err != nil || got.Head() != m.Head() || got.N != 3 || len(got.Group) != len(g) {
			t.Errorf("Open = %+v, %v", got, err)
		}
	}
	other, _ := begun(t, identity(t), b)
	with := func(change func(*seal.Manifest)) []byte {
		m := m
		m.Segments = append([]seal.Segment{}, m.Segments...)
		change(&m)
		return sealed(m, b)
	}
	for _, tt := range []struct {
		name  string
		data  []byte
		by    *seal.Identity
		known seal.Group
		want  error
	}{
		{"for others", good, c, g, seal.ErrNotIn},
		{"signed by an outsider", sealed(m, c), a, g, seal.ErrForged},
		{"of another group", good, a, other, seal.ErrOthers},
		{"cut", good[:len(good)-1], a, g, seal.ErrForged},
		{"cut at its head", good[:40], a, g, seal.ErrForged},
		{"nothing", nil, a, g, seal.ErrForged},
		{"too large", make([]byte, seal.MaxManifest+1), a, g, seal.ErrForged},
		{"a number that nothing follows", with(func(m *seal.Manifest) { m.N = 1<<63 - 1 }), a, g, seal.ErrForged},
		{"no number", with(func(m *seal.Manifest) { m.N = 0 }), a, g, seal.ErrForged},
		{"a file that leads elsewhere", with(func(m *seal.Manifest) { m.Segments[0].Name = "../../x" }), a, g, seal.ErrForged},
		{"a head that is an option", with(func(m *seal.Manifest) { m.Segments[0].Head = "--all" }), a, g, seal.ErrForged},
		{"a file of any size", with(func(m *seal.Manifest) { m.Segments[0].Size = 1 << 60 }), a, g, seal.ErrForged},
		{"files without end", with(func(m *seal.Manifest) {
			m.Segments = make([]seal.Segment, seal.MaxSegments+1)
		}), a, g, seal.ErrForged},
	} {
		if _, err := seal.Open(tt.data, tt.by, tt.known, now); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if got, err := seal.Open(sealed(seal.Manifest{V: 1, N: 4, Group: before}, a), a, out, now); err != nil || len(got.Group) != len(out) {
		t.Errorf("with an older list of machines: %d, %v", len(got.Group), err)
	}
	if got, err := seal.Open(good, a, out, now); revoked(err) != "b" {
		t.Errorf("signed by one that was taken out since: %+v, %v", got, err)
	}
	_, own := begun(t, b, a)
	if got, err := seal.Open(sealed(seal.Manifest{V: 1, N: 4, Group: own}, b), a, out, now); revoked(err) != "b" {
		t.Errorf("with a list of its own making: %+v, %v", got, err)
	}
	got, err := seal.Open(sealed(m, a), a, out, now)
	if err != nil || !got.Stale || !slices.Equal(got.Out, []string{"b"}) || len(got.Group) != len(out) {
		t.Errorf("sealed for one that was taken out since: %+v, %v", got, err)
	}
	if got, err := seal.Open(sealed(m, a), a, g, now); err != nil || got.Stale || got.Out != nil {
		t.Errorf("with the list that is known: %+v, %v", got, err)
	}
	// One that was let in by a machine that was taken out is as little believed.
	more, err := g.Add(b, c.Member("c"), now)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := seal.Open(sealed(seal.Manifest{V: 1, N: 4, Group: more}, c), a, out, now); revoked(err) != "c" {
		t.Errorf("signed by one that a machine let in that was taken out: %+v, %v", got, err)
	}
	if _, err := seal.Open(with(func(m *seal.Manifest) { m.V = 2 }), a, g, now); !errors.Is(err, seal.ErrNewer) {
		t.Errorf("of a later form: %v", err)
	}
}

// revoked returns the machine that an error names.
func revoked(err error) string {
	var e *seal.RevokedError
	if errors.As(err, &e) {
		return e.Machine
	}
	return ""
}

// parted are machines a, b, c, d in one list, of which each may go its own way.
type parted struct {
	t    *testing.T
	of   map[string]*seal.Identity
	base seal.Group
}

func part(t *testing.T) *parted {
	t.Helper()
	p := &parted{t: t, of: map[string]*seal.Identity{"z": identity(t), "y": identity(t)}}
	for _, name := range []string{"a", "b", "c", "d"} {
		p.of[name] = identity(t)
		var err error
		if p.base == nil {
			p.base, err = seal.NewGroup(p.of[name], name, identity(t).Member("recovery key"), now)
		} else {
			p.base, err = p.base.Add(p.of["a"], p.of[name].Member(name), now)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// change makes changes such as "a-c" (a takes c out) and "a+z" (a lets z in); z=y is z with the key of y.
func (p *parted) change(g seal.Group, list string) seal.Group {
	p.t.Helper()
	for _, c := range strings.Fields(list) {
		by, name := p.of[c[:1]], strings.ReplaceAll(c[2:], "·", " ")
		var err error
		if c[1] == '-' {
			g, err = g.Remove(by, name, now)
		} else {
			name, key, other := strings.Cut(name, "=")
			if !other {
				key = name
			}
			g, err = g.Add(by, p.of[key].Member(name), now)
		}
		if err != nil {
			p.t.Fatalf("%s: %v", c, err)
		}
	}
	return g
}

// in lists the keys of a list, by the names of their owners.
func (p *parted) in(g seal.Group) (names string) {
	p.t.Helper()
	members, err := g.Members()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c", "d", "y", "z"} {
		if slices.ContainsFunc(members, func(m seal.Member) bool { return m.Age == p.of[name].Member("").Age }) {
			names += name
		}
	}
	return names
}

// Lists that parted say the same on both machines after a few turns, whoever begins: who was taken out stays out, and
// so do those whom it let in.
func TestJoin(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"a-c", "", "abd"},
		{"a-c", "b-c", "abd"},
		{"a-c", "b-d", "ab"},
		{"a-c", "b+z", "abdz"},
		{"a+z", "b+y", "abcdyz"},
		{"a+z=z", "b+z=y", "abcdyz"},
		{"a-c a+c=z", "b-c", "abdz"},
		{"a-c a+c", "b-d", "abc"},
		{"a-c", "c+z", "abd"},
		{"a-c", "c+z z+y", "abd"},
		{"a-c", "c+z b+y", "abdy"},
		{"a-c a-d", "c+z d+y", "ab"},
		{"a-c", "b-c b+c", "abd"},
		{"a+z a-z", "b+z", "abcd"},
		{"a+z a-z", "b+z z+y", "abcd"},
		{"a-recovery·key", "b-recovery·key", "abcd"},
	} {
		for _, first := range []string{"a", "b"} {
			p := part(t)
			lists := map[string]seal.Group{"a": p.change(p.base, tt.a), "b": p.change(p.base, tt.b)}
			for turn := range 6 {
				by, other := first, map[string]string{"a": "b", "b": "a"}[first]
				if turn%2 == 1 {
					by, other = other, by
				}
				if lists[other].Goes(lists[by]) {
					lists[by] = lists[other]
					continue
				}
				if lists[by].Goes(lists[other]) {
					continue
				}
				g, err := lists[by].Join(lists[other], p.of[by], now)
				if err != nil {
					t.Fatalf("%q and %q: %s: %v", tt.a, tt.b, by, err)
				}
				lists[by] = g
			}
			if !slices.Equal(lists["a"], lists["b"]) || p.in(lists["a"]) != tt.want {
				t.Errorf("%q and %q, %s first: %s and %s, want %s", tt.a, tt.b, first, p.in(lists["a"]), p.in(lists["b"]), tt.want)
			}
		}
	}
}

// When each list took out who made the other one, a machine keeps the one it knew first; with the next change of somebody
// who is in both they agree.
func TestJoinOfRivals(t *testing.T) {
	p := part(t)
	heard, unheard := p.change(p.base, "a-c"), p.change(p.base, "c-a")
	if g, err := heard.Join(unheard, p.of["b"], now); err != nil || p.in(g) != "abd" {
		t.Errorf("one that heard of the revocation: %s, %v", p.in(g), err)
	}
	if g, err := unheard.Join(heard, p.of["d"], now); err != nil || p.in(g) != "bcd" {
		t.Errorf("one that did not: %s, %v", p.in(g), err)
	}
	if g, err := heard.Join(p.change(p.base, "b-d"), p.of["c"], now); err != nil || p.in(g) != "abd" {
		t.Errorf("by one that cannot sign: %s, %v", p.in(g), err)
	}
	mended := p.change(unheard, "d-c d+a")
	if g, err := heard.Join(mended, p.of["b"], now); err != nil || p.in(g) != "abd" {
		t.Errorf("after a person mended it: %s, %v", p.in(g), err)
	}
}

// What a hub says is read without a crash, and what passes the reader is within bounds.
func FuzzManifest(f *testing.F) {
	a, b := identity(f), identity(f)
	_, g := begun(f, a, b)
	data, err := seal.Manifest{V: 1, N: 1, At: now, Group: g}.Seal(a)
	if err != nil {
		f.Fatal(err)
	}
	r, err := a.Decrypt(bytes.NewReader(data))
	if err != nil {
		f.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"body":"{}","by":"","sig":""}`))
	f.Add([]byte(a.Member("desk").Request()))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := seal.ParseManifest(text, a, nil, now); err == nil {
			if members, err := m.Group.Members(); err != nil || len(members) == 0 || len(m.Segments) > seal.MaxSegments || m.N < 1 {
				t.Errorf("accepted: %q", text)
			}
		}
		if m, err := seal.ParseRequest(string(text)); err == nil {
			if again, err := seal.ParseRequest(m.Request()); err != nil || again != m {
				t.Errorf("the request %q is read as %+v, and then as %+v, %v", text, m, again, err)
			}
		}
		var g seal.Group
		if json.Unmarshal(text, &g) == nil {
			_, _ = g.Members()
		}
	})
}
