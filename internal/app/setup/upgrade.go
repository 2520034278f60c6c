package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/upgrade"
)

// A Build is what the build of a release put into the program; a build of one's own has
// none of it.
type Build struct {
	Version   string
	Address   string // of the folder in which the files of the newest release are
	PublicKey string // that signs releases
}

// UpgradeOptions say which program takes the place of this one.
type UpgradeOptions struct {
	Build

	Apply    bool
	Rollback bool   // the former one, instead of the newest release
	From     string // address of releases; "" is that of the build
}

// UpgradeAnswer says from what to what.
type UpgradeAnswer struct {
	Program string `json:"program"` // the file that is replaced
	Origin  string `json:"origin"`  // who put it there
	Command string `json:"run"`     // that upgrades it instead of us; "" when we do
	From    string `json:"from"`
	To      string `json:"to"`    // "" when nobody was asked
	Newer   bool   `json:"newer"` // To comes after From, or is the former program
	Archive string `json:"archive"`
	SHA256  string `json:"sha256"`
	Former  string `json:"former"` // where the replaced program stays
	Applied bool   `json:"applied"`
}

// startTime is how long the new program may take to tell its version.
const startTime = 30 * time.Second

// Upgrade tells which program would take the place of this one, and with Apply puts it there.
func Upgrade(ctx context.Context, h app.Host, o UpgradeOptions) (a UpgradeAnswer, err error) {
	if a.Program, err = Self(); err != nil {
		return a, err
	}
	a.From, a.Former = cmp.Or(o.Version, "(devel)"), upgrade.Former(a.Program)
	origin := upgrade.OriginOf(a.Program, o.Version != "")
	if a.Origin, a.Command = origin.Name, origin.Command; a.Command != "" {
		if o.Apply {
			return a, app.Errorf(app.Failed, "upgrade: %s is not ours to replace; `%s` brings a newer one; nothing was changed",
				a.Program, a.Command)
		}
		return a, nil
	}
	if o.Rollback {
		return rollBack(ctx, a, o.Apply)
	}
	source := upgrade.Source{Address: cmp.Or(o.From, o.Address), Key: o.PublicKey, Proxy: h.Config.Models.Network.Proxy}
	offer, err := source.Newest(ctx)
	if err != nil {
		return a, fmt.Errorf("upgrade: %w", err)
	}
	a.To, a.Archive, a.SHA256 = offer.Version, offer.Archive, offer.SHA256
	if a.Newer = upgrade.Newer(a.To, a.From); !a.Newer || !o.Apply {
		return a, nil
	}
	program, err := source.Fetch(ctx, offer)
	if err != nil {
		return a, fmt.Errorf("upgrade: %w", err)
	}
	staged, err := upgrade.Stage(a.Program, program)
	if errors.Is(err, fs.ErrPermission) {
		return a, fmt.Errorf("upgrade: %w; run it as the user who may write there", err)
	}
	if err != nil {
		return a, fmt.Errorf("upgrade: %w", err)
	}
	if err = tryProgram(ctx, staged, a.To); err == nil {
		err = upgrade.Swap(a.Program, staged)
	}
	if err != nil {
		return a, errors.Join(fmt.Errorf("upgrade: %w; nothing was changed", err), os.Remove(staged))
	}
	a.Applied = true
	return a, nil
}

// tryProgram starts a program that was checked, once, before anything depends on it.
func tryProgram(ctx context.Context, program, want string) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	version, err := app.VersionOf(ctx, program)
	if err == nil && version != want {
		err = fmt.Errorf("it says that it is version %s", version)
	}
	if err != nil {
		return fmt.Errorf("the program of the release does not run here: %w", err)
	}
	return nil
}

// rollBack brings the former program back.
func rollBack(ctx context.Context, a UpgradeAnswer, apply bool) (UpgradeAnswer, error) {
	if _, err := os.Lstat(a.Former); err != nil {
		return a, app.Errorf(app.NotFound, "upgrade: there is no former program in %s; `anamnesis upgrade` keeps one when it replaces it",
			a.Former)
	}
	version, err := app.VersionOf(ctx, a.Former)
	if err != nil {
		return a, fmt.Errorf("upgrade: %s does not run: %w", a.Former, err)
	}
	if a.To, a.Newer = version, true; !apply {
		return a, nil
	}
	if err := upgrade.Rollback(a.Program); err != nil {
		return a, fmt.Errorf("upgrade: %w", err)
	}
	a.Applied = true
	return a, nil
}
