package web_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/sqlite"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// everyPage lists the pages that need nothing in the store, with what stands on them.
var everyPage = []struct{ path, api, want string }{
	{"/", "/overview", "What memory did this week"},
	{"/browse", "/notes", "Browse"},
	{"/browse?q=deploy", "/notes?q=deploy", "found in"},
	{"/notes/new", "/notes/new", "New note"},
	{"/review", "/review", "Review"},
	{"/lab", "/lab", "Recall lab"},
	{"/lab?q=deploy+tag", "/lab?q=deploy+tag", "Answers"},
	{"/lab?q=deploy+tag&off=R3&off=R2&gate=1", "/lab?q=deploy+tag&off=R3", "Gate"},
	{"/lab?q=how+do+I+deploy&as=prompt", "/lab?q=how+do+I+deploy&as=prompt", "shown"},
	{"/lab?q=deploy&as=task", "/lab?q=deploy&as=task", "shown"},
	{"/lab?q=make+deploy&as=command", "/lab?q=make+deploy&as=command", "shown"},
	{"/lab?q=deploy.sh&as=file", "/lab?q=deploy.sh&as=file", "shown"},
	{"/lab?as=start&agent=claude", "/lab?as=start", "This is shown"},
	{"/sessions", "/sessions", "Sessions"},
	{"/history", "/history", "History"},
	{"/timeline", "/timeline", "Timeline"},
	{"/timeline?q=deploy", "/timeline?q=deploy", "Timeline"},
	{"/gone", "/gone", "Not recalled"},
	{"/machines", "/fleet", "this machine"},
	{"/health", "/health", "Health"},
	{"/queue", "/queue", "Queue"},
	{"/statistics", "/stats", "Statistics"},
	{"/settings", "/settings", "recall.mmr.on"},
}

// TestPages asks for every page and its twin, of an empty store and of one with notes.
func TestPages(t *testing.T) {
	for _, notes := range []int{0, 1} {
		s := entered(t, "sync.on=true")
		if notes > 0 {
			s.add("The deploy needs a tag", "Push the tag first, then run `deploy.sh`.", "tags", "deploy", "type", "procedural")
		}
		for _, p := range everyPage {
			text := s.page(p.path)
			if notes > 0 && !strings.Contains(text, p.want) {
				t.Errorf("%s does not say %q:\n%.3000s", p.path, p.want, text)
			}
			if f := foreign(text); f != "" {
				t.Errorf("%s has %s", p.path, f)
			}
			var v any
			if code := s.api("GET", p.api, nil, &v); code != 200 {
				t.Errorf("GET /api%s: %d", p.api, code)
			}
			if n := len(text); n > 150<<10 {
				t.Errorf("%s has %d bytes", p.path, n)
			}
		}
		if code := s.api("GET", "/jobs", nil, nil); code != 200 {
			t.Errorf("GET /api/jobs: %d", code)
		}
	}
}

// TestEdit writes a note, edits it, and finds both forms in its history.
func TestEdit(t *testing.T) {
	s := entered(t)
	id := s.add("The deploy needs a tag", "Push the tag first.", "tags", "deploy, release")
	var form struct{ Base, Tags string }
	s.api("GET", "/notes/"+id+"/edit", nil, &form)
	if form.Tags != "deploy, release" {
		t.Errorf("the form has the tags %q", form.Tags)
	}
	code, to, _ := s.post("/notes/"+id+"/edit", "title", "The deploy needs a signed tag", "body", "Push the tag first.\r\n\r\nThen wait.",
		"type", "procedural", "scope", "machine-local", "project", "acme/shop", "tags", "release", "base", form.Base)
	if code != 303 || !strings.HasPrefix(to, "/notes/"+id) {
		t.Fatalf("saving: %d to %q", code, to)
	}
	text := s.page(to)
	for _, want := range []string{"The deploy needs a signed tag", "Then wait.", "machine-local", "procedural", "acme/shop", "Note updated", "Undo"} {
		if !strings.Contains(text, want) {
			t.Errorf("the note does not say %q", want)
		}
	}
	if strings.Contains(text, "tag=deploy") {
		t.Error("the tag that was taken away is there")
	}
	if text = s.page("/notes/" + id + "/history"); !strings.Contains(text, "before it was edited") || !strings.Contains(text, "Then wait.") {
		t.Errorf("the history does not show the change:\n%s", text)
	}
}

