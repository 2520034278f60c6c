package cli

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// keep NAME REGEXP sets a variable to what the group of the expression found in the last
// standard output.
func cmdKeep(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "keep NAME REGEXP")
	found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("no match for %q", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// unreadable HUB WORD... checks that no word stands in a repository: not in its
// refs, and in no object that it holds, whole or as git stores it.
func cmdUnreadable(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "unreadable HUB WORD...")
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).CombinedOutput()
		ts.Check(err)
		return string(out)
	}
	hub := "--git-dir=" + ts.MkAbs(args[0])
	all := git(hub, "for-each-ref") + git(hub, "cat-file", "--batch", "--batch-all-objects", "--unordered")
	if strings.Count(all, "sealed\n") < 2 {
		ts.Fatalf("there is no commit in it")
	}
	for id := range strings.Lines(git(hub, "for-each-ref", "--format=%(objectname)")) {
		all += git(hub, "log", "--format=fuller", "--stat", strings.TrimSpace(id))
	}
	for _, word := range args[1:] {
		if bytes.Contains(bytes.ToLower([]byte(all)), bytes.ToLower([]byte(word))) {
			ts.Fatalf("the hub holds %q", word)
		}
	}
}
