package replica_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/replica"
	"anamnesis/internal/store/storetest"
)

// A repository says which commits it has and which were taken back, whole, bare or
// shallow, and nothing of its configuration runs.
func TestCommits(t *testing.T) {
	dir, ran := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	const invented = "1234567abcdef"
	if got := replica.Commits(t.Context(), dir, env, []string{invented}); got != nil {
		t.Errorf("without a repository: %v", got)
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("commit", "-q", "--allow-empty", "-m", "second")
	id := git("rev-parse", "HEAD")
	git("commit", "-q", "--allow-empty", "-m", "Revert", "-m", "This reverts commit "+id+".")
	by := git("rev-parse", "HEAD")
	tree := git("rev-parse", "HEAD^{tree}")

	// A hostile repository: whatever may run a program would leave a file.
	script := filepath.Join(dir, "evil.sh")
	storetest.WriteProgram(t, script, "#!/bin/sh\ntouch "+ran+"\n")
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "core.sshCommand", "core.askpass", "core.editor", "gpg.program", "diff.external",
		"alias.log", "alias.cat-file", "pager.log", "pager.cat-file", "filter.x.smudge", "credential.helper", "uploadpack.packObjectsHook",
	} {
		git("config", key, script)
	}
	git("config", "log.showSignature", "true")
	git("config", "core.hooksPath", dir)
	git("config", "remote.origin.url", "ext::"+script)
	git("config", "remote.origin.promisor", "true")
	git("config", "core.repositoryFormatVersion", "1")
	git("config", "extensions.partialClone", "origin")

	got := replica.Commits(t.Context(), dir, env, []string{id, id[:7], invented, tree})
	if !got[id] || !got[id[:7]] || got[invented] || got[tree] || len(got) != 4 {
		t.Errorf("commits: %v", got)
	}
	reverts := replica.Reverts(t.Context(), dir, env, time.Now().Add(-time.Hour))
	if len(reverts) != 1 || reverts[0].Commit != id || reverts[0].By != by {
		t.Errorf("reverts: %v", reverts)
	}
	if late := replica.Reverts(t.Context(), dir, env, time.Now().Add(time.Hour)); late != nil {
		t.Errorf("reverts of tomorrow: %v", late)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the repository ran a program of its own")
	}
	if got := replica.Commits(t.Context(), dir, env, []string{"--help"}); got != nil {
		t.Errorf("an option for an id: %v", got)
	}
	for name, args := range map[string][]string{"bare": {"--bare"}, "shallow": {"--depth=1"}} {
		clone := filepath.Join(t.TempDir(), name)
		git(append(append([]string{"-c", "protocol.file.allow=always", "clone", "-q", "--no-local"}, args...), "file://"+dir, clone)...)
		got := replica.Commits(t.Context(), clone, env, []string{by, invented})
		if name == "bare" && (!got[by] || got[invented] || len(got) != 2) || name == "shallow" && got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}
