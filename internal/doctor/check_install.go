package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

const programName = "anamnesis"

// versionLimit is how long another program may take to tell its version.
const versionLimit = 2 * time.Second

func checkBinary(ctx context.Context, p *Target) Result {
	if p.Path == "" || p.Self == "" {
		return skip("neither the search path nor this program's own path is known")
	}
	here := fmt.Sprintf("this is %s, version %s", p.Self, p.Version)
	found := lookPath(p.Path, programName)
	if len(found) == 0 {
		return info("put a link to it into a folder of your PATH, such as ~/.local/bin; hooks work without", here,
			"no folder of the PATH holds `anamnesis`: hooks name the program by its path, but you and agents cannot call it by name")
	}
	if resolveLinks(found[0]) == resolveLinks(p.Self) {
		return ok(here + "; the PATH finds it first")
	}
	first := "the PATH finds " + found[0] + " first"
	other, err := p.versionOf(ctx, found[0])
	if err != nil {
		return warn("remove "+found[0]+", or replace it by this program", here, first, fmt.Sprintf("it does not tell its version: %v", err))
	}
	if strings.Contains(other, p.Version) {
		return info("keep one of the two, so that an update reaches both you and your agents", here, first+", of the same version")
	}
	return warn("keep one of the two: remove "+found[0]+", or replace it by this program", here, first+": "+other)
}

// versionOf asks another program for its version, within its time.
func (p *Target) versionOf(ctx context.Context, program string) (string, error) {
	if p.VersionOf == nil {
		return "another file; its version was not asked", nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.wait(versionLimit))
	defer cancel()
	return p.VersionOf(ctx, program)
}

func checkDuplicates(_ context.Context, p *Target) Result {
	if p.Path == "" {
		return skip("the search path is not known")
	}
	found := lookPath(p.Path, programName)
	if len(found) < 2 {
		return ok(plural(len(found), "program") + " named `anamnesis` on the PATH")
	}
	return warn("keep one and remove the others; after that `anamnesis init` points the hooks at the one that stays", found...)
}

// Transient reports whether a program stands where programs do not stay: in one of the
// folders of temporary files, where the Go tool builds and deletes, or in what npx, pnpm
// and bun download for one run.
func Transient(program string, tempDirs []string) bool {
	program = filepath.ToSlash(resolveLinks(program))
	for _, part := range []string{"/go-build", "/_npx/", "/dlx/", "/dlx-", "/bunx-"} {
		if strings.Contains(program, part) {
			return true
		}
	}
	for _, dir := range tempDirs {
		if dir != "" && strings.HasPrefix(program, strings.TrimSuffix(filepath.ToSlash(resolveLinks(dir)), "/")+"/") {
			return true
		}
	}
	return false
}
