package eval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"anamnesis/internal/eval"
	"anamnesis/internal/note"

	"github.com/google/go-cmp/cmp"
)

const (
	lineA = `{"query":"how do we deploy <x>?","relevant_ids":["a"],"note_titles":["Old"],"approved":true,"source":"human","mine":{"b":1,"a":[2]},"z":null}`
	lineB = `{"query":"what breaks at night","relevant_ids":["b","gone"],"note_titles":[],"approved":false,"source":"llm:local/m"}`
)

// EV-01: approved filter, warnings, titles of now.
func TestLoad(t *testing.T) {
	file := writeFile(t, "\n"+lineA+"\n"+lineB+"\n")
	lookup := func(id note.ID) (string, bool, error) { return "Title of " + string(id), id != "gone", nil }
	cases, warnings, err := eval.Load(file, false, lookup)
	if err != nil || len(cases) != 1 {
		t.Fatal(cases, err)
	}
	if d := cmp.Diff([]string{"Title of a"}, cases[0].NoteTitles); d != "" {
		t.Errorf("titles (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{file + ": 1 unreviewed candidate(s) skipped"}, warnings); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
	cases, warnings, err = eval.Load(file, true, lookup)
	if err != nil || len(cases) != 2 {
		t.Fatal(cases, err)
	}
	if d := cmp.Diff([]string{file + ": relevant id gone not in store"}, warnings); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
	_, _, err = eval.Load(file, true, func(note.ID) (string, bool, error) { return "", false, errors.New("no disk") })
	wantErr(t, err, "no disk")
}

// EV-09: a set that is not there says what to do.
func TestLoadMissing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "eval.jsonl")
	_, _, err := eval.Load(file, false, nil)
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "no eval set at "+file+" (run `anamnesis eval build` first)" {
		t.Error(err)
	}
	_, _, err = eval.Load(t.TempDir(), false, nil)
	wantErr(t, err, "not a regular file")
}

// EV-01: what Append writes is read back, and what it did not write it keeps.
func TestAppend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "eval", "set.jsonl")
	c := eval.Case{Query: `What "breaks" <at> night?`, RelevantIDs: []note.ID{"b"}, NoteTitles: []string{"B & C"}, Source: "llm:local/m"}
	if n, err := eval.Append(file, []eval.Case{c, c}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	want := `{"query":"What \"breaks\" <at> night?","relevant_ids":["b"],"note_titles":["B & C"],"approved":false,"source":"llm:local/m"}` + "\n"
	if d := cmp.Diff(want, readFile(t, file)); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
	got, _, err := eval.Load(file, true, nil)
	if err != nil || len(got) != 1 || got[0].Query != c.Query || got[0].Approved || got[0].Source != c.Source {
		t.Errorf("%+v %v", got, err)
	}

	file = writeFile(t, lineA+"\r\nno case at all\n\n"+lineB) // no line feed at the end
	again := eval.Case{Query: "WHAT  breaks at night", RelevantIDs: []note.ID{"x"}}
	if n, err := eval.Append(file, []eval.Case{again}); n != 0 || err != nil || readFile(t, file) != lineA+"\r\nno case at all\n\n"+lineB {
		t.Error(n, err, readFile(t, file))
	}
	if n, err := eval.Append(file, []eval.Case{c, again}); n != 1 || err != nil {
		t.Error(n, err)
	}
	if got, keeps := readFile(t, file), lineA+"\r\nno case at all\n\n"+lineB+"\n"; got != keeps+want {
		t.Errorf("file:\n%s", got)
	}
	_, err = eval.Append(file, []eval.Case{{Query: "no answer"}})
	wantErr(t, err, "no relevant ids")
}

// Writers wait for each other: no case is lost. Each opens the lock again, as another
// process does.
func TestAppendTogether(t *testing.T) {
	file := writeFile(t, lineA+"\n")
	const writers, each = 6, 6
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if n, err := eval.Append(file, []eval.Case{ask(fmt.Sprint("question ", w, " ", i), "a")}); n != 1 || err != nil {
					t.Error(n, err)
				}
			}
		})
	}
	wg.Wait()
	cases, warnings, err := eval.Load(file, false, nil)
	if err != nil || len(warnings) != 0 || len(cases) != 1+writers*each || cases[0].Query != "how do we deploy <x>?" {
		t.Error(len(cases), warnings, err)
	}
}

