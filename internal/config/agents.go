package config

// AgentHomes returns the home folders of the coding agents by their short names,
// in a map of the caller's own.
func (c *Config) AgentHomes() map[string]string {
	return map[string]string{"claude": c.ClaudeHome, "codex": c.Others.Codex}
}

// AgentHomeName returns the environment variable that says where the home folder
// of an agent stands.
func AgentHomeName(agent string) string {
	if row := new(Config).find(agent + "_home"); row != nil {
		return row.Env
	}
	return ""
}
