package eval_test

import (
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

// Writers wait for each other: no case and no decision is lost. Each opens the
// lock again, as another process does.
func TestAppendTogether(t *testing.T) {
	file := writeFile(t, lineA+"\n")
	const writers, each = 6, 6
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				query := fmt.Sprint("question ", w, " ", i)
				c := ask(query, "a")
				c.Approved = false
				if n, err := eval.Append(file, []eval.Case{c}); n != 1 || err != nil {
					t.Error(n, err)
				}
				if done, err := eval.Curate(file, []eval.Decision{{Query: query, Verdict: eval.Confirm}}); done.Confirmed != 1 || err != nil {
					t.Error(done, err)
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
		{"list", `[1]`, "no JSON object"},
		{"no query", `{"relevant_ids":["a"]}`, "no query"},
		{"blank query", `{"query":" ","relevant_ids":["a"]}`, "no query"},
		{"no ids", `{"query":"x","approved":true}`, "no relevant ids"},
		{"id out of the store", `{"query":"x","relevant_ids":["../../etc/passwd"]}`, "relevant id"},
		{"wrong type", `{"query":"x","relevant_ids":["a"],"approved":"yes"}`, `"approved"`},
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

func TestCurate(t *testing.T) {
	lines := []string{lineA}
	for _, q := range []string{"one", "two", "three", "four"} {
		lines = append(lines, `{"query":"`+q+`","relevant_ids":["a"],"source":"llm:local/m","mine":1}`)
	}
	file := writeFile(t, strings.Join(lines, "\n")+"\n")
	if c, _, err := eval.Candidates(file, nil); err != nil || len(c) != 4 {
		t.Fatal(c, err)
	}
	done, err := eval.Curate(file, []eval.Decision{
		{Query: "One", Verdict: eval.Confirm},
		{Query: "two", Verdict: eval.Reject},
		{Query: "three", Verdict: eval.Edit, Edited: "three, in other words"},
		{Query: "four", Verdict: eval.Skip},
	})
	if d := cmp.Diff(eval.Curated{Confirmed: 1, Rejected: 1, Edited: 1, Skipped: 1}, done); err != nil || d != "" {
		t.Fatal(err, d)
	}
	want := lineA + `
{"query":"one","relevant_ids":["a"],"note_titles":[],"approved":true,"source":"llm:local/m","mine":1}
{"query":"two","relevant_ids":["a"],"note_titles":[],"approved":false,"source":"llm:local/m","rejected":true,"mine":1}
{"query":"three, in other words","relevant_ids":["a"],"note_titles":[],"approved":true,"source":"llm:local/m","was":"three","mine":1}
` + lines[4] + "\n"
	if d := cmp.Diff(want, readFile(t, file)); d != "" {
		t.Errorf("file (-want +got):\n%s", d)
	}
	if cases, _, err := eval.Load(file, true, nil); err != nil || len(cases) != 4 {
		t.Errorf("a rejected case is measured: %v %v", cases, err)
	}
	// What was refused, and what was put in other words, is not proposed again.
	if n, err := eval.Append(file, []eval.Case{ask("TWO", "a"), ask("three", "b")}); n != 0 || err != nil {
		t.Error(n, err)
	}
	for _, tt := range []struct {
		name string
		d    eval.Decision
		want string
	}{
		{"unknown", eval.Decision{Query: "nothing", Verdict: eval.Confirm}, "no such case"},
		{"empty words", eval.Decision{Query: "four", Verdict: eval.Edit, Edited: " "}, "no query"},
		{"words of another", eval.Decision{Query: "four", Verdict: eval.Edit, Edited: "two"}, "in another case already"},
		{"verdict", eval.Decision{Query: "four", Verdict: "maybe"}, "give confirm, reject, edit or skip"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := readFile(t, file)
			_, err := eval.Curate(file, []eval.Decision{{Query: "one", Verdict: eval.Reject}, tt.d})
			wantErr(t, err, tt.want)
			if readFile(t, file) != before {
				t.Error("half of the decisions were carried out")
			}
		})
	}
}

func TestCurateKeepsLink(t *testing.T) {
	file := writeFile(t, `{"query":"one","relevant_ids":["a"]}`)
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(file, link); err != nil {
		t.Skip("no links here:", err)
	}
	if _, err := eval.Curate(link, []eval.Decision{{Query: "one", Verdict: eval.Confirm}}); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Lstat(link); err != nil || fi.Mode()&fs.ModeSymlink == 0 || !strings.Contains(readFile(t, file), `"approved":true`) {
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
			data, err := c.MarshalJSON()
			var again eval.Case
			if err == nil {
				err = again.UnmarshalJSON(data)
			}
			twice, _ := again.MarshalJSON()
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
