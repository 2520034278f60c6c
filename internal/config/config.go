// Package config is the fuse box: every setting and feature of the program,
// declared once, bound to one field of the room that obeys it.
//
// The rooms own plain Options and know no environment; this package owns the
// names, the defaults and the sentences, and is the only one below cli that
// reads the environment. A value comes, first match wins, from --set, the
// environment, config.json, the default.
//
// Failure policy: reading never fails on a bad value; the default stands and a
// warning tells which value was not used. Writing never replaces a file that
// could not be understood.
package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/capture"
	"anamnesis/internal/ingest"
	"anamnesis/internal/inject"
	"anamnesis/internal/note"
	"anamnesis/internal/recall"
	"anamnesis/internal/reflection"
	"anamnesis/internal/session"
	"anamnesis/internal/store/lifecycle"
	"anamnesis/internal/team"
	"anamnesis/internal/team/repo"
)

// A Config holds the value of every setting.
type Config struct {
	Home       string // the store's root
	UserHome   string // the user's home folder
	ClaudeHome string // Claude Code's folder
	Others     Others // folders of other memories
	Agents     Agents // folders of coding agents
	MachineID  string
	Disabled   bool    // hooks do nothing
	Patience   float64 // see Wait

	Ingest     ingest.Options
	Recall     recall.Options
	Inject     inject.Options
	ModeID     string // as it was chosen; "" for the usual one
	Mode       note.Mode
	SkillsDir  string // in which skills are looked for instead of the agents' own folders
	Capture    capture.Options
	Unread     Unread
	Sessions   session.Options
	Reflection reflection.Options
	Sync       Sync
	Index      Index
	Lifecycle  lifecycle.Options
	Team       team.Options
	TeamRepo   repo.Options
	Events     Events
	Models     Models

	Warnings []string // values that were not used, and why
	Mistaken []string // what stands in --set and cannot be used, and why

	unknown map[string]string // keys of config.json that nothing is bound to
	sources map[string]Source // by key; that of a default has none
	invalid error             // config.json could not be read
}

// Sync holds the settings of the notes' repository.
type Sync struct {
	On      bool
	Remote  string
	Timeout float64 // seconds one git command may take
}

// Index says where the index of this machine is.
type Index struct {
	Server string // address of the database for machines without a store; "" when there is none
	Away   bool   // this is such a machine
}

// Agents says where coding agents keep their settings and sessions.
type Agents struct {
	Gemini    string // the folder in which .gemini stands
	Copilot   string
	Cursor    string
	Hermes    string
	XDGConfig string // in which several keep a folder of settings
	XDGData   string // in which several keep a folder of sessions
}

// Others says where other memories stand, for import.
type Others struct {
	Codex     string // Codex's folder
	Learnings string // the notes of reflect
	Reflect   string // its state and its database
	Native    bool   // import agents' memory files at a sync and at the end of a session
	Past      bool   // a background run takes in past sessions that an agent is going to delete
}

// Events holds the settings of the event log.
type Events struct {
	Queries bool // keep the (redacted) text of searches
}

// Wait returns how long to wait where d is usual.
func (c *Config) Wait(d time.Duration) time.Duration {
	return time.Duration(float64(d) * c.Patience)
}

// A Source says where a value comes from.
type Source string

// The sources, strongest first.
const (
	FromFlag    Source = "flag"
	FromEnv     Source = "env"
	FromFile    Source = "file"
	FromDefault Source = "default"
)

// An Environment is what Load reads: the process's own, or a test's.
type Environment struct {
	Lookup   func(name string) (string, bool)
	Names    func() []string // of all variables; nil means nobody knows
	UserHome string
	Hostname string
	Flags    []string // KEY=VALUE, from --set
	Dir      string   // the working directory, whose project may choose a mode; "" asks none
	Written  bool     // by init, into a file of an agent that started this process; so is that of a HookMark
}

// Process returns the environment of this process.
func Process(flags []string) Environment {
	home, _ := os.UserHomeDir()
	host, _ := os.Hostname()
	dir, _ := os.Getwd()
	return Environment{Lookup: os.LookupEnv, Names: names, UserHome: home, Hostname: host, Dir: dir, Flags: flags}
}