func TestLoadHostile(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"not JSON", "query: x", "invalid character"},
		{"cut off", `{"query":"x"`, "unexpected end"},
		{"two objects", lineA + lineA, "invalid character"},
		{"list", `[1]`, "cannot unmarshal array"},
		{"no query", `{"relevant_ids":["a"]}`, "no query"},
		{"blank query", `{"query":" ","relevant_ids":["a"]}`, "no query"},
		{"no ids", `{"query":"x","approved":true}`, "no relevant ids"},
		{"id out of the store", `{"query":"x","relevant_ids":["../../etc/passwd"]}`, "relevant id"},
		{"wrong type", `{"query":"x","relevant_ids":["a"],"approved":"yes"}`, "Case.approved"},
		{"long query", `{"query":"` + strings.Repeat("x", 9<<10) + `","relevant_ids":["a"]}`, "more than 8192 bytes"},
		{"many ids", `{"query":"x","relevant_ids":["a"` + strings.Repeat(`,"a"`, 1000) + `]}`, "more than 1000"},
		{"huge", `{"query":"` + strings.Repeat("x", 300<<10) + `"}`, "more than 256 KB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := writeFile(t, lineA+"\n"+tt.line+"\n")
			cases, warnings, err := eval.Load(file, true, nil)
			if err != nil || len(cases) != 1 || len(warnings) != 1 {
				t.Fatal(len(cases), warnings, err)
			}
			if !strings.HasPrefix(warnings[0], file+": line 2 is no case and was skipped: ") || !strings.Contains(warnings[0], tt.want) {
				t.Errorf("warning %q, want %q in it", warnings[0], tt.want)
			}
		})
	}
	_, warnings, err := eval.Load(writeFile(t, strings.Repeat("x\n", 5000)), true, nil)
	if err != nil || len(warnings) != 101 || !strings.HasSuffix(warnings[100], "4900 more warnings") {
		t.Error(len(warnings), err)
	}
}

// A case that a person refused in the file is never measured, and its query is never added again.
func TestRejected(t *testing.T) {
	file := writeFile(t, lineA+"\n"+`{"query":"two","relevant_ids":["a"],"approved":true,"rejected":true}`+"\n")
	if cases, warnings, err := eval.Load(file, true, nil); err != nil || len(cases) != 1 || len(warnings) != 0 {
		t.Error(cases, warnings, err)
	}
	if n, err := eval.Append(file, []eval.Case{ask("TWO", "a")}); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func TestAppendKeepsLink(t *testing.T) {
	file := writeFile(t, lineA)
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no links here:", err)
	}
	if _, err := eval.Append(link, []eval.Case{ask("one", "a")}); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&fs.ModeSymlink == 0 || !strings.Contains(readFile(t, file), `"query":"one"`) {
		t.Error(fi.Mode(), err, readFile(t, file))
	}
}

func FuzzCases(f *testing.F) {
	f.Add(lineA + "\n" + lineB)
	f.Add("\ufeff" + lineB + "\r\n\r\n{}\n[1]\nx")
	f.Add(`{"query":"q","query":"r","relevant_ids":["a"],"a":{"b":[1,2e9,"\u0000"]},"\ud800":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		before, after, err := eval.Rewrite(text, ask("a question of the fuzz test", "a"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range before { // a case is written and read again as it was
			data, err := json.Marshal(c)
			var again eval.Case
			if err == nil {
				err = json.Unmarshal(data, &again)
			}
			twice, _ := json.Marshal(again)
			if err != nil || string(twice) != string(data) {
				t.Fatalf("%s\n%s\n%v", data, twice, err)
			}
		}
		if !strings.HasPrefix(after, strings.TrimSuffix(text, "\n")) {
			t.Fatalf("%q became %q", text, after)
		}
		if kept, _, err := eval.Rewrite(after, ask("another", "a")); err != nil || len(kept) != len(before)+1 {
			t.Fatal(err, len(before), len(kept))
		}
	})
}

func FuzzQuery(f *testing.F) {
	f.Add("why\n")
	f.Add("why \x1b[2J")
	f.Fuzz(func(t *testing.T, text string) {
		q, wrong := eval.CheckAsked(text)
		if len(wrong) == 0 && (q == "" || strings.ContainsAny(q, "\x00\n\x1b") || len(q) > 4*500) {
			t.Fatalf("%q", q)
		}
	})
}
