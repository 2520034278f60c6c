package replica

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// theirRef is where a fetch puts the branch of the remote. refs/remotes/origin/main
// follows only when both sides are one, so the two together tell whether the
// remote still has what it had.
const theirRef = "refs/anamnesis/theirs"

func (g *git) fetch(ctx context.Context) (found bool, err error) {
	if err := os.MkdirAll(g.dir, 0o700); err != nil {
		return false, err
	}
	if err := g.ready(ctx); err != nil {
		return false, err
	}
	if err := g.ensure(ctx); err != nil {
		return false, err
	}
	if err := g.configure(ctx); err != nil {
		return false, err
	}
	if err := g.shell(ctx); err != nil {
		return false, err
	}
	_, err = g.git(ctx, "", "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--refmap=",
		"--end-of-options", "origin", "+refs/heads/main:"+theirRef)
	if err == nil {
		return true, nil
	}
	err = linked("fetch", g.o.Remote, err)
	if strings.Contains(err.Error(), "couldn't find remote ref") {
		return false, nil
	}
	return false, err
}

func (g *git) push(ctx context.Context, commit string) error {
	_, err := g.git(ctx, "", "push", "--porcelain", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed",
		"--end-of-options", "origin", commit+":refs/heads/main")
	return linked("push", g.o.Remote, err)
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

// speaksSSH reports whether an address may be one for ssh.
func speaksSSH(remote string) bool {
	if scheme, _, ok := strings.Cut(remote, "://"); ok {
		return !slices.Contains([]string{"http", "https", "git", "file", "ftp", "ftps"}, strings.ToLower(scheme))
	}
	if filepath.IsAbs(remote) || filepath.VolumeName(remote) != "" {
		return false
	}
	before, _, ok := strings.Cut(remote, ":")
	return ok && !strings.Contains(before, "/")
}

// hidePassword returns a text without the user part of web addresses in it.
func hidePassword(text, remote string) string {
	u, err := url.Parse(remote)
	if err != nil || u.User == nil {
		return text
	}
	if _, has := u.User.Password(); !has && !strings.HasPrefix(u.Scheme, "http") {
		return text
	}
	return strings.ReplaceAll(text, u.User.String()+"@", "")
}
