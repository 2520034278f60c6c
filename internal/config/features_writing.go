package config

// writingFeatures lists the features from S1 on: what notes hold, what a model may write of
// them, and the signals of a session.
func (c *Config) writingFeatures() []Feature {
	return []Feature{
		{
			ID: "S1", Name: "fields", Home: "recall/field.go",
			Doc:     "Projects one field of the notes, such as the rule or the fix, instead of all they say.",
			Without: "Every hit costs its whole body when one line was wanted.",
		},
		{
			ID: "S2", Name: "typed-relations", Home: "learn/relations.go",
			Doc: "Writes beside a rule what it says of things: which fix solves which problem, and what causes that; which names " +
				"the rule is about; which rule it replaced. Each relation is one of a closed set and has the time since when it " +
				"holds.",
			Without: "The graph has no edges but those that other programs wrote.",
		},
		{
			ID: "S3", Name: "confidence", Home: "recall/boost.go",
			Doc:     "The confidence of a note, a number, nudges its score.",
			Without: "A guess and a verified fix of the same words rank alike.",
		},
		{
			ID: "S4", Name: "proof-count", Home: "recall/boost.go",
			Doc:     "The number of sessions that support a note nudges its score.",
			Without: "A note that was proven twelve times ranks like one that was said once.",
		},
		{
			ID: "S5", Name: "belief-revision", Home: "ingest/belief.go",
			Doc: "What a session teaches confirms a rule that states the same, replaces one that states the opposite, gives " +
				"another quantity or is named by the reader, and else stands beside the others. What is replaced stays " +
				"reachable, an exception stands beside its rule, and an old session that is captured late replaces nothing.",
			Without: "\"Use tabs\" and \"use spaces\" are injected side by side, with ten copies of the same rule.",
		},
		{
			ID: "S6", Name: "history", Home: "store/history.go",
			Doc:     "Keeps the form a note had before each change.",
			Without: "A bad edit or a second capture destroys what the note said.",
		},
		{
			ID: "S7", Name: "chunk-hashes", Home: "learn/learn.go",
			Doc: "A quote is known by the hash of its words, its record and their time, whatever session repeats them: it is " +
				"learnt once.",
			Without: "A session that is resumed or forked teaches everything again, and brings back what was archived.",
		},
		{
			ID: "S8", Name: "lineage", Home: "learn/rule.go",
			Doc: "A rule names the session and quotes the sentence that it came from, as a person typed it; `anamnesis why` shows " +
				"both. A note of an agent that quotes no such sentence, and of which its session shows nothing, is archived.",
			Without: "It is not known why a rule is there, and whether it was ever said.",
		},
		{
			ID: "S9", Name: "volatile-signals", Home: "store/record.go",
			Doc:     "Keeps what churns, such as how often a note was shown, in the event log and out of the notes.",
			Without: "Every session changes the files of the notes it was shown, and every sync carries the noise.",
		},
		{
			ID: "S10", Name: "validated-writing", Home: "learn/reader.go",
			Doc: "A model reads what was typed in an ended session and writes the rules that hold beyond it. Its answer is strict " +
				"JSON; each rule quotes words that a person typed or a remedy that the session showed, and says for what it " +
				"holds. An answer of another form is asked for again with what is wrong with it. A rule without ground is dropped " +
				"and costs no other one; the event log says why.",
			Without: "One bad answer of a model puts a rule into memory that the user never laid down.",
			Settings: []Setting{
				boolean("ANAMNESIS_REFLECTION_LEARNINGS", "reflection.learnings", &c.Capture.Read, true,
					"Let the model read what was typed in an ended session and write the rules that hold beyond it, when there is one.",
					"You, if the model must not read what you typed, or this costs too much."),
			},
		},
		{
			ID: "S11", Name: "anchor-hashes", Home: "anchor/anchor.go",
			Doc: "A note keeps hashes of the code that it names. When that code has changed the note is shown with a mark; when nothing of " +
				"it is left in the clone, the note is not shown, and `anamnesis review stale` lists it.",
			Without: "A rule about a function that was deleted last year is shown as if it held.",
			Settings: []Setting{
				boolean("ANAMNESIS_FRESHNESS", "inject.freshness", &c.Inject.Fresh, true,
					"Check before notes are shown whether the code that they name still exists.",
					"You, if the check is slow in a very large repository."),
			},
		},
		{
			ID: "SG1", Name: "contradictions", Home: "claim/claim.go",
			Doc: "A rule is compared, part by part, with those of its project: the same, narrower, wider, the opposite, or " +
				"unrelated. Of the notes with one subject one is in force. What the user said gives way to a newer sentence that names " +
				"the subject or the old value; what a person wrote or reviewed gives way to nothing that a session says: the user is asked.",
			Without: "A sentence in a session, or an agent, silently replaces what a person wrote.",
		},
		{
			ID: "SG2", Name: "git-events", Home: "session/commit.go",
			Doc: "The commits of a session stand in its notes, with what they undo and mend. When one is taken back, in a session " +
				"or in the repository, what was learnt with it is less sure, and what it fixed is retired.",
			Without: "A fix that was taken back is injected as one that helps.",
		},
		{
			ID: "SG3", Name: "idle-sweep", Home: "capture/sweep.go",
			Doc: "A session of a connected agent that fell silent, and that nobody captured, is captured by a background run: its " +
				"client was killed, or its hook failed. Its note is speculative until an end is shown.",
			Without: "What a session taught whose client was killed, or whose hook failed, is lost, and nobody notices.",
			Settings: []Setting{integer("REFLECT_IDLE_THRESHOLD_SEC", "capture.idle", &c.Capture.Idle, 600, within(0, 86400),
				"Seconds of silence after which a background run takes in a session whose client ended without an event; 0 means never.",
				"You, if sessions pause for longer, or no session may be captured before it ends.")},
		},
		{
			ID: "SG4", Name: "test-outcomes", Home: "session/outcome.go",
			Doc: "What became of tests is read from the words of their runner: go, pytest, jest, vitest, cargo, JUnit, RSpec; a " +
				"run that only skipped is no pass.",
			Without: "A failing test whose exit code a pipe hides counts as a pass, and so does one that was skipped.",
		},
		{
			ID: "SG5", Name: "tool-loops", Home: "learn/loop.go",
			Doc: "Sees when an agent repeats one call, or alternates between two: the note of the session says so, and what the " +
				"user says to end it comes before the rest where a reader sees a part of it.",
			Without: "The way out of a dead end is found once, and looked for in every session.",
		},
		{
			ID: "SG6", Name: "knowledge-gaps", Home: "recall/gap.go",
			Doc:     "Logs questions that memory could not answer, and closes them when it can.",
			Without: "What is missing is never seen.",
			Settings: []Setting{boolean("ANAMNESIS_LOG_QUERIES", "events.queries", &c.Events.Queries, true,
				"Keep the redacted text of searches in the event log, at most 200 characters. Off: no log of gaps either.",
				"You, if your searches must not be recorded.")},
		},
		{
			ID: "SG7", Name: "finished-items", Home: "capture/item.go",
			Doc: "What an agent finished on its list stands in the session's note, with how long it took and which files were edited; " +
				"an item that arrives done does not.",
			Without: "The note of a long session names forty files, and nobody can say which belong to what.",
		},
		{
			ID: "SG8", Name: "permission-replies", Home: "learn/permission.go",
			Doc: "What the user refuses stands in the note of the session; a reply that holds for good (\"never run that\") " +
				"becomes a note, with the line of a policy that would hold it. No policy is written unasked.",
			Without: "The command that was refused is tried again in the next session.",
		},
		{
			ID: "T1", Name: "shared-memory", Home: "team/pull.go",
			Doc: "Shares the notes of chosen projects with a team over a database of theirs, and mirrors what others share in the index " +
				"of this machine: their notes are found like one's own, marked with who wrote them, and nobody waits for the server.",
			Without: "What a colleague was corrected on is learnt again by everybody else's agents.",
			Settings: []Setting{
				dsn("REFLECT_PG_DSN", "team.dsn", &c.Team.DSN,
					"Address of the team's database: postgres://... or host=... A password is better kept in ~/.pgpass. "+
						"Nothing is shared without team.workspace; DATABASE_URL is not read.",
					"The team's administrator gives you the address when you join."),
				text("REFLECT_WORKSPACE_ID", "team.workspace", &c.Team.Workspace, "",
					"Id of the team's part of the database, as `anamnesis team pg status` tells it.",
					"The team's administrator gives you the id when you join."),
				text("ANAMNESIS_TEAM_PROJECTS", "team.projects", &c.Team.Projects, "",
					"Projects whose notes are shared, their keys between commas; `anamnesis team share` sets it.",
					"You, with `anamnesis team share`, when a project is shared or no longer shared."),
				boolean("ANAMNESIS_TEAM_MIRROR", "team.mirror", &c.Team.Mirror, true,
					"Take in what others of the team share, so that it is found here.",
					"You, if you share notes but do not want those of others."),
			},
		},
	}
}
