package llm

import "time"

// Claimed is a time at which a claim is old.
func Claimed() time.Time { return time.Now().Add(-2 * claimAge) }

// Classify says what an answer that was to be an object is.
func Classify(raw []byte) Class { return classify(string(raw), false) }

// ParseAnswer is parseAnswer.
var ParseAnswer = parseAnswer
