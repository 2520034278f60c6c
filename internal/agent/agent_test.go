package agent_test

import (
	"path/filepath"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/agent/agenttest"
)

func TestHarnesses(t *testing.T) {
	for _, h := range agent.All {
		t.Run(h.Name, func(t *testing.T) {
			agenttest.Run(t, h, filepath.Join("testdata", h.Name))
		})
	}
}

func TestUnknownName(t *testing.T) {
	if h := agent.ByName("nobody"); h != nil {
		t.Errorf("ByName = %v, want nil", h)
	}
}
