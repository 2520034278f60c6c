package llm

import "time"

// Claimed is a time at which a claim is old.
func Claimed() time.Time { return time.Now().Add(-2 * claimAge) }
