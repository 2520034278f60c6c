package imports

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/store"
)

// settledFile remembers the session files about which nothing has to be done until they
// change. Without it each of them is looked into once more.
const settledFile = "settled.json"

// maxSettled bounds that file, which names some hundred thousand sessions.
const maxSettled = 64 << 20

// A stamp is the size and the time of a file that is settled, in bytes and nanoseconds.
type stamp [2]int64

type settledFiles struct {
	V     int              `json:"v"`
	Files map[string]stamp `json:"files"` // by path
}

// Rested are the sessions of agents whose files fell silent.
type Rested struct {
	Sessions []capture.Request

	store *store.Store
	files []string // of each session
	was   map[string]stamp
	now   map[string]stamp
}

// restedTime is how long one look at the sessions of agents takes; the next one goes on.
const restedTime = 10 * time.Second

// Rested lists the sessions in the home folders of agents whose files were written last
// between two times, which between gives for each agent that is looked at. A file that was
// settled by an earlier look and did not change since costs one look at its folder.
func (im *Importer) Rested(ctx context.Context, between func(agent string) (from, until time.Time, ok bool)) (*Rested, error) {
	r := &Rested{store: im.store, was: readSettled(im.store), now: make(map[string]stamp)}
	until := time.Now().Add(restedTime)
	for _, h := range agent.All {
		if h.Sessions == nil {
			continue
		}
		from, silent, ok := between(h.Name)
		if !ok {
			continue
		}
		t, err := openTree(im.opts.Homes.Agents[h.Name])
		if err != nil {
			return r, err
		}
		if t == nil {
			continue
		}
		for _, pattern := range h.Sessions.SessionFiles() {
			for _, f := range t.match(ctx, pattern) {
				if f.err == nil && !f.info.ModTime().Before(from) && !f.info.ModTime().After(silent) {
					im.rested(r, t, h, f, from, time.Now().After(until))
				}
			}
		}
		t.close()
		if err := ctx.Err(); err != nil {
			return r, err
		}
	}
	return r, nil
}

// rested takes in the sessions of one file. late is when there is no time left to open it.
func (im *Importer) rested(r *Rested, t *tree, h *agent.Harness, f found, from time.Time, late bool) {
	name := filepath.Join(t.dir, filepath.FromSlash(f.name))
	is := stamp{f.info.Size(), f.info.ModTime().UnixNano()}
	if r.was[name] == is {
		r.now[name] = is
		return
	}
	if late {
		return
	}
	ids, err := t.sessionsIn(h.Sessions, f.name)
	r.now[name] = is // unless one of its sessions is not settled
	if err != nil {  // it stays as it is until it is written again
		r.damaged(name, err)
		return
	}
	place := newPlacer(im.store, h, t)
	for _, id := range ids {
		g, err := t.peek(h.Sessions, f.name, id)
		if err != nil {
			r.damaged(name, err)
			continue
		}
		if id != "" && g.Ended.Before(from) { // one of many in a file
			continue
		}
		q := capture.Request{Harness: h, Transcript: name, Session: id}
		if id == "" {
			q.Session = sessionID(t, g, f)
		}
		if g.Dir == "" {
			q.Dir = place.noted(f.name)
		}
		r.Sessions, r.files = append(r.Sessions, q), append(r.files, name)
	}
}

// damaged records for doctor that a file cannot be read. A later look passes over the file until it changes.
func (r *Rested) damaged(name string, err error) {
	_ = r.store.Events().Log(store.Record{Kind: store.Damaged, Text: name, Error: err.Error()}) // others are looked at
}

// Keep writes down which files are settled: those all of whose sessions are.
func (r *Rested) Keep(settled []bool) error {
	for i, ok := range settled {
		if !ok {
			delete(r.now, r.files[i])
		}
	}
	if maps.Equal(r.now, r.was) {
		return nil
	}
	data, err := json.Marshal(settledFiles{1, r.now})
	if err == nil {
		err = r.store.Replace(settledFile, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", settledFile, err)
	}
	return nil
}

// readSettled reads what earlier looks settled; a file that cannot be read says nothing.
func readSettled(s *store.Store) map[string]stamp {
	var was settledFiles
	data, err := s.ReadFile(settledFile, maxSettled)
	if err != nil || json.Unmarshal(data, &was) != nil {
		return nil
	}
	return was.Files
}
