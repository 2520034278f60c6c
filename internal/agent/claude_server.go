package agent

import (
	"path/filepath"
	"regexp"
	"sync"
)

// AddServer implements ServerCommand. The name stands before the environment:
// the option -e takes every word that follows it.
func (claude) AddServer(name string, env Env, program []string) []string {
	words := []string{"claude", "mcp", "add", "--scope", "user", "--transport", "stdio", name}
	for _, v := range env.assignments() {
		words = append(words, "-e", v[0]+"="+v[1])
	}
	return append(append(append(words, "--"), program...), "serve")
}

// RemoveServer implements ServerCommand.
func (claude) RemoveServer(name string) []string {
	return []string{"claude", "mcp", "remove", "--scope", "user", name}
}

// NoServer implements ServerCommand.
func (claude) NoServer(output string) bool { return claudeNoServer().MatchString(output) }

var claudeNoServer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)no .*server.* found|server .*not found|does not exist`)
})

// ServersPath implements ServerCommand.
func (claude) ServersPath(user string) string { return filepath.Join(user, ".claude.json") }
