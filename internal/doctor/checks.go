package doctor

import (
	"context"
)

// A Check looks at one thing.
type Check struct {
	ID    string
	Title string
	Doc   string // what it looks at, one sentence for docs/troubleshooting.md
	Run   func(context.Context, *Target) Result
}

// Checks lists the checks in the order of the answer: from what an agent meets
// first to what is seldom looked at.
var Checks = []Check{
	// check_install.go
	{"binary", "Program", "Which `anamnesis` the agent's search path finds first, and whether it is this one.", checkBinary},
	{"duplicates", "Other installations", "Whether other files named `anamnesis` stand on the search path.", checkDuplicates},
	// check_hooks.go, check_firing.go
	{"hooks", "Hooks", "Whether the agent's settings file can be read and holds the hooks that `anamnesis init` installs.", checkHooks},
	{"hook-program", "Program of the hooks", "Whether the program that the hooks name exists, can be started, stays, and works on " +
		"this store.", checkHookProgram},
	{"hooks-twice", "Hooks in other places", "Whether another settings file holds our hooks too, so that they run twice.", checkHooksTwice},
	{"firing", "Hooks at work", "When hooks last injected, captured and drained, and whether sessions began since that nothing was shown to " +
		"anything.", checkFiring},
	{"told", "Agents without hooks that run", "Whether an agent was at work this week and no hook of it ran.", checkSilent},
	// check_clients.go
	{
		"clients", "Versions of agents", "Whether an installed agent is newer than the newest release that the tests of this program drive; " +
			"no agent is run.", checkClients,
	},
	// check_trust.go
	{
		"trust", "Approval of hooks", "Whether an agent that runs hooks only after an approval runs ours; its own program is asked.", checkTrust,
	},
	{"hook-errors", "Failures of hooks", "What hooks could not do in the last seven days.", checkHookErrors},
	{
		"damaged-sessions", "Damaged sessions", "Files of sessions that were read in the last seven days and have lines that cannot be read.",
		checkDamaged,
	},
	// check_mcp.go
	{
		"mcp-registered", "MCP registration", "Whether the agent knows our MCP server, and whether the program it would start exists.",
		checkRegistered,
	},
	{"mcp-handshake", "MCP handshake", "Whether this program's MCP server starts and answers.", checkHandshake},
	// check_store.go
	{"permissions", "Permissions", "Whether the store belongs to you, is private, and can be written.", checkPermissions},
	{"disk", "Room on the disk", "How much room is left, and what the store takes.", checkDisk},
	{"links", "Links", "Symbolic links and special files among the notes, which are never followed.", checkLinks},
	{
		"unseen", "Notes that nobody reads", "Folders that cannot be read, and notes whose names cannot travel or that stand too deep.",
		checkUnseen,
	},
	// check_project.go
	{"project", "Project of this folder", "Whether the folder, if its project has no notes, may be one that has.", checkProject},
	{"leftovers", "Temporary files", "Temporary files that a crash left in the store.", checkLeftovers},
	{"spool", "Spool", "Sessions that wait to be captured, and for how long.", checkSpool},
	{"poisoned", "Given-up sessions", "Jobs of the spool that were tried too often and set aside.", checkPoisoned},
	{"held", "Waiting for you", "What waits for your decision: drafts, notes, conflicts, files kept off the remote.", checkHeld},
	{
		"orders", "Text that reads like orders", "What was not learnt, and which notes wait, because they read like orders to an agent.",
		checkOrders,
	},
	{
		"authors", "Words of the user", "Notes whose file claims that a person wrote them and that the ledger does not confirm: another " +
			"program changed them, or they came from elsewhere.", checkAuthors,
	},
	{"events", "Event log", "Whether the event log can be read, and its size.", checkEvents},
	// check_locks.go
	{"locks", "Locks", "Which locks of the store are held, by which process, and since when.", checkLocks},
	// check_clock.go
	{
		"clock", "Clock", "Whether files, notes or events are of the future, because this clock or that of another machine is wrong.",
		checkClock,
	},
	// check_index.go
	{"index", "Index", "Whether the index can be read and is whole.", checkIndex},
	{"drift", "Index and files", "Whether the index knows every note as it stands on the disk.", checkDrift},
	{"problems", "Files that are no notes", "Files among the notes that cannot be read as notes, and why.", checkProblems},
	{"set-aside", "Indexes set aside", "Files of other programs that stood where the index belongs.", checkSetAside},
	// check_graph.go
	{
		"graph", "Entities and relations", "Whether each file of entities has its note, can be read, and says each thing once, and whether " +
			"the index has what they say.", checkGraph,
	},
	// check_reader.go
	{"reader", "Reader of sessions", "Whether a model reads ended sessions, which one, and whether its settings are complete.", checkReader},
	// check_recall.go
	{"model", "Word vectors", "Which model makes the vectors of meaning, and how many passages have none yet.", checkModel},
	{
		"local-models", "Models of this machine", "Whether the transformers that settings name are whole, and fast enough for prompts.",
		checkLocalModels,
	},
	{"gate", "Relevance gate", "How the gate is calibrated, and how often it is wrong on the store's own notes.", checkGate},
	{
		"native-memory", "Memory of the agent itself", "Whether the agent keeps its own memory files, which it is shown beside ours.",
		checkNative,
	},
	{
		"follow-up", "Notes that nobody uses", "Whether there are notes that sessions are shown again and again and never act on, or whose " +
			"users contradict them.", checkFollowUp,
	},
	// check_sync.go
	{"git", "git", "Whether git can be started and is new enough to sync.", checkGit},
	{"machine-name", "Name of this machine", "Whether another machine commits under the same name.", checkName},
	{"sync", "Sync", "Whether the remote was reached lately, and what is not sent or taken yet.", checkSync},
	{"not-sent", "Notes that stay here", "Notes that are kept from the remote, and why.", checkNotSent},
	{"conflicts", "Conflicts", "Versions of notes that a merge could not decide between.", checkConflicts},
	// check_team.go
	{"team", "Team", "Whether the team's database answers, and how old the notes of others are that are known here.", checkTeam},
	{
		"server", "Machines without a store", "Whether the server answers that holds the index of this machine, or of those that keep no store.",
		checkServer,
	},
	// check_secrets.go
	{"rules", "Redaction rules", "Whether your own rules of what is a secret (redact.toml) can be read.", checkRules},
	{"secrets", "Secrets", "Whether notes that travel hold what looks like a secret.", checkSecrets},
	// check_policy.go
	{
		"policy", "Policy", "Whether the rules that you wrote for tools (policy-rules.jsonl) can be read, and whether hooks run for them.",
		checkPolicy,
	},
	// check_settings.go
	{"settings", "Settings", "Values that were not used, and settings that have no effect.", checkSettings},
	{"other-settings", "Settings of other programs", "Variables in the environment that the program before this one obeyed and this " +
		"one does not.", checkForeign},
}

// IDs returns the ids of the checks, in their order.
func IDs() []string {
	ids := make([]string, len(Checks))
	for i, c := range Checks {
		ids[i] = c.ID
	}
	return ids
}