// agentShells are the variables that clients set in the shells of their agents, and that no terminal of a person has
// (docs/agents/measured.md). That of Cursor is named by its makers; the others were seen, and the tests that drive the
// released clients fail when one is no longer set.
var agentShells = []string{"CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE", "COPILOT_CLI", "CURSOR_AGENT"}

// AgentShell returns the variable by which the process knows that it runs in the shell of an
// agent, "" when it does not.
func (e Environment) AgentShell() string {
	if e.Lookup == nil {
		return ""
	}
	for _, name := range agentShells {
		if v, ok := e.Lookup(name); ok && v != "" && v != "0" {
			return name
		}
	}
	return ""
}

// ByProgram reports whether a program runs the agent whose hook this process is, as Claude Code says it: `claude -p`, an SDK.
func (e Environment) ByProgram() bool {
	if e.Lookup == nil {
		return false
	}
	entry, _ := e.Lookup("CLAUDE_CODE_ENTRYPOINT")
	return strings.HasPrefix(entry, "sdk-")
}

// Environ returns the environment of this process, for children (git, a model's
// command line), which need PATH, HOME and the user's ssh agent.
func Environ() []string { return os.Environ() }

// names lists the variables of this process.
func names() []string {
	var all []string
	for _, v := range os.Environ() {
		if name, _, ok := strings.Cut(v, "="); ok && name != "" {
			all = append(all, name)
		}
	}
	return all
}

