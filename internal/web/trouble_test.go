package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/app"
)

// TestStoreGone takes the store away while the dashboard runs, and brings it back.
func TestStoreGone(t *testing.T) {
	s := entered(t)
	s.add("The deploy needs a tag", "Push the tag first.")
	home := s.host.Config.Home
	if err := os.Rename(home, home+"-away"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/", "/browse", "/settings"} {
		if code, text := s.get(path); code != http.StatusInternalServerError || !strings.Contains(text, "the store is not there any more") {
			t.Errorf("GET %s without a store: %d\n%.400s", path, code, text)
		}
	}
	if code := s.api("POST", "/notes", fields{"title": "x", "type": "semantic"}, nil); code != http.StatusInternalServerError {
		t.Errorf("writing without a store: %d", code)
	}
	if _, err := os.Stat(home); err == nil {
		t.Error("a store was made where none was")
	}
	if err := os.Rename(home+"-away", home); err != nil {
		t.Fatal(err)
	}
	if text := s.page("/browse"); !strings.Contains(text, "The deploy needs a tag") {
		t.Error("the note is not there again")
	}
}

// TestIndexDamaged destroys the index while the dashboard runs: the notes are found again.
func TestIndexDamaged(t *testing.T) {
	s := entered(t)
	s.add("The deploy needs a tag", "Push the tag first.")
	for _, name := range []string{"index.db", "index.db-wal"} {
		path := filepath.Join(s.host.Config.Home, name)
		if fi, err := os.Stat(path); err == nil {
			if err := os.WriteFile(path, []byte(strings.Repeat("damage", int(fi.Size()/6))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	ok := false
	for end := time.Now().Add(20 * time.Second); !ok && time.Now().Before(end); {
		code, text := s.get("/browse?q=deploy")
		ok = code == http.StatusOK && strings.Contains(text, "The deploy needs a tag")
	}
	if !ok {
		code, text := s.get("/browse?q=deploy")
		t.Errorf("it did not heal: %d\n%.500s", code, text)
	}
}

// TestStoreLocked says that another process writes, and reads all the same.
func TestStoreLocked(t *testing.T) {
	t.Parallel()
	s := serve(t, nil, "patience=0.1")
	s.enter()
	id := s.add("The deploy needs a tag", "Push the tag first.")
	unlock, err := other(t, s).Store.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.page("/notes/" + id)
	var a struct{ Error, Code string }
	if code := s.api("POST", "/notes", fields{"title": "Written meanwhile", "type": "semantic"}, &a); code != http.StatusServiceUnavailable || a.Code != "locked" {
		t.Errorf("writing into a locked store: %d %+v", code, a)
	}
	unlock()
	s.add("Written meanwhile", "Afterwards.")
}

// TestReadOnly reads a store that cannot be written, and says that it cannot.
func TestReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	s := entered(t)
	id := s.add("The deploy needs a tag", "Push the tag first.")
	home := s.host.Config.Home
	s.stop()
	if err := os.Chmod(home, 0o500); err != nil { //nolint:gosec // a folder
		t.Fatal(err)
	}
	defer os.Chmod(home, 0o700) //nolint:gosec // a folder
	s = serveHost(t, s.host, nil)
	s.enter()
	if text := s.page("/notes/" + id); !strings.Contains(text, "This store cannot be written") {
		t.Error("the page does not say that nothing can be changed")
	}
	if code := s.api("POST", "/notes", fields{"title": "x", "type": "semantic"}, nil); code < 400 {
		t.Errorf("writing: %d", code)
	}
}

// TestTwoDashboards shows one store twice: what one writes, the other has.
func TestTwoDashboards(t *testing.T) {
	one := entered(t)
	two := serveHost(t, one.host, nil)
	two.enter()
	id := one.add("The deploy needs a tag", "Push the tag first.")
	if text := two.page("/notes/" + id); !strings.Contains(text, "Push the tag first.") {
		t.Error("the other does not have it")
	}
	if code, _, _ := two.post("/notes/"+id+"/archive", "reason", "old"); code != http.StatusSeeOther {
		t.Errorf("archiving in the other: %d", code)
	}
	if text := one.page("/notes/" + id); !strings.Contains(text, "archived: old") {
		t.Error("the first does not see it archived")
	}
	// The cookie of one is not the other's.
	two.client.Jar = one.client.Jar
	if code, _ := two.get("/"); code != http.StatusUnauthorized {
		t.Errorf("the cookie of the one lets into the other: %d", code)
	}
}

// TestWithoutGit shows every page where there is no git.
func TestWithoutGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := entered(t, "sync.on=true")
	id := s.add("The deploy needs a tag", "Push the tag first.")
	for _, path := range []string{"/", "/history", "/machines", "/notes/" + id, "/notes/" + id + "/history"} {
		s.page(path)
	}
	if code := s.api("POST", "/sync", nil, nil); code != http.StatusOK {
		t.Errorf("a sync: %d", code)
	}
}

// TestJobs runs long work behind the pages, says how it ended, and stops it.
func TestJobs(t *testing.T) {
	s := entered(t)
	s.add("The deploy needs a tag", "Push the tag first.")
	if code := s.api("POST", "/reindex", nil, nil); code != http.StatusOK {
		t.Fatalf("reindex: %d", code)
	}
	var all []struct {
		ID, Name, Error string
		Ended           time.Time
		Result          app.ReindexAnswer
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.api("GET", "/jobs", nil, &all)
		if len(all) == 1 && !all[0].Ended.IsZero() {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the job does not end: %+v", all)
		}
	}
	if all[0].Name != "reindex" || all[0].Error != "" {
		t.Errorf("the job: %+v", all[0])
	}
	if code := s.api("POST", "/jobs/99/stop", nil, nil); code != http.StatusNotFound {
		t.Errorf("stopping no job: %d", code)
	}
}
