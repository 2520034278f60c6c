package agent

// AddServer returns the command of Claude Code that registers an MCP server of
// ours for all projects of the user. The name stands before the environment:
// the option -e takes every word that follows it.
func (Claude) AddServer(name string, env Env, program []string) []string {
	words := []string{"claude", "mcp", "add", "--scope", "user", "--transport", "stdio", name}
	for _, v := range env.assignments() {
		words = append(words, "-e", v[0]+"="+v[1])
	}
	return append(append(append(words, "--"), program...), "serve")
}

// RemoveServer returns the command that takes it out again.
func (Claude) RemoveServer(name string) []string {
	return []string{"claude", "mcp", "remove", "--scope", "user", name}
}
