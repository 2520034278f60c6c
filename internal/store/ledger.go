package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
)

// The ledger says which words a person vouches for, on this machine. A note says it too (the keys
// prov_source, reviewed_at and vouched), where anybody can write it; a note is the user's word
// when the ledger has it just as it is.
//
// It is a folder of small text files, one for all ids whose hash begins with the same two digits. A
// line is an id and the hash of the words (note.Words). While a note is being replaced a line has two,
// the new one first: a machine that stops between the ledger and the note leaves the old form
// vouched for. The writer removes the one that the note does not have when it ends (narrow), because a
// former wording that somebody puts back is not the user's word; what a crash left the next writer of that file removes.
type ledger struct {
	s *Store

	mu     sync.Mutex
	shards map[string]shard // as they were read last
	begun  bool             // the store has a ledger
}

// A shard is one file of the ledger, as it was at a time.
type shard struct {
	file os.FileInfo
	sums map[note.ID][]string
}

// maxShard is the largest file of the ledger that is read, in bytes: room for 40,000 notes a file.
const maxShard = 4 << 20

// shardOf returns the path of the file that an id belongs to, relative to the root.
func shardOf(id note.ID) string {
	return layout.Authors + "/" + Digest([]byte(strings.ToLower(string(id))))[:2]
}

// has reports whether the ledger has a note as it is.
func (l *ledger) has(n *note.Note) bool {
	if !note.Claims(n) {
		return false
	}
	if !l.exists() {
		return note.Attested(n)
	}
	return slices.Contains(l.read(shardOf(n.ID)).sums[n.ID], note.Words(n))
}

// read returns a file of the ledger. One that is not there, or cannot be read, vouches for nothing.
func (l *ledger) read(path string) shard {
	fi, err := l.s.lstat(path)
	if err != nil {
		return shard{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if was, ok := l.shards[path]; ok && os.SameFile(was.file, fi) && was.file.Size() == fi.Size() && was.file.ModTime().Equal(fi.ModTime()) {
		return was
	}
	data, fi, err := l.s.readRegular(path, maxShard)
	if err != nil {
		return shard{}
	}
	sh := shard{fi, parseShard(data)}
	if l.shards == nil {
		l.shards = make(map[string]shard)
	}
	l.shards[path] = sh
	return sh
}

// parseShard reads the lines of a file of the ledger. A line that is none is passed over.
func parseShard(data []byte) map[note.ID][]string {
	sums := make(map[note.ID][]string)
	for line := range bytes.Lines(data) {
		parts := strings.Fields(string(line))
		if len(parts) < 2 || len(parts) > 3 {
			continue
		}
		if id, err := note.ParseID(parts[0]); err == nil {
			sums[id] = parts[1:]
		}
	}
	return sums
}

func formatShard(sums map[note.ID][]string) []byte {
	var out bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&out, "%s %s\n", id, strings.Join(sums[id], " "))
	}
	return out.Bytes()
}

// Vouch enters in the ledger that a person vouches for what notes say, and writes it into them
// (note.Vouch). The caller puts them afterwards.
func (w *Writer) Vouch(notes ...*note.Note) error {
	entries := make(map[note.ID]string, len(notes))
	for _, n := range notes {
		note.Vouch(n)
		entries[n.ID] = n.Vouched
	}
	return w.enter(entries)
}

// Trust is Vouch for a note of which only what surrounds its words changed: a file of an earlier
// program stays without the key.
func (w *Writer) Trust(n *note.Note) error {
	if n.Vouched != "" {
		return w.Vouch(n)
	}
	n.Trusted = true
	return w.enter(map[note.ID]string{n.ID: note.Words(n)})
}

// enter adds entries to the ledger.
func (w *Writer) enter(entries map[note.ID]string) error {
	return w.changeLedger(slices.Collect(maps.Keys(entries)), func(id note.ID, sums map[note.ID][]string) {
		sum := entries[id]
		if had := sums[id]; len(had) == 0 || had[0] != sum {
			sums[id] = append([]string{sum}, had[:min(1, len(had))]...)
		}
	})
}

// Disown removes notes from the ledger: no person vouches for them any more, or they were forgotten.
func (w *Writer) Disown(ids ...note.ID) error {
	return w.changeLedger(ids, func(id note.ID, sums map[note.ID][]string) { delete(sums, id) })
}

