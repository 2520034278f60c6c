package config

// sessionFeatures are those about what happened in sessions, word for word. One setting switches all of them.
func (c *Config) sessionFeatures() []Feature {
	return []Feature{
		{
			ID: "RS1", Name: "exchanges", Home: "session/keep.go",
			Doc: "Keeps what happened in sessions word for word: what was asked, run, edited and said, redacted and cut, on this machine " +
				"only, within bounds.",
			Without: "The cause of an error and the command that worked are gone when the client deletes its transcripts.",
			Settings: []Setting{
				boolean("ANAMNESIS_SESSIONS", "sessions.keep", &c.Sessions.Keep, true,
					"Keep what happened in sessions word for word, redacted, on this machine only (docs/sessions.md).",
					"You, if the text of sessions must not stay on this machine."),
				integer("ANAMNESIS_SESSIONS_DAYS", "sessions.days", &c.Sessions.Days, 0, within(0, 36500),
					"Days for which a session, and what is unread of it, is kept after it ended; 0 means no end.",
					"You, if a rule of your employer limits how long sessions may be kept."),
				integer("ANAMNESIS_SESSIONS_MB", "sessions.mb", &c.Sessions.MB, 500, within(0, 1e6),
					"Megabytes of all that is kept of sessions, the oldest go first; 0 means no bound.",
					"You, if the disk is small, or old sessions disappear too soon."),
			},
		},
		{
			ID: "RS2", Name: "exchanges-in-search", Home: "session/search.go",
			Doc: "Finds exchanges under the notes, with the lines that match; a question about nothing finds nothing, and another " +
				"project is not asked.",
			Without: "What stands in the middle of a session is in no answer.",
		},
		{
			ID: "RS3", Name: "fix", Home: "session/solve.go",
			Doc:     "`anamnesis fix` finds the exchange in which the same error, whatever its line and numbers, stopped coming: cause and remedy.",
			Without: "An error that was fixed last month is looked into once more.",
		},
		{
			ID: "RS4", Name: "how", Home: "session/ask.go",
			Doc: "`anamnesis how` lists the commands that were run for a task: what passed, how often and when last. What never passed is " +
				"marked as given up, and what deletes or forces says so.",
			Without: "The flags with which a command works here are found by trying, each time.",
		},
		{
			ID: "RS5", Name: "blame", Home: "app/hooks/solved.go",
			Doc: "`anamnesis blame` lists the exchanges that edited a file, with what was asked and the commits; the one that wrote " +
				"the line first.",
			Without: "Git says who committed a line, and nobody why it was asked for.",
		},
		{
			ID: "RS6", Name: "resume", Home: "app/hooks/solved.go",
			Doc: "`anamnesis resume` lists the last sessions of a project over all agents, and prints or runs the client's command that " +
				"goes on.",
			Without: "Whoever worked with two agents looks through the lists of both.",
		},
	}
}
