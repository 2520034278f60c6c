package setup

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/connect"
)

// approvalTime is how long an agent's program may take to say which hooks it runs.
const approvalTime = 20 * time.Second

// Unapproved are hooks of ours that an agent passes over until its user approves them.
type Unapproved struct {
	Client *connect.Client
	Hooks  []connect.Approval
}

// Approvals asks an agent's program which of our hooks it runs.
func Approvals(ctx context.Context, h app.Host, a *connect.Client) ([]connect.Approval, error) {
	if a.Approvals == nil {
		return nil, errors.ErrUnsupported
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	environ := append(config.Environ(), config.AgentHomeName(a.Name)+"="+h.Config.AgentHomes()[a.Name])
	return connect.Trust(ctx, a.Approvals, dir, environ)
}

// UnapprovedHooks asks the agents that were just connected which of our hooks they pass over. One
// that cannot be asked is left out: what its user has to do was said already.
func UnapprovedHooks(ctx context.Context, h app.Host, done []AgentDone) (all []Unapproved) {
	ctx, cancel := context.WithTimeout(ctx, h.Config.Wait(approvalTime))
	defer cancel()
	for _, d := range done {
		a := connect.ByName(d.Agent)
		if a == nil || d.Failed != "" {
			continue
		}
		hooks, err := Approvals(ctx, h, a)
		hooks = slices.DeleteFunc(hooks, func(one connect.Approval) bool { return one.Runs })
		if err == nil && len(hooks) > 0 {
			all = append(all, Unapproved{a, hooks})
		}
	}
	return all
}

// ApproveHooks writes the approval of hooks into the settings of their agent, as the agent does
// when its user approves them there, and returns the file. Uninstall takes it back.
func ApproveHooks(h app.Host, u Unapproved) (path string, err error) {
	s, err := writableStore(h)
	if err != nil {
		return "", err
	}
	done, err := Installer(h, s).Connect(u.Client, connect.Approvals(u.Client, h.Config.AgentHomes()[u.Client.Name], u.Hooks))
	if err != nil {
		return "", err
	}
	return done[0].Path, nil
}
