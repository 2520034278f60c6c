package config

// settings lists what is no feature: where things are, who this is, how much.
// The first row is the store's folder, which must be known before config.json
// can be read; it is set by the environment or --set only.
func (c *Config) settings() []Setting {
	return []Setting{
		text("ANAMNESIS_HOME", "home", &c.Home, "~/.anamnesis", "Folder of the store. It cannot be set in config.json, which stands in it."),
		text("ANAMNESIS_MACHINE_ID", "machine_id", &c.MachineID, "", "Name of this machine, stamped on notes and commits. Empty means the host name."),
		text("ANAMNESIS_GIT_REMOTE", "remote", &c.Sync.Remote, "", "Git address the notes are synced with. Empty keeps them on this machine."),
		text("CLAUDE_CONFIG_DIR", "claude_home", &c.ClaudeHome, "~/.claude", "Folder of Claude Code's settings and sessions."),

		integer("ANAMNESIS_INJECT_K", "inject.k", &c.Inject.K, 8, within(0, 100), "Project notes shown at session start, at most. Global notes are always shown."),
		integer("ANAMNESIS_INJECT_MAX_CHARS", "inject.max_chars", &c.Inject.MaxChars, 48000, within(0, 10e6),
			"Characters of the whole block; 0 means no end. A hook stays under the limit of its agent as well (Claude Code: 10000)."),
		integer("ANAMNESIS_INJECT_MAX_NOTE", "inject.max_note", &c.Inject.MaxNote, 8000, within(0, 10e6), "Characters of one note in the block; 0 means no end."),

		number("RECALL_LEXICAL_K1", "recall.lexical.k1", &c.Recall.K1, 0.9, within(0, 10), "BM25: how soon repetitions of a word stop counting."),
		number("RECALL_LEXICAL_B", "recall.lexical.b", &c.Recall.B, 0.6, within(0, 1), "BM25: how much the length of a passage counts."),
		number("RECALL_LEXICAL_TITLE", "recall.lexical.title", &c.Recall.TitleWeight, 1.2, within(0, 100), "What a word in the title is worth against one in the body."),
		number("RECALL_LEXICAL_TAGS", "recall.lexical.tags", &c.Recall.TagsWeight, 1.5, within(0, 100), "What a word in tags and structured fields is worth against one in the body."),
		integer("RECALL_CANDIDATES", "recall.candidates", &c.Recall.Candidates, 200, within(10, 10000), "Passages scored for a question."),

		boolean("ANAMNESIS_HOLD_SIMILAR", "ingest.hold_similar", &c.Ingest.HoldSimilar, true,
			"Hold a note written by a machine when another note says nearly the same, until its owner decides."),
		number("ANAMNESIS_SIMILARITY", "ingest.similarity", &c.Ingest.Similarity, 0.9, within(0, 1), "Share of equal words from which two notes say nearly the same."),

		boolean("ANAMNESIS_SYNC", "sync.on", &c.Sync.On, true, "Keep the notes in a git repository. Off: files only, no commits."),
		number("ANAMNESIS_GIT_TIMEOUT", "sync.timeout", &c.Sync.Timeout, 60, within(1, 3600), "Seconds one git command may take."),
		boolean("ANAMNESIS_LOG_QUERIES", "events.queries", &c.Events.Queries, true, "Keep the redacted text of searches in the event log, at most 200 characters."),
	}
}

// rows lists every setting: the plain ones and those of features.
func (c *Config) rows() []Setting {
	rows := c.settings()
	for _, f := range c.features() {
		rows = append(rows, f.Settings...)
	}
	return rows
}

// find returns the row of a key or of an environment name, or nil.
func (c *Config) find(name string) *Setting {
	rows := c.rows()
	for i := range rows {
		if rows[i].Key == name || rows[i].Env == name {
			return &rows[i]
		}
	}
	return nil
}
