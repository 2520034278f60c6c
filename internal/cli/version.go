package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The linker sets these in releases: the version, the commit and the time of the commit.
var version, revision, revised string

// buildVersion is the release, else what the Go toolchain knows.
func buildVersion() string {
	if version != "" {
		return version
	}
	if bi, ok := debug.ReadBuildInfo(); ok && bi.Main.Version != "" {
		return bi.Main.Version
	}
	return "(devel)"
}

// buildCommit is the commit that the program was built from and its time, "" where the
// toolchain did not know; "+changes" says that files had been changed.
func buildCommit() (commit, at string) {
	bi, ok := debug.ReadBuildInfo()
	if revision != "" || !ok {
		return revision, revised
	}
	for _, s := range bi.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value + commit
		case s.Key == "vcs.time":
			at = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			commit += "+changes"
		}
	}
	return commit, at
}

// versionLine is what --version prints.
func versionLine() string {
	return fmt.Sprintf("anamnesis %s %s/%s %s\n", buildVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func newVersion(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if p.json {
				commit, at := buildCommit()
				return p.emit(struct {
					header
					Version string `json:"version"`
					Commit  string `json:"commit"`
					Date    string `json:"date"` // of the commit
					Go      string `json:"go"`
					OS      string `json:"os"`
					Arch    string `json:"arch"`
				}{head("version"), buildVersion(), commit, at, runtime.Version(), runtime.GOOS, runtime.GOARCH})
			}
			p.printf("%s", versionLine())
			return nil
		},
	}
}
