package replica

import "context"

// none is the backend of people who want no git. It does nothing.
type none struct{}

var _ Backend = none{}

func openNone(Options) (Backend, error) { return none{}, nil }

func (none) Commit(context.Context, []string) (bool, error) { return false, nil }

func (none) Sync(context.Context) (Outcome, error) { return Outcome{Detail: "sync is off"}, nil }

func (none) State(context.Context) (State, error) { return State{Detail: "sync is off"}, nil }
