package config

import "anamnesis/internal/inject"

// A Feature is something the program promises. It has a row when it has its
// code and a proof that fails without it.
type Feature struct {
	ID       string
	Name     string
	Home     string // the file it lives in, below internal
	Doc      string // what it does
	Without  string // what one would see if it were not there
	Settings []Setting
}

// features lists the features that are built, in the order of their ids.
func (c *Config) features() []Feature {
	return append([]Feature{
		{
			ID: "A1", Name: "slots", Home: "inject/slot.go",
			Doc: "Shows every session short texts at its start: what its owner wrote of themselves and of the project, and what the last " +
				"sessions left open, failed at and worked on.",
			Without: "Who the user is and what the project is about stands among fifty notes, or not at all.",
			Settings: []Setting{
				boolean("REFLECT_SLOTS", "inject.slots.on", &c.Inject.Slots, true, "Tell the slots at session start.",
					"You, if sessions must start without slots."),
			},
		},
		{
			ID: "A2", Name: "bitemporal-edges", Home: "recall/arm_graph.go",
			Doc: "Edges between entities say when they were learnt and from when to when they held; a question about now, or about a " +
				"time, walks only those that held then.",
			Without: "A cause that was removed in spring still explains what happens in autumn.",
			Settings: []Setting{boolean("RECALL_BITEMPORAL_EDGES", "recall.graph.bitemporal", &c.Recall.BitemporalEdges, true,
				"Edges count only for the time in which they held.",
				"Developers, to compare search with and without times of edges.")},
		},
		{
			ID: "A3", Name: "forget-after", Home: "reflection/forget.go",
			Doc: "A note whose forget_after has passed is archived in the background, with its history; without one, or with one that is " +
				"no time, it is permanent. `anamnesis review expired` lists them.",
			Without: "What was only meant for a while stands in the store for ever, and nobody sees that its time is over.",
			Settings: []Setting{boolean("ANAMNESIS_EXPIRE", "reflection.expire", &c.Reflection.Expire, true,
				"Archive notes in the background when their forget_after has passed.",
				"You, if you want to archive expired notes yourself.")},
		},
		{
			ID: "A4", Name: "follow-up", Home: "capture/followup.go",
			Doc: "Looks, when a session has ended, whether the agent used what it was shown, and whether the user contradicted it; " +
				"that is counted, shown and nudges the score.",
			Without: "A note that no session ever needed is shown for ever, and nobody sees it.",
			Settings: []Setting{
				boolean("RECALL_FOLLOWUP", "capture.followup", &c.Capture.FollowUp, true, "Work out what became of the notes a session was shown.",
					"You, if nothing may be recorded about the use of notes."),
			},
		},
		{
			ID: "A5", Name: "learning", Home: "learn/learn.go",
			Doc: "What the user orders to remember becomes a note at once, word for word. Everything else that they type is unread until a " +
				"reader decides on it: the agent of the session, the next agent that starts in the project, a model, or the user. " +
				"Each kept item is a note with the words that it quotes; silence decides nothing.",
			Without: "A correction is in the middle of a summary, and the next session makes the same mistake.",
			Settings: []Setting{
				boolean("ANAMNESIS_LEARNING", "capture.learn", &c.Capture.Learn, true,
					"Keep what you type until a reader has decided on it, and keep as notes what a reader makes of it.",
					"You, if only notes that you write yourself may exist."),
				boolean("ANAMNESIS_NUDGE", "capture.nudge", &c.Capture.Nudge, true,
					"Ask the agent, after you refused a call with a reason, interrupted it or went back, to keep what you said: twice a session at most.",
					"You, if the request to the agent disturbs it."),
			},
		},
		{
			ID: "A6", Name: "branches", Home: "recall/scope.go",
			Doc: "What a session noted on a branch is held back elsewhere while the branch is there and not merged; a search says how many " +
				"notes that were. What a person wrote is found everywhere.",
			Without: "What is true on an experiment is shown as true to everybody who works on the trunk.",
			Settings: []Setting{
				boolean("RECALL_ALL_BRANCHES", "recall.scope.all_branches", &c.Recall.AllBranches, false, "Search the notes of all branches.",
					"You, if notes of unmerged branches must be found everywhere."),
			},
		},
		{
			ID: "C1", Name: "semantic-twins", Home: "ingest/meaning.go",
			Doc: "What a machine writes and a note means already, in other words, waits for its owner with that note beside it: " +
				"keep, merge or reject. What states the opposite, or names other things or numbers, is no twin.",
			Without: "Each rewording of a rule is one more note.",
			Settings: []Setting{boolean("ANAMNESIS_HOLD_SIMILAR", "ingest.hold_similar", &c.Ingest.HoldSimilar, true,
				"Hold a note written by a machine when another note says nearly the same, or means it, until its owner decides.",
				"You, if held notes are more work than duplicates.")},
		},
		{
			ID: "C2", Name: "consolidation", Home: "reflection/consolidate.go",
			Doc: "Folds learnings in the background when enough are new since the last pass, or some are and it is seven days ago; the " +
				"count survives the index, and a plan does not restart it.",
			Without: "Learnings pile up until somebody thinks of looking at them.",
			Settings: []Setting{
				boolean("ANAMNESIS_CONSOLIDATE", "reflection.consolidate", &c.Reflection.Consolidate, true,
					"Fold learnings into observations in the background.",
					"You, if learnings must stay as they were written."),
			},
		},
		{
			ID: "C3", Name: "graph-repair", Home: "ingest/graph.go",
			Doc: "`anamnesis doctor` counts the files of entities that have no note, cannot be read, or say a thing twice, and whether the " +
				"index has what they say; --fix mends them, and a consolidation what loses nothing. Former bytes are kept.",
			Without: "Entities of notes that are gone stand in the store for ever, and a relation counts twice.",
		},
		{
			ID: "C4", Name: "lifecycle-programs", Home: "store/lifecycle/lifecycle.go",
			Doc: "Runs a program of the user when a note was created or changed, a skill was refreshed or notes were consolidated: in the " +
				"background, without a shell, with the event as JSON on its standard input.",
			Without: "Whoever wants to be informed of a new rule has to ask the memory every hour.",
			Settings: []Setting{text("ANAMNESIS_EVENTS_PROGRAM", "events.program", &c.Lifecycle.Program, "",
				"Program and its arguments that are run for each such event; ANAMNESIS_EVENT in its environment names the event.",
				"You, if another program must act when a note changes.")},
		},
		{
			ID: "C5", Name: "bundle", Home: "store/bundle/bundle.go",
			Doc:     "Writes everything that cannot be rebuilt into one file, and fills a store from it, byte for byte.",
			Without: "A move to another machine loses the history, the event log and what never travels.",
		},
		{
			ID: "M1", Name: "three-layers", Home: "recall/stage.go",
			Doc:     "Reads memory in three layers: rows of at most 100 tokens, what was written around one of them, and whole notes last.",
			Without: "An agent pays for ten whole notes to find the one it needs.",
		},
		{
			ID: "M2", Name: "answer-classes", Home: "llm/classify.go",
			Doc: "Every answer of a model is of one of six classes (valid, prose, idle, poisoned, malformed, schema_invalid); a " +
				"session that gets too many unusable ones in a row is set aside, and the run ends.",
			Without: "A model that drifts is asked again every hour, and paid for.",
		},
		{
			ID: "M3", Name: "quota-gate", Home: "reflection/quota.go",
			Doc: "Asks no model in the background while the vendor says that a window of its quota is nearly used up, or refuses; what " +
				"waits stays as it is. Whoever pays by key is refused by nothing but a server that says how long to wait.",
			Without: "Memory eats the last of a quota that its owner wanted to work with.",
			Settings: []Setting{
				boolean("REFLECT_QUOTA_GATE", "reflection.quota.gate", &c.Reflection.QuotaGate, true, "Ask nothing while a quota is nearly used up.",
					"You, if models must run until the quota is used up."),
			},
		},
		{
			ID: "M4", Name: "modes", Home: "note/mode.go",
			Doc: "A mode says what kind of work is done: its types of learnings, which of them are shown at session start, the language of " +
				"notes that a model writes, and how much is shown. A project chooses one by its name.",
			Without: "A book is remembered like a program, in English, with rules for tools that it does not have.",
			Settings: []Setting{
				text("REFLECT_MODE", "mode", &c.ModeID, "", "Name of the mode; empty is engineering. A project's own choice comes before config.json.",
					"You, if your work is not software development."),
			},
		},
		{
			ID: "M5", Name: "commit-references", Home: "ingest/commitref.go",
			Doc: "Commits that a note names are looked up in the repository in which it is written; those that are not there are listed in " +
				"the note, and a machine's note that names no other is not written.",
			Without: "A model invents a commit, and the next session looks for it.",
		},
		{
			ID: "M6", Name: "private-spans", Home: "redact/redact.go",
			Doc:     "Strips <private> spans from everything a machine writes or a model is asked, before it is written or sent.",
			Without: "What was marked as private in a conversation stands in a note on every machine.",
		},
		{
			ID: "M7", Name: "corpora", Home: "recall/corpus.go",
			Doc:     "Keeps named collections of notes: built from a filter, listed, searched alone, and aware of what changed since.",
			Without: "A question about the release notes is answered from everything that was ever noted.",
		},
		{
			ID: "M8", Name: "economics", Home: "inject/economics.go",
			Doc: "Counts the tokens that agents were shown, and those of the sessions that the shown notes come from: what reading them there " +
				"would have cost.",
			Without: "Nobody can say whether memory saves more than it costs.",
		},
		{
			ID: "O1", Name: "observations", Home: "reflection/observe.go",
			Doc: "Folds notes that state the same into one, supported by the sessions of them all; a model finds what several " +
				"show together, and an invented name or number in its statement is refused. A person adds evidence, makes and " +
				"retires observations with `anamnesis reflect observe`.",
			Without: "Fifty corrections stand as fifty notes, each as weak as one sentence.",
		},
		{
			ID: "O2", Name: "conventions", Home: "reflection/conventions.go",
			Doc: "Writes what holds in a project as a page: by category, with its evidence, byte for byte the same for the same notes. A " +
				"block of it goes into a file with its marks, and nowhere else.",
			Without: "People cannot read, diff or share what memory tells their agents.",
		},
		{
			ID: "O3", Name: "persona-answers", Home: "recall/persona.go",
			Doc:     "Answers \"what is our commit style\" and \"who am I\" with one sure sentence, before everything else that is found.",
			Without: "A question about a habit gets ten notes in which the habit can be guessed.",
			Settings: []Setting{boolean("RECALL_PERSONA", "recall.persona.on", &c.Recall.Persona, true,
				"Answer questions about habits from what is known of the user and the team.",
				"You, if questions about habits find the wrong notes.")},
		},
		{
			ID: "R1", Name: "graph-arm", Home: "recall/arm_graph.go",
			Doc: "Walks at most two typed edges from the entities of the question and of the best notes, and finds notes that share no " +
				"word with the question.",
			Without: "Only the note that shares the words is found; the reason behind it, one step away, is not.",
			Settings: []Setting{boolean("RECALL_GRAPH_ARM", "recall.graph.on", &c.Recall.GraphArm, true, "Find notes over the entity graph.",
				"Developers, to compare search with and without the graph.")},
		},
		{
			ID: "R2", Name: "rerank", Home: "recall/rerank.go",
			Doc:     "Reads the best notes together with the question and orders them by what that says: a built-in reader, or a model of yours.",
			Without: "The note that repeats the keywords stands above the note that answers.",
			Settings: []Setting{
				boolean("RECALL_CROSS_ENCODER", "recall.rerank.on", &c.Recall.Rerank, true, "Order the best notes by reading them with the question.",
					"You, if search is too slow on an old machine."),
			},
		},
		{
			ID: "R3", Name: "mmr-diversity", Home: "recall/mmr.go",
			Doc:     "Fills the places with what is relevant and not said yet, so that near-copies of one idea leave room for a second.",
			Without: "The answer holds four copies of one idea; the other idea stands at rank six.",
			Settings: []Setting{
				boolean("RECALL_MMR", "recall.mmr.on", &c.Recall.MMR, true, "Diversify the hits.",
					"Authors of scripts that need the order by relevance alone."),
			},
		},
		{
			ID: "R4", Name: "token-budget", Home: "recall/pack.go",
			Doc:     "Packs hits by what they cost as they will be shown, until a budget of tokens is spent.",
			Without: "A fixed number of notes fills the context of the agent when the notes are long.",
		},
		{
			ID: "R5", Name: "temporal-arm", Home: "recall/arm_temporal.go",
			Doc:     "When a question speaks of a time, finds the notes of that time.",
			Without: "What was decided last week is crowded out by everything else about the subject.",
		},
		{
			ID: "R6", Name: "dates-in-questions", Home: "recall/when.go",
			Doc:     "Reads \"last week\", \"in march\", \"since 2026-01-01\" as a time, and \"may I\" as none.",
			Without: "\"Last week\" is two more words to look for.",
			Settings: []Setting{boolean("RECALL_TEMPORAL", "recall.temporal.on", &c.Recall.Temporal, true,
				"Look for dates in questions, and find the notes of that time.",
				"You, if numbers in your questions are taken for dates.")},
		},
		{
			ID: "R7", Name: "relevance-gate", Home: "recall/gate.go",
			Doc:     "Says nothing rather than something irrelevant: a threshold that is worked out from the store's own notes.",
			Without: "Every prompt gets the least bad notes, and the agent learns to ignore them.",
			Settings: []Setting{
				boolean("RECALL_GATE", "recall.gate.on", &c.Recall.CalibratedGate, true, "Use the calibrated gate where a gate is asked for.",
					"Developers, to compare search with and without the gate."),
			},
		},
		{
			ID: "R8", Name: "bounded-boosts", Home: "recall/boost.go",
			Doc:     "Age and tags nudge a score by a bounded factor: they break ties and cannot bury an answer.",
			Without: "Of two notes that say the same, the stale one may come first; or, unbounded, the newest buries the right one.",
			Settings: []Setting{boosts("RECALL_BOOSTS", "recall.boosts", &c.Recall.Tuning,
				"What else than relevance nudges the order of hits; the features S3, S4, R16 and A4 are among it.",
				"Developers, to see what a boost does to the order of hits.")},
		},
		{
			ID: "R9", Name: "fuzzy-cache", Home: "recall/cache.go",
			Doc:     "Remembers what the arms found, and takes it for a question that uses the same words in another order.",
			Without: "Every rewording of a question pays for all arms again, and for a model that embeds it.",
			Settings: []Setting{
				boolean("RECALL_FUZZY_CACHE", "recall.cache.on", &c.Recall.FuzzyCache, true,
					"Take what was found for a question of nearly the same words. "+
						"What was found for the very same question is always taken, unless --no-cache is given.",
					"Developers, to measure search without the cache."),
			},
		},
		{
			ID: "R10", Name: "skill-tier", Home: "inject/tier.go",
			Doc: "Shows at session start which skills the branch, the files in work and the open items name, before the notes or in place " +
				"of those that would be looked up for them.",
			Without: "A session pieces together from ten notes what a curated skill says whole.",
			Settings: []Setting{
				choice("REFLECT_TIERED_INJECT", "inject.skills.tier", &c.Inject.SkillTier,
					"Tell skills at session start: first is before the notes, exclusive leaves out those that would be looked up.",
					"You, if you have many skills and the agent overlooks them.",
					inject.SkillsOff, inject.SkillsFirst, inject.SkillsExclusive).or(inject.SkillsOff, inject.SkillsFirst),
			},
		},
		{
			ID: "R11", Name: "short-circuit", Home: "inject/tier.go",
			Doc: "Looks up no notes for a session's start when a skill of the last thirty days has more than four fifths of what is " +
				"asked about.",
			Without: "What a fresh skill says is shown once more by older notes.",
		},
		{
			ID: "R12", Name: "arm-floors", Home: "recall/fuse.go",
			Doc:     "Takes out, before the fusion, what an arm itself thinks little of: one floor an arm, because their scores cannot be compared.",
			Without: "One threshold for all either lets the noise of one arm through or starves another.",
			Settings: []Setting{floors("RECALL_FLOORS", "recall.floors", &c.Recall.Floors,
				"Least score of what an arm finds. `anamnesis config calibrate --write` sets it.",
				"`anamnesis config calibrate --write`, which you run on your own notes.")},
		},
		{
			ID: "R13", Name: "skill-refresh", Home: "reflection/skillpatch.go",
			Doc: "When rules that were learnt since say something else than a skill of this machine, or more, a patch of its file waits in " +
				"`anamnesis review`, with the evidence; it is written when the user keeps it, and never unasked.",
			Without: "The skill goes on saying what its user corrected last week, and somebody has to notice.",
			Settings: []Setting{boolean("ANAMNESIS_SKILL_PATCHES", "reflection.skill_patches", &c.Reflection.SkillPatches, true,
				"Look in the background whether rules say something else than the skills of this machine.",
				"You, if skills must not be compared with rules.")},
		},
		{
			ID: "R14", Name: "skill-staleness", Home: "recall/skill.go",
			Doc:     "A skill that a newer note backs, by a tag of the skill, counts as out of date and is not shown until its file changes.",
			Without: "A skill still says what a correction has changed.",
		},
		{
			ID: "R15", Name: "project-scope", Home: "recall/scope.go",
			Doc:     "A question is about the project it is asked in, and about what is shown to all projects; --global asks all of them.",
			Without: "Every search answers from the notes of other customers' projects.",
			Settings: []Setting{boolean("RECALL_GLOBAL", "recall.scope.global", &c.Recall.Global, false, "Search the notes of all projects.",
				"You, if your projects share what they know.")},
		},
		{
			ID: "R16", Name: "project-affinity", Home: "recall/boost.go",
			Doc:     "Under --global, notes of the project one works in get a small lift.",
			Without: "Of two notes that answer alike, the one of a foreign project may come first.",
		},
		{
			ID: "R20", Name: "skills", Home: "recall/skill.go",
			Doc:     "Keeps an index of the skills of all agents on this machine and finds them by name, tags and summary.",
			Without: "A skill of one agent is not known to the others, and not found by what it is about.",
			Settings: []Setting{text("REFLECT_SKILLS_DIR", "skills.dir", &c.SkillsDir, "",
				"Folder in which skills are looked for instead of those of the agents.",
				"You, if your skills are in a folder that no agent reads.")},
		},
		{
			ID: "R21", Name: "local-models", Home: "embed/models/models.go",
			Doc: "Runs encoders and cross-encoders of BERT's shape in the program itself, on two cores at most: they are added by hand, " +
				"checked by their checksums, and left out of an answer for which they are late. `anamnesis config models` lists them.",
			Without: "A model that was trained to retrieve needs a server, which somebody runs and which reads the notes.",
		},
	}, append(c.sessionFeatures(), c.writingFeatures()...)...)
}

// Features returns the features of a configuration with nothing set.
func Features() []Feature { return (&Config{}).features() }
