package seal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
		got, err := seal.Open(good, a, known)
		if err != nil || got.Head() != m.Head() || got.N != 3 || len(got.Group) != len(g) {
			t.Errorf("Open = %+v, %v", got, err)
		}
	}
	other, _ := begun(t, a, b)
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
		{"signed by one that was taken out since", good, a, out, seal.ErrForged},
		{"of another group", good, a, other, seal.ErrOthers},
		{"cut", good[:len(good)-1], a, g, seal.ErrForged},
		{"cut at its head", good[:40], a, g, seal.ErrForged},
		{"nothing", nil, a, g, seal.ErrForged},
		{"too large", make([]byte, seal.MaxManifest+1), a, g, seal.ErrForged},
		{"no number", with(func(m *seal.Manifest) { m.N = 0 }), a, g, seal.ErrForged},
		{"a file that leads elsewhere", with(func(m *seal.Manifest) { m.Segments[0].Name = "../../x" }), a, g, seal.ErrForged},
		{"a head that is an option", with(func(m *seal.Manifest) { m.Segments[0].Head = "--all" }), a, g, seal.ErrForged},
		{"a file of any size", with(func(m *seal.Manifest) { m.Segments[0].Size = 1 << 60 }), a, g, seal.ErrForged},
		{"files without end", with(func(m *seal.Manifest) {
			m.Segments = make([]seal.Segment, seal.MaxSegments+1)
		}), a, g, seal.ErrForged},
	} {
		if _, err := seal.Open(tt.data, tt.by, tt.known); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if got, err := seal.Open(sealed(seal.Manifest{V: 1, N: 4, Group: before}, a), a, out); err != nil || len(got.Group) != len(out) {
		t.Errorf("with an older list of machines: %d, %v", len(got.Group), err)
	}
	if _, err := seal.Open(with(func(m *seal.Manifest) { m.V = 2 }), a, g); err == nil || !strings.Contains(err.Error(), "update the program") {
		t.Errorf("of a later form: %v", err)
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
		if m, err := seal.ParseManifest(text, nil); err == nil {
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