// TestTriggers sets the triggers of a note, keeps them when a form does not have the field, and takes them away.
func TestTriggers(t *testing.T) {
	s := entered(t)
	id := s.add("Tags are made by the pipeline", "By hand they lack the notes.", "when", "CMD: git  tag\r\n\r\npath:.github/**")
	save := func(more ...string) (int, string) {
		t.Helper()
		var form struct{ Base string }
		s.api("GET", "/notes/"+id+"/edit", nil, &form)
		fields := []string{"title", "Tags are made by the pipeline", "body", "By hand they lack the notes.", "type", "semantic", "base", form.Base}
		code, _, text := s.post("/notes/"+id+"/edit", append(fields, more...)...)
		return code, text
	}
	has := func(want string) {
		t.Helper()
		var form struct{ When string }
		if s.api("GET", "/notes/"+id+"/edit", nil, &form); form.When != want {
			t.Errorf("the form has the triggers %q, want %q", form.When, want)
		}
	}
	has("cmd:git tag\npath:.github/**")
	if text := s.page("/notes/" + id); !strings.Contains(text, "cmd:git tag") {
		t.Error("the note does not show its triggers")
	}
	if code, text := save("when", "git tag"); code != 400 || !strings.Contains(text, "cmd:PROGRAM WORDS") {
		t.Errorf("what is no trigger: %d\n%s", code, text)
	}
	if code, text := save("tags", "release"); code != 303 {
		t.Errorf("a form without the field: %d\n%s", code, text)
	}
	has("cmd:git tag\npath:.github/**")
	if code, text := save("when", ""); code != 303 {
		t.Errorf("an empty field: %d\n%s", code, text)
	}
	has("")
}

// TestTwoTabs edits one note in two tabs: the second sees both texts and loses nothing.
func TestTwoTabs(t *testing.T) {
	s := entered(t)
	id := s.add("The deploy needs a tag", "Push the tag first.")
	var form struct{ Base string }
	s.api("GET", "/notes/"+id+"/edit", nil, &form)
	save := func(body, base string) (int, string) {
		code, _, text := s.post("/notes/"+id+"/edit", "title", "The deploy needs a tag", "body", body, "type", "semantic", "base", base)
		return code, text
	}
	if code, text := save("What the first tab says.", form.Base); code != 303 {
		t.Fatalf("the first tab: %d\n%s", code, text)
	}
	code, text := save("What the second tab says.", form.Base)
	if code != 409 || !strings.Contains(text, "What the first tab says.") || !strings.Contains(text, "What the second tab says.") {
		t.Fatalf("the second tab: %d\n%s", code, text)
	}
	if strings.Contains(s.page("/notes/"+id), "second tab") {
		t.Error("the second tab wrote all the same")
	}
	_, rest, _ := strings.Cut(text, `name="base" value="`)
	base, _, _ := strings.Cut(rest, `"`)
	if code, _ := save("What the second tab says.", base); code != 303 {
		t.Errorf("the second tab, having seen both: %d", code)
	}
	if text := s.page("/notes/" + id + "/history"); !strings.Contains(text, "What the first tab says.") {
		t.Error("what the first tab wrote is lost")
	}
	var answer struct{ Result json.RawMessage }
	if code := s.api("PUT", "/notes/"+id, fields{"title": "x", "body": "y", "base": form.Base}, &answer); code != 409 {
		t.Errorf("the twin with an old form: %d", code)
	}
}

// TestForget erases a note, having said what it would erase.
func TestForget(t *testing.T) {
	s := entered(t)
	id := s.add("A secret of the house", "It stands under the mat.")
	if text := s.page("/notes/" + id + "/forget"); !strings.Contains(text, id+".md") {
		t.Errorf("the plan does not name the file:\n%s", text)
	}
	s.post("/notes/" + id + "/forget")
	s.page("/notes/" + id) // nothing was said of applying
	if code, to, _ := s.post("/notes/"+id+"/forget", "apply", "1"); code != 303 || !strings.HasPrefix(to, "/browse") {
		t.Errorf("forgetting: %d to %q", code, to)
	}
	code, text := s.get("/notes/" + id)
	if code != 404 || !strings.Contains(text, "forget --undo") {
		t.Errorf("afterwards: %d\n%s", code, text)
	}
	if strings.Contains(s.page("/browse?state=all"), "secret of the house") {
		t.Error("the list has it still")
	}
	if code, to, _ := s.post("/notes/"+id+"/forget", "undo", "1"); code != 303 || !strings.HasPrefix(to, "/notes/"+id) {
		t.Errorf("bringing it back: %d to %q", code, to)
	}
	if !strings.Contains(s.page("/browse?state=all"), "secret of the house") {
		t.Error("the list does not have it again")
	}
}

