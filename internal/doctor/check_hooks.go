package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"anamnesis/internal/connect"
	"anamnesis/internal/policy"
)

const runInit = "`anamnesis init` installs them; `anamnesis init --print` shows the change first"

func checkHooks(_ context.Context, p *Target) Result {
	if len(p.Harnesses) == 0 {
		return skip("no coding agent is known on this machine")
	}
	worst, lines, next := OK, []string{}, ""
	say := func(s State, advice, line string) {
		lines = append(lines, line)
		if rank(s) > rank(worst) {
			worst, next = s, advice
		}
	}
	for _, h := range p.Harnesses {
		path := h.settings()
		r, err := readHooks(path, h.Client)
		var wrong *connect.SettingsError
		if h.Plugin != "" && (err == nil || errors.Is(err, fs.ErrNotExist)) && !r.disabled {
			lines = append(lines, fmt.Sprintf("%s: the plugin %s brings the hooks", h.Name, h.Plugin))
			if len(r.entries) > 0 { // the plugin's leave at once, so nothing happens twice
				say(Info, "`anamnesis uninstall --no-mcp` takes the second set out",
					fmt.Sprintf("%s: %s in %s do the same; those do the work", h.Name, plural(len(r.entries), "hook"), path))
			}
			continue
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			say(Bad, runInit, fmt.Sprintf("%s: %s does not exist, so no hook is installed", h.Name, path))
			continue
		case errors.As(err, &wrong):
			say(Bad, "mend the file by hand and run `anamnesis init`", fmt.Sprintf("%s: %s cannot be read: %v", h.Name, path, wrong))
			continue
		case err != nil:
			say(Bad, "mend or replace the file and run `anamnesis init`", fmt.Sprintf("%s: %s cannot be read: %v", h.Name, path, err))
			continue
		}
		if r.disabled {
			say(Bad, "remove `disableAllHooks` from the file", fmt.Sprintf("%s: `disableAllHooks` in %s switches every hook off", h.Name, path))
		} else if off := connect.SwitchedOffIn(h.Client, h.Home); off != "" {
			say(Bad, "ask who manages this machine to allow the hooks of users", fmt.Sprintf("%s: %s switches our hooks off", h.Name, off))
		}
		if len(r.entries) == 0 {
			say(Bad, runInit, fmt.Sprintf("%s: %s holds no hook of ours", h.Name, path))
			continue
		}
		for _, w := range r.missing {
			say(Warn, runInit, fmt.Sprintf("%s: missing: %v", h.Name, w))
		}
		for _, w := range r.twice {
			say(Warn, "`anamnesis init` removes what stands there twice", fmt.Sprintf("%s: installed twice: %v", h.Name, w))
		}
		for _, e := range r.foreign {
			say(Warn, runInit, fmt.Sprintf("%s: a hook of another version: %s: %s", h.Name, e.hook.Event, e.hook.Command))
		}
		for _, w := range r.changed {
			say(Info, "`anamnesis init` sets it back, if you did not mean to change it",
				fmt.Sprintf("%s: changed matcher, time limit or mode: %v", h.Name, w))
		}
		if rank(worst) == 0 {
			lines = append(lines, fmt.Sprintf("%s: %s in %s", h.Name, plural(len(r.entries), "hook"), path))
		}
	}
	return Result{State: worst, Evidence: lines, Next: next}
}

// rank orders states by how much they matter.
func rank(s State) int {
	switch s {
	case Info, Skipped:
		return 1
	case Warn:
		return 2
	case Bad:
		return 3
	}
	return 0
}

func checkHookProgram(ctx context.Context, p *Target) Result {
	seen := make(map[string]bool)
	asked := make(map[string]Result)
	other := func(program string) Result { // each is asked once, however many hooks run it
		if _, ok := asked[program]; !ok {
			asked[program] = p.otherProgram(ctx, program)
		}
		return asked[program]
	}
	worst, lines, next := OK, []string{}, ""
	for _, h := range p.Harnesses {
		r, err := readHooks(h.settings(), h.Client)
		if err != nil {
			continue // the check "hooks" says it
		}
		for _, e := range r.entries {
			s, line, advice := p.judgeEntry(e, other)
			if seen[line] {
				continue
			}
			seen[line] = true
			lines = append(lines, line)
			if rank(s) > rank(worst) {
				worst, next = s, advice
			}
		}
	}
	if len(lines) == 0 {
		return skip("no hook is installed")
	}
	return Result{State: worst, Evidence: lines, Next: next}
}

