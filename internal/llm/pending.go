package llm

import "errors"

// ErrPending says that a model was asked and the answer is not there yet.
var ErrPending = errors.New("the answer is not there yet")