func (w *Writer) changeLedger(ids []note.ID, change func(note.ID, map[note.ID][]string)) error {
	byShard := make(map[string][]note.ID)
	for _, id := range ids {
		path := shardOf(id)
		byShard[path] = append(byShard[path], id)
	}
	for _, path := range slices.Sorted(maps.Keys(byShard)) {
		data, _, err := w.s.readRegular(path, maxShard)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read the ledger of authors %s: %w", w.s.Path(path), err)
		}
		sums := parseShard(data)
		var lines []*Change
		for _, id := range byShard[path] {
			was := newest(sums[id])
			change(id, sums)
			if now := newest(sums[id]); now != was {
				lines = append(lines, &Change{Kind: AuthorChange, ID: id, Former: was, Now: now})
			}
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(sums)), func(all []string) bool { return len(all) > 1 }) {
			w.wide = append(w.wide, path)
		}
		now := formatShard(sums)
		if bytes.Equal(now, data) {
			continue
		}
		if err := w.decision.add(lines...); err != nil {
			return err
		}
		if err := w.Replace(path, now); err != nil {
			return fmt.Errorf("write the ledger of authors %s: %w", w.s.Path(path), err)
		}
	}
	return nil
}

// narrow leaves in the files of the ledger that have a line with two hashes the one that is the note's, once all
// notes are written. A line of which neither is stays as it is, and vouches for nothing.
func (w *Writer) narrow() {
	slices.Sort(w.wide)
	for _, path := range slices.Compact(w.wide) {
		data, _, err := w.s.readRegular(path, maxShard)
		if err != nil {
			continue
		}
		sums := parseShard(data)
		for id, all := range sums {
			if len(all) < 2 {
				continue
			}
			if n, _, err := Get(w.s, id); err == nil && slices.Contains(all, note.Words(n)) {
				sums[id] = []string{note.Words(n)}
			}
		}
		if now := formatShard(sums); !bytes.Equal(now, data) {
			_ = w.Replace(path, now) // the next writer of the file tries again
		}
	}
	w.wide = nil
}

// newest returns the hash of a line that is, or will be, the note's; "" for no line.
func newest(sums []string) string {
	if len(sums) == 0 {
		return ""
	}
	return sums[0]
}

// Authors returns the hash that the ledger has of a note, "" when it has none.
func Authors(s *Store, id note.ID) string { return newest(s.ledger.read(shardOf(id)).sums[id]) }

// SetAuthors gives a note the hash that Authors returned for it once.
func SetAuthors(w *Writer, id note.ID, sum string) error {
	if sum == "" {
		return w.Disown(id)
	}
	return w.enter(map[note.ID]string{id: sum})
}

// Trusts reports whether a person vouches for what a note says, by the ledger of this machine.
func Trusts(s *Store, n *note.Note) bool { return s.ledger.has(n) }

// ledgerBegun is the file that says that the store has a ledger: when it was begun.
const ledgerBegun = layout.Authors + "/begun"

// exists reports whether the store has a ledger. A store gets it when its folders are made; one of an earlier
// program has none until the first write, and until then what its notes claim counts.
func (l *ledger) exists() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begun {
		_, err := l.s.lstat(ledgerBegun)
		l.begun = err == nil
	}
	return l.begun
}

// beginLedger makes the ledger of a store that has none. A note counts as the person's when its
// file says so, and as reviewed when the event log has the change that tagged it. All others that
// were tagged as reviewed have to be reviewed again.
func (w *Writer) beginLedger() error {
	s := w.s
	if s.ledger.exists() {
		return nil
	}
	changed := s.loggedChanges()
	entries := make(map[note.ID]string)
	for ref := range s.Walk() {
		n, _, ref, err := s.Read(ref.Path)
		if err != nil {
			continue // no note that can be read, so none that anyone vouches for
		}
		if n.HasTag(note.ReviewedTag) && changed[n.ID][string(n.UpdatedAt)] {
			n.Reviewed = n.UpdatedAt
			note.Vouch(n)
			if _, _, err := w.Put(n, ref, Update); err != nil {
				return err
			}
		}
		if note.Attested(n) {
			entries[n.ID] = note.Words(n)
		}
	}
	if err := w.enter(entries); err != nil {
		return err
	}
	return s.startLedger()
}

// startLedger writes down that there is a ledger.
func (s *Store) startLedger() error {
	return s.replace(ledgerBegun, []byte(s.Now().UTC().Format(time.RFC3339)+"\n"), true)
}

// loggedChanges returns the seconds, as stamps, at which the event log has changes of each note. A log
// that cannot be read proves nothing, and does not prevent a write.
func (s *Store) loggedChanges() map[note.ID]map[string]bool {
	changed := make(map[note.ID]map[string]bool)
	files, _ := s.Events().Files()
	for _, file := range files {
		_, _ = s.Events().Records(file, 0, func(r Record) {
			at, err := time.Parse(time.RFC3339, r.At)
			if r.Kind != Written || err != nil {
				return
			}
			for _, id := range r.Notes {
				if changed[id] == nil {
					changed[id] = make(map[string]bool)
				}
				changed[id][string(note.At(at))] = true
			}
		})
	}
	return changed
}