// again is what mends a hook that runs another program.
const again = "`anamnesis init` points the hooks at this program"

// otherProgram says of which version a program is that hooks run in place of this one.
func (p *Target) otherProgram(ctx context.Context, program string) Result {
	line := fmt.Sprintf("hooks run %s, which is another file than this program, %s", program, p.Self)
	version, err := p.versionOf(ctx, program)
	switch {
	case err != nil:
		return warn(again, fmt.Sprintf("%s, and does not tell its version: %v", line, err))
	case strings.Contains(version, p.Version):
		return info(again, line+", of the same version")
	}
	return warn(again, fmt.Sprintf("%s of version %s: %s", line, p.Version, version))
}

// judgeEntry says what there is to say about the command of one hook, with other of a program that
// is not this one.
func (p *Target) judgeEntry(e entry, other func(program string) Result) (s State, line, next string) {
	differs := func(program string) bool {
		return p.Self != "" && resolveLinks(program) != resolveLinks(p.Self) && strings.HasPrefix(filepath.Base(program), programName)
	}
	if e.hook.Server != "" {
		return p.judgeServerEntry(e)
	}
	if len(e.line) == 0 {
		return Warn, "a command that runs more than one program is not looked into", again
	}
	if home := e.env["ANAMNESIS_HOME"]; home != "" && p.Store != nil && resolveLinks(home) != resolveLinks(p.Store.Root()) {
		return Warn, fmt.Sprintf("hooks work on the store %s, this is %s", home, p.Store.Root()), "`anamnesis init --home FOLDER` with " +
			"the store you want, or set ANAMNESIS_HOME for yourself"
	}
	program := e.line[0]
	switch {
	case strings.HasPrefix(program, "~") || strings.Contains(program, "$"):
		return Info, "hooks run " + program + ", which the shell completes; it was not looked into", again + " by its full path"
	case !filepath.IsAbs(program):
		found := lookPath(p.Path, program)
		if len(found) == 0 {
			return Bad, "hooks run " + program + ", which the PATH does not find", again
		}
		if differs(found[0]) {
			r := other(found[0])
			return r.State, r.Evidence[0], r.Next
		}
		return OK, "hooks run " + program + ", found as " + found[0], ""
	case !runnable(program):
		return Bad, "hooks run " + program + ", which does not exist or cannot be started", again
	case Transient(program, p.TempDirs):
		return Bad, "hooks run " + program + ", in a folder that gets emptied", "install the program where it stays, then run `anamnesis " +
			"init` with it"
	case differs(program):
		r := other(program)
		return r.State, r.Evidence[0], r.Next
	}
	return OK, "hooks run " + program, ""
}

// judgeServerEntry is judgeEntry for a hook that asks a server.
func (p *Target) judgeServerEntry(e entry) (s State, line, next string) {
	switch {
	case p.Store != nil && (e.hook.Key == "" || e.hook.Key != connect.HookKey(p.Store.Root())):
		return Warn, "the server " + e.hook.Server + " refuses the hooks that ask it: they lack the key of this store, so prompts and " +
			"tools are shown nothing", "`anamnesis init` writes the key into them"
	case e.hook.Event == "PreToolUse" && p.Store != nil && there(p.Store.Path(policy.File)):
		return Warn, "the policy for tools is checked by the server " + e.hook.Server + ", and not while that is not connected",
			"`anamnesis init` lets a separate process check each call"
	}
	return OK, "hooks ask the server " + e.hook.Server, ""
}

func checkHooksTwice(_ context.Context, p *Target) Result {
	var lines []string
	looked, off := 0, false
	for _, h := range p.Harnesses {
		for _, path := range h.Also {
			if resolveLinks(path) == resolveLinks(h.settings()) {
				continue
			}
			looked++
			r, err := readHooks(path, h.Client)
			if err == nil && len(r.entries) > 0 {
				lines = append(lines, fmt.Sprintf("%s holds %s of ours", path, plural(len(r.entries), "hook")))
			}
			if err == nil && r.disabled {
				off = true
				lines = append(lines, fmt.Sprintf("`disableAllHooks` in %s switches every hook off there", path))
			}
		}
	}
	switch {
	case off:
		return warn("remove `disableAllHooks` there, if that was not meant", lines...)
	case len(lines) > 0:
		return warn("take our lines out of these files; the hooks of the user's settings serve every project", lines...)
	}
	return ok(plural(looked, "other settings file") + " looked at")
}

// there reports whether something stands at a path.
func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
