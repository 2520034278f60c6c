package note

// Rubric says what is worth a note, in at most 50 tokens. The instructions of the MCP server, the
// plugin's skill and, for agents whose model does not read those instructions, the page of a
// session hold it.
const Rubric = "Keep with `memory_write` what holds beyond this task: corrections, rules, decisions, hard-won fixes. The title is the " +
	"rule as an order; add why and the user's words. No tasks, status, guesses, nor what the code says."
