package capture

import (
	"context"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
)

// Bounds of the wait for an agent that writes its records after its hooks ran: how long,
// how often it is looked, and how much of the end of a file says that it is whole.
const (
	lateWait = 5 * time.Second
	lateStep = 50 * time.Millisecond
	lateTail = 64 << 10
)

// late reports whether an agent writes its records after its hooks ran.
func late(h *agent.Harness) bool {
	w, ok := h.Sessions.(agent.LateWriter)
	return ok && w.Late()
}

// awaitEnd waits until the file of a session that has ended is whole: it has grown since the
// hook ran, and tells its end. A session that was resumed shown an end before. A file that
// never gets there is taken as it is after a while; the background run has the time.
func awaitEnd(ctx context.Context, h *agent.Harness, j Job) {
	if j.Source != note.SessionEnd || !late(h) {
		return
	}
	w := h.Sessions.(agent.LateWriter)
	if w.Ended(nil) { // it tells no end
		return
	}
	step := time.NewTicker(lateStep)
	defer step.Stop()
	stop := time.NewTimer(lateWait)
	defer stop.Stop()
	for {
		tail, size := tailOf(j.Transcript)
		if size > j.Seen && w.Ended(tail) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-stop.C:
			return
		case <-step.C:
		}
	}
}

// tailOf reads the last bytes of a file, and its size; none of one that cannot be read.
func tailOf(name string) (tail []byte, size int64) {
	f, err := openRegular(name)
	if err != nil {
		return nil, 0
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, 0
	}
	buf := make([]byte, min(fi.Size(), lateTail))
	n, _ := f.ReadAt(buf, fi.Size()-int64(len(buf)))
	return buf[:n], fi.Size()
}
