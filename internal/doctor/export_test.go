package doctor

import "anamnesis/internal/connect"

// What tests outside may call.
var (
	ExamineWith = examine
	Servers     = connect.Default().OurServers
	ParseLocks  = parseLocks
	Clean       = clean
	JudgeGate   = judgeGate
)

// HookEntries finds our hooks in the settings of the default agent.
func HookEntries(data []byte) ([]entry, bool, error) {
	return hookEntries(connect.Default().Settings, data)
}

// EntryOf returns the program and the subcommand of a found hook.
func EntryOf(e entry) (event string, line []string) { return e.hook.Event, e.line }

// MaxEntries is how many hooks are found at most.
const MaxEntries = maxEntries
