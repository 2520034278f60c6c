package doctor

// What tests outside may call.
var (
	ExamineWith = examine
	HookEntries = hookEntries
	Servers     = servers
	ParseLocks  = parseLocks
	Clean       = clean
	JudgeGate   = judgeGate
)

// EntryOf returns the program and the subcommand of a found hook.
func EntryOf(e entry) (event string, line []string) { return e.hook.Event, e.line }

// MaxEntries is how many hooks are found at most.
const MaxEntries = maxEntries
