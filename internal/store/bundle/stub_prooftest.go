//go:build prooftest

package bundle

// Stubs names the features that are taken out of this run.
var Stubs = map[string]bool{}

// stubbed reports whether a feature is taken out, to show that its proof notices.
func stubbed(id string) bool { return Stubs[id] }
