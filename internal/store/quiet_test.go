package store_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"anamnesis/internal/store"
)

func TestQuiet(t *testing.T) {
	s, _ := open(t)
	q := s.Spool()
	if a, err := q.Quiet(); err != nil || !a.Until.IsZero() || a.Session("one") {
		t.Errorf("without a file: %+v, %v", a, err)
	}
	long := store.Quiet{Until: s.Now().Add(time.Hour), Private: []string{"p"}}
	for i := range 1000 {
		long.Sessions = append(long.Sessions, fmt.Sprint(i))
	}
	if err := q.SetQuiet(long); err != nil {
		t.Fatal(err)
	}
	a, err := q.Quiet()
	if err != nil || !a.Until.Equal(long.Until) || len(a.Sessions) >= 1000 || !a.Session("999") || a.Session("0") || !a.Session("p") || a.Session("") {
		t.Errorf("%d sessions, %+v, %v", len(a.Sessions), a.Until, err)
	}
	if err := q.SetQuiet(store.Quiet{Until: s.Now().Add(-time.Hour), Private: []string{"p"}}); err != nil {
		t.Fatal(err)
	}
	if a, err := q.Quiet(); err != nil || !a.Until.IsZero() || !a.Session("p") {
		t.Errorf("over: %+v, %v", a, err)
	}
	if err := os.WriteFile(s.Path(store.QuietFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Quiet(); err == nil {
		t.Error("a damaged file was read")
	}
	if err := q.SetQuiet(store.Quiet{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.Path(store.QuietFile)); !os.IsNotExist(err) {
		t.Errorf("the file stays: %v", err)
	}
}
