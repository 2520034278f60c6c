package agent

// A Call is what a tool is about to do or has done, in words of no agent. Its texts
// come from a model and are not trusted; what was not as it should be is empty.
type Call struct {
	Files   []string // that it writes, as the agent names them
	Text    string   // that it takes out of them and puts in, at most maxCallText bytes a piece
	Command string   // that it hands to a shell

	Task     string // that it gives to a sub-agent
	TaskType string // the kind of sub-agent; "" for the usual one
}

// Bounds of what is read of a call.
const (
	maxCallEdits = 32
	maxCallText  = 16 << 10
)
