//go:build !linux

package cli

import "anamnesis/internal/agent"

// parentProcess is unknown here.
func parentProcess() agent.Process { return agent.Process{} }
