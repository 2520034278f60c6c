package learn

// Worth says which of a user's messages a reader keeps. Agents are shown it with the messages.
const Worth = "Keep what your user would have to say again next month to another agent: how they want work done (a question counts when " +
	"it corrects the agent), what the product must or must not do and why, facts about the environment, failures whose cure is shown. " +
	"Merge repeats, quote exactly, write titles in your user's language; `when` only where a command or path is clear. Leave out " +
	"one-off requests, finished work and open bugs. An empty list is a good answer."
