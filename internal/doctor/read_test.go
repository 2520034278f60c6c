package doctor_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"anamnesis/internal/doctor"
	"anamnesis/internal/recall"

	"github.com/google/go-cmp/cmp"
)

func TestHookEntries(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"blank", " \n", ""},
		{"groups", `{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "ANAMNESIS_HOOK=1 '/a b/anamnesis' capture"}]}]}}`, "SessionEnd [/a b/anamnesis capture]"},
		{"with comments", `{"hooks": {"Stop": [{"hooks": [/* a */ {"command": "env ANAMNESIS_HOOK=1 X=2 anamnesis capture"},]}]}} // b` + "\n", "Stop [anamnesis capture]"},
		{"others", `{"hooks": {"Stop": [{"hooks": [{"command": "echo anamnesis"}, {"command": 3}, null]}], "X": 1}}`, ""},
		{"deep", `{"hooks": {"Stop": ` + strings.Repeat("[", 50) + `{"command": "anamnesis capture"}` + strings.Repeat("]", 50) + `}}`, ""},
	} {
		entries, _, err := doctor.HookEntries([]byte(tt.text))
		var got []string
		for _, e := range entries {
			event, line := doctor.EntryOf(e)
			got = append(got, fmt.Sprint(event, " ", line))
		}
		if err != nil || strings.Join(got, "; ") != tt.want {
			t.Errorf("%s: got %q (%v), want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestManyEntries(t *testing.T) {
	text := `{"hooks": {"Stop": [` + strings.Repeat(`{"hooks": [{"command": "anamnesis capture"}]},`, 5000) + `0]}}`
	entries, _, err := doctor.HookEntries([]byte(text))
	if err != nil || len(entries) != doctor.MaxEntries {
		t.Errorf("got %d entries (%v), want %d", len(entries), err, doctor.MaxEntries)
	}
}

func TestParseLocks(t *testing.T) {
	const text = "1: POSIX  ADVISORY  WRITE 11 08:01:131 0 EOF\n" +
		"2: FLOCK  ADVISORY  WRITE 0 08:01:131 0 EOF\n" +
		"nonsense\n" +
		"3: FLOCK  ADVISORY  WRITE 4321 00:2f:131 0 EOF\n" +
		"4: FLOCK  ADVISORY  WRITE 5 00:2f:1131 0 EOF\n"
	for _, tt := range []struct {
		inode uint64
		want  int
	}{{131, 4321}, {1131, 5}, {7, 0}} {
		if pid, ok := doctor.ParseLocks(text, tt.inode); pid != tt.want || ok != (pid > 0) {
			t.Errorf("ParseLocks(%d) = %d, %v, want %d", tt.inode, pid, ok, tt.want)
		}
	}
}

// TestLockHolder wants to be named itself, where the system tells who holds a lock.
func TestLockHolder(t *testing.T) {
	b := healthy(t, 0)
	unlock, err := b.Store.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	locks, err := os.ReadFile("/proc/locks")
	if runtime.GOOS != "linux" || err != nil || !strings.Contains(string(locks), fmt.Sprintf(" %d ", os.Getpid())) {
		t.Skip("the system does not tell who holds a lock") // as in some sandboxes
	}
	r := b.one(t, "locks")
	if want := fmt.Sprintf("process %d", os.Getpid()); r.State != doctor.Info || !strings.Contains(fmt.Sprint(r.Evidence), want) {
		t.Errorf("got %+v, want %s", r, want)
	}
}

func TestServers(t *testing.T) {
	const text = `{"mcpServers": {"x": {"command": "/opt/anamnesis.exe"}, "anamnesis": {"type": "http", "url": "http://x"}, "y": 3},
		"projects": {"/a": {"mcpServers": {"anamnesis": {"command": "uvx"}}}, "/b": null}}`
	found, err := doctor.Servers([]byte(text))
	var got []string
	for _, s := range found {
		got = append(got, s.Command)
	}
	if diff := cmp.Diff([]string{"/opt/anamnesis.exe", "uvx"}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestGate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		c     recall.Calibration
		state doctor.State
		says  string
	}{
		{"shipped", recall.Calibration{Threshold: 1}, doctor.OK, "as shipped"},
		{"measured", recall.Calibration{Threshold: 1.2, Notes: 80, Probes: 200, Own: 80, FalseInjection: 0.01, FalseSilence: 0.05}, doctor.Info, "5.0 % of 80 questions"},
		{"wrong often", recall.Calibration{Notes: 80, Probes: 200, Own: 80, FalseInjection: 0.31}, doctor.Info, "31.0 % of 200 questions"},
		{"silent often", recall.Calibration{Notes: 80, Probes: 200, Own: 80, FalseSilence: 0.4}, doctor.Info, "40.0 %"},
	} {
		r := doctor.JudgeGate(tt.c)
		if all := strings.Join(r.Evidence, "\n"); r.State != tt.state || !strings.Contains(all, tt.says) {
			t.Errorf("%s: got %+v", tt.name, r)
		}
	}
}

func FuzzReaders(f *testing.F) {
	for _, s := range []string{
		`{"hooks": {"Stop": [{"matcher": "*", "hooks": [{"command": "ANAMNESIS_HOOK=1 anamnesis capture", "timeout": 1e99, "async": 1}]}]}}`,
		`{"mcpServers": {"anamnesis": {"command": "x", "args": "y"}}, "projects": {"": {"mcpServers": []}}}`,
		"1: FLOCK ADVISORY WRITE 1 0:0:1 0 EOF", "\xff\x1b[",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if entries, _, err := doctor.HookEntries([]byte(s)); err == nil && len(entries) > doctor.MaxEntries {
			t.Errorf("%d entries", len(entries))
		}
		_, _ = doctor.Servers([]byte(s))
		_, _ = doctor.ParseLocks(s, 1)
		if c := doctor.Clean(s, 40); !utf8.ValidString(c) || strings.ContainsAny(c, "\x1b\n\u202e") || utf8.RuneCountInString(c) > 41 {
			t.Errorf("Clean(%q) = %q", s, c)
		}
	})
}
