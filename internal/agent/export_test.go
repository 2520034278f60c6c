package agent

// Claude is the implementation of Claude Code, for tests of what is its own.
type Claude = claude
