package cli

import (
	"fmt"
	"os"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/config"
)

// parentProcess describes the process that started this one, empty when the system does not say.
func parentProcess() (p agent.Process) {
	dir := fmt.Sprintf("/proc/%d/", os.Getppid())
	line, err := os.ReadFile(dir + "cmdline")
	variables, verr := os.ReadFile(dir + "environ")
	input, ierr := os.Readlink(dir + "fd/0")
	if err != nil || verr != nil || ierr != nil {
		return p
	}
	p.Args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	p.Terminal = strings.HasPrefix(input, "/dev/pts/") || strings.HasPrefix(input, "/dev/tty")
	p.Nested = config.Environment{Lookup: func(name string) (string, bool) {
		for v := range strings.SplitSeq(string(variables), "\x00") {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}}.AgentShell() != ""
	return p
}