// TestOutOfRecall archives and supersedes notes, and takes both back by the forms of the pages.
func TestOutOfRecall(t *testing.T) {
	s := entered(t)
	older, newer := s.add("Tests run with jest", "jest --ci"), s.add("Tests run with vitest", "vitest run")
	if code, to, _ := s.post("/notes/"+older+"/supersede", "by", newer); code != 303 || !strings.Contains(s.page(to), "superseded") {
		t.Errorf("superseding: %d", code)
	}
	if text := s.page("/gone"); !strings.Contains(text, "Tests run with jest") || !strings.Contains(text, "Tests run with vitest") {
		t.Errorf("the chain is not shown:\n%s", text)
	}
	if text := s.page("/lab?q=how+do+tests+run&note=" + older); !strings.Contains(text, "superseded by") {
		t.Errorf("the lab does not say why it is not told:\n%s", text)
	}
	s.post("/notes/"+older+"/supersede", "by", newer, "undo", "1")
	if strings.Contains(s.page("/gone"), "Tests run with jest") {
		t.Error("it is superseded still")
	}
	s.post("/notes/"+older+"/archive", "reason", "old")
	if text := s.page("/gone"); !strings.Contains(text, "Tests run with jest") || !strings.Contains(text, "Take back") {
		t.Errorf("it is not among the archived:\n%s", text)
	}
	s.post("/notes/"+older+"/archive", "back", "1")
	if strings.Contains(s.page("/gone"), "Tests run with jest") {
		t.Error("it is archived still")
	}
}

// TestSettings changes a setting, and does not show or lose a secret.
func TestSettings(t *testing.T) {
	s := entered(t)
	if code, to, text := s.post("/settings", "group", "sessions", "sessions.days", "5"); code != 303 || !strings.Contains(to, "#sessions") {
		t.Fatalf("saving: %d %q %s", code, to, text)
	}
	var a struct {
		Groups []struct {
			Settings []struct {
				Key, Value, Source string
				Secret             bool
			}
		}
	}
	s.api("GET", "/settings", nil, &a)
	found, secrets := false, 0
	for _, g := range a.Groups {
		for _, v := range g.Settings {
			found = found || v.Key == "sessions.days" && v.Value == "5"
			if v.Secret {
				secrets++
			}
		}
	}
	if !found || secrets == 0 {
		t.Errorf("the value is there: %v; %d secrets", found, secrets)
	}
	if code, _, _ := s.post("/settings", "sessions.days", "many"); code != 400 {
		t.Errorf("a value that is none: %d", code)
	}
	if code, _, _ := s.post("/settings", "no.such.key", "1"); code != 400 {
		t.Errorf("a key that is none: %d", code)
	}
}

// TestSharedNote asks for a note that another of the team shares: it is found, shown with
// its author, and nothing on its page would change it.
func TestSharedNote(t *testing.T) {
	s := entered(t, "team.dsn=postgres://nobody@127.0.0.1:1/none", "team.workspace=6b0c1b1e-0000-4000-8000-000000000001")
	s.add("Ours", "Of this machine.")
	root := s.host.Config.Home
	db, err := sqlite.Open(t.Context(), sqlite.Options{Path: root + "/index.db", Origin: "alice/laptop"})
	if err != nil {
		t.Fatal(err)
	}
	n := &note.Note{
		ID: "01M8441RA3PXTJNWRMF0GYJA03", Type: note.Semantic, Scope: note.Portable, Title: "The deploy of Alice", Body: "<b>Tag</b> first.",
		Project: "p", UserID: "alice <b>", UpdatedAt: note.At(time.Now()),
	}
	data := n.Format()
	ref := store.Ref{Path: store.NotePath(n.Scope, n.Type, n.ID), Scope: n.Scope, Size: int64(len(data))}
	if err := errors.Join(db.Apply(t.Context(), index.Batch{Put: []index.Entry{index.NewEntry(n, ref, data, nil)}}), db.Close()); err != nil {
		t.Fatal(err)
	}
	if text := s.page("/browse?q=deploy&project=p"); !strings.Contains(text, "The deploy of Alice") {
		t.Errorf("it is not found:\n%.3000s", text)
	}
	text := s.page("/notes/" + string(n.ID))
	if !strings.Contains(text, "shared by alice &lt;b&gt;") || strings.Contains(text, "danger-zone") || strings.Contains(text, "/edit") {
		t.Errorf("its page:\n%.6000s", text)
	}
	if code, _ := s.get("/notes/" + string(n.ID) + "/edit"); code == 200 {
		t.Errorf("the form that edits it answers %d", code)
	}
}

// TestIcon asks for the icon that the manifest names: it is an image of the kind it says.
func TestIcon(t *testing.T) {
	s := entered(t)
	res, err := s.client.Get(s.address + "/assets/icon.svg")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var svg struct{ XMLName xml.Name }
	if err := xml.NewDecoder(res.Body).Decode(&svg); err != nil || svg.XMLName.Local != "svg" ||
		res.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("%v, %s, %s", err, svg.XMLName.Local, res.Header.Get("Content-Type"))
	}
}
