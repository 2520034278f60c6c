package config

import "anamnesis/internal/llm"

// reflection lists the settings of the model that writes, and of what it writes.
func (c *Config) reflection() []Setting {
	m, o := &c.Models.Chat, &c.Reflection
	auto := boolean("ANAMNESIS_REFLECT_AUTO", "reflection.auto", &o.Auto, false,
		"Distil the sessions of a project in the background, when one has been captured and enough are waiting.",
		"You, once you are content with the notes of `anamnesis reflect`.")
	auto.emptyIsOff = true
	return []Setting{
		choice("ANAMNESIS_REFLECTION_PROVIDER", "reflection.provider", &m.Provider,
			"Who writes: heuristic is no model; openai and local are any OpenAI-compatible chat server, local without a key; claude, "+
				"codex, gemini, copilot and opencode are the command lines of these agents, asked without tools; files writes requests to "+
				"a folder and reads answers from it.",
			"You, when you let a model write; `anamnesis config models` helps.",
			llm.Heuristic, llm.DeepSeek, llm.OpenAI, llm.Local, llm.Claude, llm.Codex, llm.Gemini, llm.Copilot, llm.OpenCode, llm.Files),
		text("ANAMNESIS_REFLECTION_MODEL", "reflection.model", &m.Model, "",
			"Chat model. Empty is the smallest of a command line's vendor (OpenCode: its own); default is the command line's own.",
			"You, if the smallest model writes poor notes, or a cheaper one is enough."),
		address("ANAMNESIS_REFLECTION_BASE_URL", "reflection.base_url", &m.URL,
			"Chat server, with or without /v1. Empty is the vendor's own, for deepseek and openai.",
			"You, if the chat server is not the vendor's own."),
		key("ANAMNESIS_REFLECTION_API_KEY", "reflection.api_key", &m.Key,
			"Key of the chat server; sent to its host only. Empty takes DEEPSEEK_API_KEY for deepseek.com and OPENAI_API_KEY for openai.com.",
			"You, if the chat server asks for a key."),
		text("ANAMNESIS_REFLECTION_COMMAND", "reflection.command", &m.Command, "",
			"Path of the program of a command line. Empty looks for it in PATH.",
			"You, if the agent's program is not in PATH."),
		text("ANAMNESIS_REFLECTION_FOLDER", "reflection.folder", &m.Folder, "",
			"Folder of the provider files: requests.jsonl is a batch for a vendor, any other *.jsonl file holds results.",
			"You, if you run requests as a vendor's batch, or answer them by hand."),
		number("ANAMNESIS_REFLECTION_TIMEOUT", "reflection.timeout", &m.Timeout, 30, within(0.01, 3600),
			"Seconds one request to the chat server may take; a command line has four times as long.",
			"You, if the model answers slowly, as large local ones do."),
		integer("ANAMNESIS_REFLECTION_MAX_TOKENS", "reflection.max_tokens", &o.MaxTokens, 120000, within(1, 10e6),
			"Tokens of what is sent at once, at four bytes each. What is longer is cut, or waits for the next run; it is no limit of the answer.",
			"You, if the model has a smaller context."),
		boolean("ANAMNESIS_REFLECTION_SUMMARY", "reflection.summary", &c.Capture.Summary, true,
			"Let the model write the note of a session, when there is one. Off, or when it fails: a heuristic writes it.",
			"You, if summaries by the model cost too much."),
		auto,
		integer("ANAMNESIS_REFLECTION_DAILY_CALLS", "reflection.daily_calls", &o.DailyCalls, 200, within(0, 10e6),
			"Answers of models a day (UTC), for all purposes together; 0 means no limit.",
			"You, if the vendor bills or limits requests."),
		integer("ANAMNESIS_REFLECTION_DAILY_TOKENS", "reflection.daily_tokens", &o.DailyTokens, 5000000, within(0, 1e12),
			"Tokens of prompts and answers a day (UTC); 0 means no limit.",
			"You, if the vendor bills or limits tokens."),
	}
}