// UnknownVariables lists the variables of an environment that look like settings and are
// none: misspelled, or of a program before this one.
func UnknownVariables(env Environment) []string {
	if env.Names == nil {
		return nil
	}
	known := []string{
		HookMark, "ANAMNESIS_DISABLED", "REFLECT_DISABLED", "ANAMNESIS_CI", "ANAMNESIS_BIN", "ANAMNESIS_TEST_POSTGRES", "ANAMNESIS_TEST_PGLITE",
		"ANAMNESIS_TEST_CLAUDE", "ANAMNESIS_TEST_CODEX", "ANAMNESIS_TEST_COPILOT", "ANAMNESIS_TEST_GEMINI", "ANAMNESIS_TEST_OPENCODE",
		"ANAMNESIS_TEST_ONNX",
	}
	c := &Config{}
	for _, r := range c.rows() {
		known = append(known, r.Env)
	}
	var all []string
	for _, name := range env.Names() {
		ours := strings.HasPrefix(name, "ANAMNESIS_") || strings.HasPrefix(name, "RECALL_") || strings.HasPrefix(name, "REFLECT_")
		if ours && !slices.Contains(known, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// Load works out every setting. The store's folder is settled first, because
// config.json stands in it.
func Load(env Environment) *Config {
	c := &Config{UserHome: env.UserHome, sources: make(map[string]Source), unknown: make(map[string]string)}
	flags := make(map[string]string)
	for _, f := range env.Flags {
		key, value, ok := strings.Cut(f, "=")
		row := c.find(key)
		if !ok || row == nil {
			c.Mistaken = append(c.Mistaken, fmt.Sprintf("--set %s: no such setting; `anamnesis config list` names them", f))
			continue
		}
		flags[row.Key] = value
	}
	c.Recall.Tuning = recall.Tuned()
	rows := c.rows()
	c.apply(rows[:1], env, flags, nil) // home
	if v, set := env.Lookup(rows[0].Env); set && v != "" && c.SourceOf("home") == FromDefault {
		c.Home = "" // it cannot be used, and another store is not what was asked for
		c.Warnings = slices.DeleteFunc(c.Warnings, func(w string) bool { return strings.HasPrefix(w, "home (env)") })
		c.warn("ANAMNESIS_HOME %q cannot be used: it must be one line without control characters, of at most 4096 bytes", v)
	} else {
		c.Home = expand(c.Home, env.UserHome)
	}
	file := c.readFile()
	own := c.ownAddresses(file)
	env = withoutCarried(env, file)
	c.apply(rows[1:], env, flags, file)
	c.bindKeys(own, env)
	c.chooseMode(env, rows[1:])
	c.Index.Away = c.Index.Server != "" && c.SourceOf("index.server") != FromFile // config.json stands in a store
	for _, dir := range []*string{
		&c.ClaudeHome, &c.Others.Codex, &c.Others.Learnings, &c.Others.Reflect,
		&c.Agents.Gemini, &c.Agents.Copilot, &c.Agents.Cursor, &c.Agents.Hermes, &c.Agents.XDGConfig, &c.Agents.XDGData,
		&c.Models.Chat.Folder,
	} {
		if *dir != "" {
			*dir = expand(*dir, env.UserHome)
		}
	}
	if c.MachineID == "" {
		c.MachineID = env.Hostname
	}
	if c.MachineID = strings.TrimSpace(c.MachineID); c.MachineID == "" {
		c.MachineID = "unknown"
	}
	c.Ingest.MachineID, c.Capture.MachineID = c.MachineID, c.MachineID
	c.Capture.MaxTokens = c.Reflection.MaxTokens
	c.Recall.GapLog, c.Recall.Patience = c.Events.Queries, c.Patience
	c.Capture.Slots = c.Inject.Slots
	c.Disabled = disabled(env)
	return c
}

// HookMark is the variable that says that a command line was written by init.
const HookMark = "ANAMNESIS_HOOK"

// withoutCarried hides the variables that init writes into the command lines of
// hooks and servers, in a process that was started by one of these: config.json
// holds the same since then, and is what `config set` changes.
func withoutCarried(env Environment, file map[string]string) Environment {
	_, machine := file["machine_id"]
	_, remote := file["remote"]
	mark, _ := env.Lookup(HookMark)
	if mark != "1" && !env.Written || !machine && !remote {
		return env
	}
	lookup := env.Lookup
	env.Lookup = func(name string) (string, bool) {
		if name == "ANAMNESIS_MACHINE_ID" && machine || name == "ANAMNESIS_GIT_REMOTE" && (remote || machine) {
			return "", false
		}
		return lookup(name)
	}
	return env
}

// disabled reports whether hooks do nothing in env: it is how children of ours,
// and whoever wants peace, keep sessions from being remembered.
func disabled(env Environment) bool {
	for _, name := range []string{"ANAMNESIS_DISABLED", "REFLECT_DISABLED"} {
		v, _ := env.Lookup(name)
		if on, ok := parseBool(v); ok && on {
			return true
		}
	}
	return false
}

// apply gives every row its value.
func (c *Config) apply(rows []Setting, env Environment, flags, file map[string]string) {
	for i := range rows {
		s := &rows[i]
		if err := s.set(s.Default); err != nil {
			panic("default of " + s.Key + ": " + err.Error()) // unreachable: a test sets every default
		}
		for _, source := range [...]Source{FromFile, FromEnv, FromFlag} { // the weakest first
			var v string
			var ok bool
			switch source {
			case FromFile:
				v, ok = file[s.Key]
			case FromEnv:
				v, ok = env.Lookup(s.Env)
				ok = ok && (v != "" || s.emptyIsOff)
			default:
				v, ok = flags[s.Key]
			}
			if !ok {
				continue
			}
			if err := s.set(v); err != nil {
				if source == FromFlag {
					c.Mistaken = append(c.Mistaken, fmt.Sprintf("--set %s: %v", s.Key, err))
					continue
				}
				beyond := s.nearest(v)
				c.warn("%s (%s): %v; using %s", s.Key, source, err, cmp.Or(s.shown(), "none"))
				if beyond {
					c.sources[s.Key] = source
				}
				continue
			}
			c.sources[s.Key] = source
		}
		delete(file, s.Key)
	}
}

// expand replaces a leading ~ and makes the path absolute.
func expand(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) {
		if home == "" {
			return path // nobody can say where that is; whoever needs it says so
		}
		path = filepath.Join(home, path[1:])
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
