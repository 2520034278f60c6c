package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// Events stand in the file of what a session was shown, and neither reads the other.
func TestNoted(t *testing.T) {
	s := storetest.At(t, 1)
	shown := s.Spool().ShownLog("one", "")
	if got, err := shown.Observed(); err != nil || got != nil {
		t.Fatalf("nothing was noted: %v, %v", got, err)
	}
	for _, err := range []error{
		shown.Begin(true), shown.Note(store.Observed{Kind: "permission", Tool: "Bash"}), shown.Prompt(),
		shown.Note(store.Observed{Kind: "tool-failure", Tool: strings.Repeat("x", 10_000)}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(s.Path("spool/told/*"))
	f, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("{\"noted\": torn\n"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	got, err := shown.Observed()
	if err != nil || len(got) != 2 || got[0].Kind != "permission" || got[0].Tool != "Bash" || got[0].At.IsZero() || len(got[1].Tool) > 300 {
		t.Errorf("%+v, %v", got, err)
	}
	if st, err := shown.State(); err != nil || !st.Prompted || st.Started.IsZero() {
		t.Errorf("what it was shown: %+v, %v", st, err)
	}
}
