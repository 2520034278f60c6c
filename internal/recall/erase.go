package recall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// A Trace is what is known of notes whose text is about to go, so that what was
// derived from them can be found afterwards. It holds no text.
type Trace struct {
	ids    []note.ID
	hashes map[uint32]bool // of what they say
}

// Empty reports whether t is about no note.
func (t Trace) Empty() bool { return len(t.ids) == 0 }

// TraceOf returns what is known of notes by what they say: the index knows none that is forgotten and not erased yet.
func TraceOf(all ...*note.Note) Trace {
	t := Trace{hashes: make(map[uint32]bool)}
	for _, n := range all {
		t.ids = append(t.ids, n.ID)
		for _, token := range index.Tokens(n.Statement() + "\n" + strings.Join(n.Tags, " ")) {
			t.hashes[index.TokenHash(token)] = true
		}
	}
	return t
}

// And returns what is known of the notes of both.
func (t Trace) And(other Trace) Trace {
	all := Trace{ids: slices.Concat(t.ids, other.ids), hashes: make(map[uint32]bool)}
	maps.Copy(all.hashes, t.hashes)
	maps.Copy(all.hashes, other.hashes)
	return all
}

// Trace looks at notes before they are erased or changed. Those that the index
// does not know are passed over.
func (e *Engine) Trace(ctx context.Context, ids ...note.ID) (Trace, error) {
	t := Trace{ids: ids, hashes: make(map[uint32]bool)}
	var keys []int64
	for _, id := range ids {
		row, ok, err := e.index.Lookup(ctx, id)
		if err != nil {
			return t, fmt.Errorf("look at note %s: %w", id, err)
		}
		if ok {
			keys = append(keys, row.Key)
		}
	}
	hashes, err := e.index.Hashes(ctx, keys)
	for _, h := range hashes {
		t.hashes[h] = true
	}
	return t, err
}

// Erase takes what was derived from notes that are gone, or say something else now,
// out of the event log and the corpora. The index knows of their end already;
// index.Purge is what its files need.
//
// Of the event log go the questions that such a note was an answer to, when it is
// gone, and every text with a word that no note says any more and one of these did. The
// record stays, and what it counts. Corpora lose the entries of notes that are gone;
// of changed ones they take the new title.
func (e *Engine) Erase(ctx context.Context, t Trace) error {
	if len(t.ids) == 0 {
		return nil
	}
	gone := make(map[note.ID]bool)
	for _, id := range t.ids {
		_, ok, err := e.index.Lookup(ctx, id)
		if err != nil {
			return fmt.Errorf("erase what was derived from note %s: %w", id, err)
		}
		gone[id] = !ok
	}
	return errors.Join(e.scrubEvents(ctx, t, gone), e.scrubCorpora(ctx, t, gone))
}

// scrubEvents takes texts out of the event log.
func (e *Engine) scrubEvents(ctx context.Context, t Trace, gone map[note.ID]bool) error {
	unsaid := make(map[string]bool) // of tokens that were looked up
	lost := func(text string) bool {
		var ask []string
		tokens := index.Tokens(text)
		for _, token := range tokens {
			if _, known := unsaid[token]; !known && t.hashes[index.TokenHash(token)] {
				ask = append(ask, token)
			}
		}
		if len(ask) > 0 {
			terms, err := e.index.Frequencies(ctx, ask)
			for i, token := range ask {
				unsaid[token] = err != nil || terms[i].Frequency == 0 // who cannot tell erases
			}
		}
		return slices.ContainsFunc(tokens, func(token string) bool { return unsaid[token] })
	}
	_, err := e.store.Events().Scrub(func(r *store.Record) bool {
		asked := r.Shows() || slices.Contains([]string{store.Recalled, store.Gap, store.Tasked, store.Policed}, r.Kind)
		about := asked && slices.ContainsFunc(r.Notes, func(id note.ID) bool { return gone[id] })
		changed := false
		texts := []*string{&r.Query, &r.Error}
		if r.Kind == store.Gap { // of other records it is one of a few words of ours
			texts = append(texts, &r.Text)
		}
		for _, text := range texts {
			if *text != "" && (about || lost(*text)) {
				*text, changed = "", true
			}
		}
		return changed
	})
	if errors.Is(err, store.ErrReadOnly) {
		return nil
	}
	return err
}

// scrubCorpora takes titles out of the corpora.
func (e *Engine) scrubCorpora(ctx context.Context, t Trace, gone map[note.ID]bool) error {
	all, err := e.Corpora()
	for _, c := range all {
		changed := false
		c.Entries = slices.DeleteFunc(c.Entries, func(entry CorpusEntry) bool {
			changed = changed || gone[entry.ID]
			return gone[entry.ID]
		})
		for i := range c.Entries {
			entry := &c.Entries[i]
			if !slices.ContainsFunc(t.ids, func(id note.ID) bool { return strings.EqualFold(string(id), string(entry.ID)) }) {
				continue
			}
			row, ok, lerr := e.index.Lookup(ctx, entry.ID)
			if err = errors.Join(err, lerr); ok && (row.Title != entry.Title || !slices.Equal(row.Tags, entry.Tags)) {
				entry.Title, entry.Tags, changed = row.Title, row.Tags, true
			}
		}
		if !changed {
			continue
		}
		c.Count = len(c.Entries)
		err = errors.Join(err, e.writeCorpus(c))
	}
	return err
}

// writeCorpus replaces the file of a corpus.
func (e *Engine) writeCorpus(c *Corpus) error {
	data, err := json.MarshalIndent(c, "", " ")
	if err == nil {
		err = e.store.Replace(corpusFile(c.Name), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write corpus %q: %w", c.Name, err)
	}
	return nil
}
