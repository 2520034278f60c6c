package team

import (
	"context"

	"anamnesis/internal/index"
)

// A HomeServer is the index that machines of one person without a store read and write.
type HomeServer interface {
	Server
	// Found returns notes of the origins whose names begin with prefix, the oldest changes first.
	Found(ctx context.Context, prefix string, limit int) ([]index.Change, error)
	// Settle takes notes away from the origins that wrote them, and says why there. A note
	// that was changed since it was found stays.
	Settle(ctx context.Context, all []index.Settled) error
}

// AwayPrefix begins the origins of machines without a store. The name of no machine begins so.
const AwayPrefix = "away/"

// homeBatch is how many notes are taken home at once. A variable for tests.
var homeBatch = 256

// Home takes home what machines without a store wrote, and brings the server's rows of this
// origin into step with the notes here. take has a note safe on the disk when it returns why
// the row is not needed any more; it may be asked again about what it has taken. With "" the
// row stays. Only then, and when what came of it is on the server as this machine's, the row
// goes: Home may be stopped anywhere, and the next run does the rest.
func Home(
	ctx context.Context, server HomeServer, s Sender, take func(context.Context, index.Change) (why string, err error),
) (sent Sent, err error) {
	for {
		found, err := server.Found(ctx, AwayPrefix, homeBatch)
		if err != nil {
			return sent, err
		}
		var settled []index.Settled
		for _, c := range found {
			why, err := take(ctx, c)
			if err != nil {
				return sent, err
			}
			if why != "" {
				settled = append(settled, index.Settled{Origin: c.Origin, Path: c.Path, Hash: c.Hash, Why: why})
			}
		}
		once, err := Push(ctx, server, s)
		once.Put, once.Dropped = once.Put+sent.Put, once.Dropped+sent.Dropped
		if sent = once; err != nil {
			return sent, err
		}
		if len(settled) == 0 {
			return sent, nil
		}
		if err := server.Settle(ctx, settled); err != nil {
			return sent, err
		}
		if len(found) < homeBatch {
			return sent, nil
		}
	}
}
