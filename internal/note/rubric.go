package note

// Rubric says what is worth a note, in at most 70 tokens. The instructions of the MCP server, the
// plugin's skill and the block at a session's start hold it.
const Rubric = "Keep with memory_write what holds beyond this task: corrections, rules, decisions, fixes that took long. " +
	"The title is the rule as an order; add why, and quote the user. Do not keep tasks, status, guesses, what the code says."
