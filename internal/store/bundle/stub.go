//go:build !prooftest

package bundle

// stubbed reports whether a feature is taken out, to show that its proof
// notices. In a release it never is; see stub_prooftest.go.
func stubbed(string) bool { return false }
