package doctor_test

import (
	"testing"

	"anamnesis/internal/doctor"
)

func TestTransient(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/ada/.npm/_npx/1a2b/node_modules/anamnesis-memory-linux-x64/bin/anamnesis": true,
		"/home/ada/.cache/pnpm/dlx/1a2b/node_modules/.bin/anamnesis":                     true,
		"/var/lib/bunx-0-anamnesis-memory/anamnesis":                                     true,
		"/home/ada/.cache/go-build/ab/anamnesis":                                         true,
		"/scratch/x/anamnesis":                                                           true,
		"/scratchpad/x/anamnesis":                                                        false,
		"/usr/lib/node_modules/anamnesis-memory-linux-x64/bin/anamnesis":                 false,
		"/home/ada/.local/bin/anamnesis":                                                 false,
	} {
		if got := doctor.Transient(path, []string{"/scratch", ""}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
