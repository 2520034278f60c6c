package config

import "slices"

// settings lists what is no feature: where things are, who this is, how much.
// The first row is the store's folder, which must be known before config.json
// can be read; it is set by the environment or --set only.
func (c *Config) settings() []Setting {
	return []Setting{
		text("ANAMNESIS_HOME", "home", &c.Home, "~/.anamnesis", "Folder of the store. It cannot be set in config.json, which stands in it.",
			"You, to keep the store on another disk, or a second store for tests."),
		text("ANAMNESIS_MACHINE_ID", "machine_id", &c.MachineID, "",
			"Name of this machine, stamped on notes and commits. Empty means the host name.",
			"You, if two machines have the same host name."),
		number("ANAMNESIS_PATIENCE", "patience", &c.Patience, 1, within(0.1, 1000),
			"Multiplies the times after which hooks and commands give up waiting for files, the index or git. More for slow disks and "+
				"network homes.",
			"You, if hooks give up on a slow disk or a network home."),
		gitAddress("ANAMNESIS_GIT_REMOTE", "remote", &c.Sync.Remote, "Git address the notes are synced with. Empty keeps them on this machine.",
			"You, when you add a second machine; `init` asks for it."),
		text("CLAUDE_CONFIG_DIR", "claude_home", &c.ClaudeHome, "~/.claude", "Folder of Claude Code's settings and sessions.",
			"Claude Code users who moved its folder; it reads the same variable."),
		text("CODEX_HOME", "codex_home", &c.Others.Codex, "~/.codex", "Folder of Codex's settings, sessions and memories.",
			"Codex users who moved its folder; it reads the same variable."),
		text("COPILOT_HOME", "copilot_home", &c.Agents.Copilot, "~/.copilot", "Folder of Copilot CLI's settings and sessions.",
			"Copilot CLI users who moved its folder; it reads the same variable."),
		text("GEMINI_CLI_HOME", "gemini_home", &c.Agents.Gemini, "~", "Folder in which Gemini CLI keeps its folder .gemini.",
			"Gemini CLI users who moved its folder; it reads the same variable."),
		text("CURSOR_CONFIG_DIR", "cursor_home", &c.Agents.Cursor, "~/.cursor", "Folder of Cursor's settings and sessions.",
			"Cursor users who moved its folder; it reads the same variable."),
		text("HERMES_HOME", "hermes_home", &c.Agents.Hermes, "~/.hermes", "Folder of Hermes' settings and sessions.",
			"Hermes users who moved its folder; it reads the same variable."),
		text("XDG_CONFIG_HOME", "agents.config", &c.Agents.XDGConfig, "~/.config",
			"Folder in which OpenCode, Goose, Zed, Amp, Kilo Code and (on Linux) VS Code keep their settings.",
			"Users of these agents whose desktop sets this variable."),
		text("XDG_DATA_HOME", "agents.data", &c.Agents.XDGData, "~/.local/share", "Folder in which OpenCode keeps its folder of sessions.",
			"OpenCode users whose desktop sets this variable."),
		text("GLOBAL_LEARNINGS_PATH", "import.learnings", &c.Others.Learnings, "~/.learnings", "Folder of the notes of reflect, for import.",
			"Former users of reflect who moved this folder, before they import it."),
		text("REFLECT_STATE_DIR", "import.reflect", &c.Others.Reflect, "~/.reflect",
			"Folder of the state of reflect and of its reflect.db, for import.",
			"Former users of reflect who moved this folder, before they import it."),
		boolean("ANAMNESIS_IMPORT_NATIVE", "import.native", &c.Others.Native, true,
			"Import the memory files of agents at every sync and at the end of a session.",
			"You, if an agent's own memory must not become notes."),
		boolean("ANAMNESIS_IMPORT_PAST", "import.past", &c.Others.Past, true,
			"Take in, in a background run, past sessions of connected agents that delete them after a while or end some without an event.",
			"You, if only sessions from now on may be captured."),

		boolean("ANAMNESIS_CAPTURE_HEADLESS", "capture.headless", &c.Capture.Headless, false,
			"Keep a session in which a program asked its agent one short thing and nothing was done (claude -p). Other sessions of "+
				"programs are always kept.",
			"You, if scripts ask an agent short questions that are worth a note."),

		integer("ANAMNESIS_INJECT_PAGE_TOKENS", "inject.page.max_tokens", &c.Inject.PageTokens, 1500, within(1, 100000),
			"Tokens of the page, at most. Notes without room stand there by topic.",
			"You, if the page misses notes that matter, or takes too much of a small context."),
		boolean("ANAMNESIS_INJECT_ANNOUNCE", "inject.announce", &c.Inject.Announce, true,
			"Show the user, where the agent can, one line about what a session is shown at its start.",
			"You, if the line at session start disturbs you."),
		boolean("ANAMNESIS_INJECT_PROMPT", "inject.prompt.on", &c.Inject.Prompts, true,
			"Tell a session, at a prompt, the notes that the prompt is about.",
			"You, if notes at prompts distract the agent."),
		integer("ANAMNESIS_INJECT_PROMPT_TOKENS", "inject.prompt.max_tokens", &c.Inject.PromptTokens, 150, within(1, 10000),
			"Tokens shown at one prompt, at most.",
			"You, if notes at prompts are cut, or each prompt must stay cheap."),

		boolean("ANAMNESIS_INJECT_TOOLS", "inject.tools.on", &c.Inject.Tools, true,
			"Tell a session, before a tool runs, the rules with a trigger that fits the call.",
			"You, if rules before tool calls slow the agent down or distract it."),
		boolean("ANAMNESIS_INJECT_SUBAGENTS", "inject.subagents.on", &c.Inject.Subagents, true,
			"Tell a sub-agent, when it starts, the notes that its task is about.",
			"You, if sub-agents must start without notes."),

		integer("REFLECT_RECALL_MAX_TOKENS", "recall.max_tokens", &c.Recall.MaxTokens, 0, within(0, 10e6),
			"Tokens of what `search` prints, JSON too, unless --max-tokens says a number; 0 means no end. One note is always printed.",
			"Authors of scripts that pass search results to a model with a small context."),

		boolean("RECALL_SEMANTIC_ARM", "recall.semantic.on", &c.Recall.SemanticArm, true,
			"Find notes by meaning, with the embedded word vectors or a model of yours.",
			"You, if only notes with the words of the question may be found."),

		boolean("REFLECT_RECALL_HYDE", "recall.hyde", &c.Recall.HyDE, false,
			"Let the configured model write a hypothetical answer, and search for its meaning too.",
			"You, if a model is configured and questions share few words with the notes."),

		boolean("ANAMNESIS_SYNC", "sync.on", &c.Sync.On, true, "Keep the notes in a git repository. Off: files only, no commits.",
			"You, if the store must not be a git repository."),
		number("ANAMNESIS_GIT_TIMEOUT", "sync.timeout", &c.Sync.Timeout, 60, within(1, 3600), "Seconds one git command may take.",
			"You, if the remote is slow or the repository is large."),
		dsn("ANAMNESIS_INDEX", "index.server", &c.Index.Server,
			"Address of a database, postgres://user@host/database?workspace=ID, for machines that keep no store. In the environment: this "+
				"machine keeps none, asks the index there and writes its notes there. In config.json: a sync brings the portable notes there, "+
				"and takes home what such machines wrote.",
			"The administrator of machines that must not keep notes, such as containers."),

		address("RECALL_EMBED_URL", "recall.embed.url", &c.Models.Embedder.URL,
			"OpenAI-compatible server that embeds notes and questions, with or without /v1. Empty uses the built-in model.",
			"You, if you run an embedding server or pay for one."),
		text("REFLECT_EMBED_MODEL", "recall.embed.model", &c.Models.Embedder.Model, "",
			"Embedding model of that server; without one, the name of a model of `anamnesis config models`. Another model means that all notes "+
				"are embedded again.",
			"You, when you choose another embedding model."),
		key("RECALL_EMBED_KEY", "recall.embed.key", &c.Models.Embedder.Key, "Key of the embedding server; sent to its host only.",
			"You, if the embedding server asks for a key."),
		address("RECALL_RERANK_URL", "recall.rerank.url", &c.Models.Reranker.URL,
			"Server that reads the best notes with the question. Empty uses the built-in reader.",
			"You, if you run a reranking server or pay for one."),
		text("REFLECT_CE_MODEL", "recall.rerank.model", &c.Models.Reranker.Model, "",
			"Reranking model of that server; without one, the name of a model of `anamnesis config models`.",
			"You, when you choose another reranking model."),
		key("RECALL_RERANK_KEY", "recall.rerank.key", &c.Models.Reranker.Key, "Key of the reranking server; sent to its host only.",
			"You, if the reranking server asks for a key."),

		boolean("ANAMNESIS_PLAIN_HTTP", "models.plain_http", &c.Models.Network.PlainHTTP, false,
			"Let model servers outside of private networks be reached over http, where others can read along.",
			"You, if a model server outside your network has no https."),
		address("ANAMNESIS_PROXY", "models.proxy", &c.Models.Network.Proxy,
			"HTTP proxy for model servers outside of private networks, and for `upgrade`. Empty connects directly; HTTPS_PROXY is not read.",
			"You, if your network reaches the internet only through a proxy."),
	}
}

// rows lists every setting: the plain ones and those of features.
func (c *Config) rows() []Setting {
	all := [][]Setting{c.settings(), c.unreadSettings(), c.reflection(), c.team()}
	for _, f := range c.features() {
		all = append(all, f.Settings)
	}
	return slices.Concat(all...)
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
