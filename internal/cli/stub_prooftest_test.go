//go:build prooftest

package cli

import (
	"os"
	"os/exec"
	"testing"

	"anamnesis/internal/config"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/store"
	"anamnesis/internal/store/bundle"

	"github.com/rogpeppe/go-internal/testscript"
)

// setStubs takes the feature out of this process that ANAMNESIS_STUB names.
func setStubs() {
	if id := os.Getenv("ANAMNESIS_STUB"); id != "" {
		redact.Stubs[id], store.Stubs[id], bundle.Stubs[id], recall.Stubs[id] = true, true, true, true
	}
}

// TestProofsNotice runs every proof with its feature taken out, and requires it
// to fail: a proof that passes without the feature proves nothing.
func TestProofsNotice(t *testing.T) {
	if id := os.Getenv("ANAMNESIS_STUBBED_PROOF"); id != "" {
		p := proofParams(id)
		p.Dir, p.Files = "", []string{"testdata/proof/" + id + ".txtar"}
		testscript.Run(t, p)
		return
	}
	for _, f := range config.Features() {
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			exe, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(exe, "-test.run=^TestProofsNotice$")
			cmd.Env = append(os.Environ(), "ANAMNESIS_STUBBED_PROOF="+f.ID)
			if out, err := cmd.CombinedOutput(); err == nil {
				t.Errorf("the proof of %s passes although the feature is taken out\n%s", f.ID, out)
			}
		})
	}
}
