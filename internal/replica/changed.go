package replica

import (
	"context"
	"slices"
	"strings"
)

// maxChanged bounds the files that Changed returns.
const maxChanged = 50

// Changed returns the tracked files of the working tree at dir that differ from its last
// commit, relative to its root. It is nil when git does not say before ctx ends.
func Changed(ctx context.Context, dir string, env []string) []string {
	s := openStranger(dir)
	if s == nil {
		return nil
	}
	out, _ := s.ask(ctx, env, question{index: true, args: []string{
		"status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames",
	}})
	var files []string
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > 3 && len(files) < maxChanged { // two letters of state and a space
			files = append(files, entry[3:])
		}
	}
	return files
}

// recentCommits is how many commits say what was worked on lately.
const recentCommits = "5"

// Recent returns the files that the last commits at dir changed, those of the newest last,
// relative to the root of the working tree. It is nil when git does not say before ctx ends.
func Recent(ctx context.Context, dir string, env []string) []string {
	s := openStranger(dir)
	if s == nil || s.head == "" {
		return nil
	}
	out, _ := s.ask(ctx, env, question{args: []string{
		"log", "-n", recentCommits, "--first-parent", "--name-only", "--no-ext-diff", "--no-textconv", "--no-renames", "--format=", "-z",
	}})
	var files []string
	for file := range strings.SplitSeq(out, "\x00") {
		if file = strings.Trim(file, "\n"); file != "" && len(files) < maxChanged && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	slices.Reverse(files)
	return files
}
