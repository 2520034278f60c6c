package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// theirRef is where a fetch puts the branch of the remote. refs/remotes/origin/main
// follows only when both sides are one, so the two together tell whether the
// remote still has what it had.
const theirRef = "refs/anamnesis/theirs"

// hub is the name under which git itself knows the remote. It is not
// origin: what the user's configuration says of an origin (that it is a mirror,
// that pushes go elsewhere, a program to run there) is not meant for this one.
// Nobody has a remote of this name, whose settings would be added to ours.
const hub = "anamnesis.hub.internal"

// link are the settings that go with the name. An address for
// pushes keeps pushInsteadOf from sending them where nothing is fetched from.
//
// A hub that is a path runs as us. Its hooks, and the program that it names for its
// alternates, are switched off: git passes no settings of ours on to it.
func (g *git) link() []string {
	settings := []string{
		"remote." + hub + ".url=" + g.o.Remote,
		"remote." + hub + ".pushurl=" + g.o.Remote,
		"remote." + hub + ".fetch=+refs/heads/*:refs/remotes/origin/*",
		"remote." + hub + ".mirror=false",
	}
	if _, path := LocalPath(g.o.Remote); path || strings.HasPrefix(strings.ToLower(g.o.Remote), "file:") {
		quiet := "'" + strings.ReplaceAll(g.program, "'", `'\''`) + "' -c core.hooksPath=" + os.DevNull + " -c core.alternateRefsCommand=true "
		settings = append(settings, "remote."+hub+".uploadpack="+quiet+"upload-pack", "remote."+hub+".receivepack="+quiet+"receive-pack")
	}
	return settings
}

// sweepRefs removes the locks that a fetch of ours left when it was killed. No other
// run of ours is at work, and no git of ours works for that long.
func (g *git) sweepRefs() error {
	at := filepath.Join(g.dir, ".git", filepath.FromSlash(theirRef)+".lock")
	info, err := os.Lstat(at)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	if age := time.Since(info.ModTime()); age < 2*g.o.Timeout {
		return fmt.Errorf("%w: %s is there: a fetch of a run that was killed may still be at work; a sync after %v removes it",
			ErrBlocked, at, 2*g.o.Timeout)
	}
	if err := os.Remove(at); err != nil {
		return fmt.Errorf("remove what a killed fetch left: %w", err)
	}
	return nil
}

// prepare makes the repository what an exchange needs.
func (g *git) prepare(ctx context.Context) error {
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
		return err
	}
	if err := g.ready(ctx); err != nil {
		return err
	}
	if err := g.ensure(ctx); err != nil {
		return err
	}
	if err := g.configure(ctx); err != nil {
		return err
	}
	return g.sweepRefs()
}

func (g *git) Fetch(ctx context.Context) (found bool, err error) {
	if err := g.prepare(ctx); err != nil {
		return false, err
	}
	if err := g.shell(ctx); err != nil {
		return false, err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap="}
	if g.opaque {
		args = append(args, "--depth=1")
	}
	_, err = g.git(ctx, "", append(args, "--end-of-options", hub, "+refs/heads/main:"+theirRef)...)
	if err == nil {
		if err = g.bounded(ctx); err == nil {
			err = g.whole(ctx)
		}
		if err == nil {
			err = g.known(ctx)
		}
		return true, err
	}
	err = linked("fetch", HidePassword(g.o.Remote), err)
	if strings.Contains(err.Error(), "couldn't find remote ref") {
		// What it had is no longer what it has.
		return false, g.locked(ctx, "", "update-ref", "-d", theirRef)
	}
	var link *LinkError
	if !errors.As(err, &link) || link.Kind != LinkDown {
		return false, err
	}
	if at, missing := absent(g.o.Remote, g.dir); missing {
		err = &LinkError{LinkDown, fmt.Errorf("there is nothing at %s; `git init --bare` makes a repository there, if nothing has to be "+
			"plugged in", at)}
	} else if strings.Contains(err.Error(), "does not appear to be a git repository") && g.remains() {
		err = damaged("fetch from "+HidePassword(g.o.Remote), "parts of a repository are there, and others are missing")
	}
	return false, err
}

func (g *git) Push(ctx context.Context, commit string) error { return g.push(ctx, commit, "") }

// push offers a commit; with the name of another one it takes that one's place, if that is
// still what the remote has.
func (g *git) push(ctx context.Context, commit, instead string) error {
	args := []string{"push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed"}
	if instead != "" {
		args = append(args, "--force-with-lease=refs/heads/main:"+instead)
	}
	_, err := g.git(ctx, "", append(args, "--end-of-options", hub, commit+":refs/heads/main")...)
	err = linked("push", HidePassword(g.o.Remote), err)
	var link *LinkError
	if errors.As(err, &link) && link.Kind == LinkMoved {
		if lock, age := g.hubLock(); age > staleLock {
			return &LinkError{LinkRefused, fmt.Errorf("push to %s: %w: %s is %v old, so the git that made it is probably dead; delete the file "+
				"if no git is running there", HidePassword(g.o.Remote), ErrRefused, lock, age.Round(time.Minute))}
		}
	}
	return err
}

// shell finds out how to call ssh, once: as the user says, else so that it
// neither asks nor waits.
func (g *git) shell(ctx context.Context) error {
	if g.ssh != nil || !speaksSSH(g.o.Remote) {
		return nil
	}
	for _, kv := range g.o.Env {
		if key, value, _ := strings.Cut(kv, "="); value != "" && (key == "GIT_SSH_COMMAND" || key == "GIT_SSH") {
			g.ssh = []string{}
			return nil
		}
	}
	out, err := g.run(ctx, call{args: []string{"config", "--get", "core.sshCommand"}, network: true})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	g.ssh = []string{}
	if strings.TrimSpace(out) == "" {
		g.ssh = []string{"GIT_SSH_COMMAND=ssh -o BatchMode=yes -o ConnectTimeout=10"}
	}
	return nil
}
