package doctor

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"anamnesis/internal/connect"
	"anamnesis/internal/index"
	"anamnesis/internal/recall"
	"anamnesis/internal/redact"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
)

// A Target is what is looked at. Every field may be left out: the checks that
// need it are then Skipped. Functions are called from several goroutines, must
// obey their context and change nothing, but for those that a Fix calls.
type Target struct {
	Store    *store.Store
	Index    *index.Index
	Engine   *recall.Engine
	Redactor *redact.Redactor
	Now      func() time.Time // nil means the store's clock

	Self     string   // path of this executable
	Version  string   // of this executable
	Path     string   // $PATH as the agent sees it
	TempDirs []string // folders that get emptied; a program that hooks run must not stand in one
	Disabled bool     // hooks do nothing (ANAMNESIS_DISABLED)
	// VersionOf asks another program of ours for its version.
	VersionOf func(ctx context.Context, program string) (string, error)

	Harnesses []Harness
	Settings  []Setting // of all sources
	Warnings  []string  // values that were not used, and why
	Foreign   []string  // names in the environment that other programs obeyed and this one does not

	IndexErr   error                                                // why Index is nil
	RulesErr   error                                                // why the user's redaction rules cannot be read
	Allowed    func(path string, data []byte) bool                  // the owner let this file go as it is; path is below memory/
	Sync       func(ctx context.Context) (replica.SyncState, error) // asks no remote
	Waiting    func(ctx context.Context) ([]string, error)          // for a decision of the user, a line for each kind
	Namesakes  func(ctx context.Context) ([]string, error)          // other machines that commit under this machine's name
	GitVersion func(ctx context.Context) (string, error)            // what `git --version` says
	Team       func(ctx context.Context) (Team, error)              // asks the team's database; nil without one
	Server     func(ctx context.Context) ([]string, error)          // asks the server of the index, or of the sync; nil without one
	Models     func(ctx context.Context) []LocalModel               // opens and tries those that settings name
	Reader     func() (string, error)                               // of ended sessions, and why it cannot be asked
	Project    func(ctx context.Context) (string, error)            // the line about the project that this folder may be, "" for none
	Handshake  func(ctx context.Context) error                      // starts this program's MCP server and initialises it
	Room       func(dir string) (int64, error)                      // bytes that are free on its disk; nil asks the system

	// Graph looks at the files of entities: those that something is wrong with, and how many there are.
	Graph     func(ctx context.Context) (wrong []index.SidecarState, all int, err error)
	MendGraph func(ctx context.Context) error // for a Fix: mends them

	Reindex func(ctx context.Context) error // for a Fix: rebuilds the index
	Drain   func(ctx context.Context) error // for a Fix: works on the spool

	Limit    time.Duration // of one check; 0 means the usual
	Patience float64       // multiplies the usual limits; 0 means 1

	shared *shared       // what several checks look at, looked at once
	budget time.Duration // of a check that looks into every note
}

// A Harness is a coding agent on this machine.
type Harness struct {
	*connect.Client
	Home         string   // its folder
	SessionHome  string   // folder of its sessions, "" for Home
	SettingsPath string   // where init installs hooks; "" means what the harness says
	Also         []string // other settings files it reads, such as a project's
	ServersPath  string   // JSON file in which MCP servers of the user are registered, "" when unknown
	Register     string   // command that registers ours
	Own          connect.OwnMemory
	Plugin       string // name of our plugin in it, "" for none; it brings hooks and server along

	// Trust asks the agent which of our hooks it runs, and which wait for an approval; nil for
	// an agent that asks for none.
	Trust func(ctx context.Context) ([]connect.Approval, error)

	Install func(ctx context.Context) error // for a Fix: installs our hooks
}

// settings returns the path of the file that init edits.
func (h Harness) settings() string {
	if h.SettingsPath != "" {
		return h.SettingsPath
	}
	return h.Settings.SettingsPath(h.Home)
}

// sessions returns the folder of its sessions.
func (h Harness) sessions() string { return cmp.Or(h.SessionHome, h.Home) }

// files lists the files below the harness's home that match patterns.
func (h Harness) files(patterns []string) (all []string) {
	for _, pattern := range patterns {
		paths, _ := filepath.Glob(filepath.Join(h.sessions(), filepath.FromSlash(pattern)))
		all = append(all, paths...)
	}
	return all
}

// A Team says how things stand with the database that a team shares.
type Team struct {
	Half     bool          // it has an address and no workspace, or a workspace and no address
	Err      error         // why it does not answer
	Lines    []string      // what it is
	Mirrored int           // notes of others that are known here
	Age      time.Duration // since it was last asked; 0 when it never was
	Held     int           // notes of shared projects that stay here
	Copied   error         // why the name under which this machine shares is not its own; nil when it is
}

// A Setting is a value that somebody set.
type Setting struct {
	Name      string
	Source    string // flag, env, file
	HasEffect bool
	Why       string // it has none
}

func (p *Target) now() time.Time {
	switch {
	case p.Now != nil:
		return p.Now()
	case p.Store != nil:
		return p.Store.Now()
	}
	return time.Now()
}
