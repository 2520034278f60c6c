package connect

import "bytes"

// A SettingsEditor knows where the settings of an agent stand and how our hooks
// get into them and out again.
//
// It works on bytes: the caller reads the file, makes a backup and writes. What
// is not ours stays byte for byte as it was: order, white space, line ends,
// comments. Own tells our commands from those of others; see package function
// Own. A file that cannot be read without doubt is refused with a
// *SettingsError, and an error leaves nothing half-done.
type SettingsEditor interface {
	// SettingsPath returns the file that Install and Uninstall edit, below the
	// agent's home folder.
	SettingsPath(home string) string

	// ProjectSettings returns the files in the folder of a project in which
	// hooks may stand, too. They are looked at and never edited.
	ProjectSettings(dir string) []string

	// PlainHooks lists the hooks of a plain installation, in order. Base is the
	// quoted command line without its subcommand, as CommandPrefix makes it.
	PlainHooks(base string) []Hook

	// Installed lists our hooks in a file, in the order of the text. Off says that
	// the file switches all hooks off, those of others too.
	Installed(data []byte, own func(command string) bool) (hooks []Hook, off bool, err error)

	// Install returns the settings with exactly these hooks of ours in them.
	// Installing twice is installing once. A blank file becomes a fresh one.
	Install(old []byte, hooks []Hook, own func(command string) bool) ([]byte, error)

	// Uninstall removes exactly our entries and what became empty because of it.
	// Uninstall after Install restores the bytes of a file that held none of ours.
	Uninstall(old []byte, own func(command string) bool) ([]byte, error)
}

// A ServerCommand is the command of an agent that registers MCP servers for all
// projects of the user. The commands are words, the program first; the caller runs
// them.
type ServerCommand struct {
	// Add returns the command that registers our server under a name.
	Add func(name string, env Env, program []string) []string

	// Remove returns the command that takes it out, and None reports whether what it
	// printed says that there was none of that name.
	Remove func(name string) []string
	None   func(output string) bool

	// Paths returns the JSON files in which the servers may stand then, an object
	// "mcpServers" by name; the first that exists is the one. user is the user's home
	// folder, home the agent's.
	Paths func(user, home string) []string
}

// A pluginHost is an optional ability of a SettingsEditor: the agent loads plugins,
// and ours brings the hooks and the server along.
type pluginHost interface {
	// PluginFile returns the settings file that says which plugins are switched on, below
	// the agent's home folder. PluginServes reports whether the agent starts the server of
	// the plugin, too.
	PluginFile(home string) string
	PluginServes() bool

	// Plugin returns the name under which our plugin is switched on in a settings
	// file, "" when it is not, or when the file cannot be read.
	Plugin(settings []byte) string
}

// A Hook is one command that a harness runs at an event.
type Hook struct {
	Event   string // as the harness spells it
	Matcher string // which variants of the event; empty means all
	Command string
	Timeout int  // seconds; 0 leaves it to the harness
	Async   bool // the harness does not wait for it

	// Server is the MCP server that is sent the event (HookTool), in place of Command; "" for none.
	Server string
	Key    string // that the server expects (HookKey)
}

// An Edit is a proposed change of a settings file. Old is nil when the file does not exist.
type Edit struct {
	Path     string
	Old, New []byte
}

// Changed reports whether applying e would change anything.
func (e Edit) Changed() bool { return !bytes.Equal(e.Old, e.New) }

// noText reports whether a file says nothing: white space, and a byte order mark.
func noText(data []byte) bool { return len(bytes.Trim(data, "\x00\ufeff \t\r\n")) == 0 }
