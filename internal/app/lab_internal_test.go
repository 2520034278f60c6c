package app

import (
	"testing"

	"anamnesis/internal/config"
)

// A throw-away store has the models of the store that it was made for, however many of
// them were opened on the way, and changes no setting there.
func TestThrowAwayStoresHaveTheModels(t *testing.T) {
	h := Host{Config: &config.Config{Home: "/store"}}
	first := h.At("/first")
	second := first.At("/second")
	if second.modelsOf != "/store" || second.Config.Home != "/second" || second.Config.UserHome != "/second" {
		t.Errorf("models of %s, in %s", second.modelsOf, second.Config.Home)
	}
	if h.Config.Home != "/store" || first.Config.Home != "/first" || h.modelsOf != "" {
		t.Errorf("the hosts below are %s and %s now", h.Config.Home, first.Config.Home)
	}
}
