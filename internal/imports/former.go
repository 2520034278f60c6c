package imports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// historySuffix ends the name of the file beside a note.
const historySuffix = ".history.yaml"

// maxFormer is how many former versions of one note are brought in, the newest.
const maxFormer = 50

// A version is what a note of reflect said before it was rewritten.
type version struct {
	at   time.Time // when it was
	key  string    // hash of the bytes
	text string
}

// formerly reads the versions that reflect keeps beside a note. A file that
// cannot be read is a problem of the plan; an entry that cannot is counted.
func (r *reflectReader) formerly(t *tree, name string, l *learning) {
	const kind = "former versions"
	data, err := t.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var all []version
	bad := 0
	if err == nil {
		all, bad, err = readVersions(decoded(data), r.im.store.Now())
	}
	if err != nil {
		r.plan.problem(fmt.Errorf("read learnings:%s: %w", name, err))
		return
	}
	r.lost["former versions that cannot be read, or have no time"] += bad
	if older := len(all) - maxFormer; older > 0 {
		r.lost[fmt.Sprintf("former versions beyond the newest %d of a note", maxFormer)] += older
		all = all[older:]
	}
	if len(all) > 0 {
		r.group(kind, len(all), "")
	}
	for _, v := range all {
		r.size += int64(len(v.text))
	}
	l.former = all
}

// decoded makes text of the bytes of a file.
func decoded(data []byte) string {
	text := strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\ufffd")
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\x00", "")
}

// readVersions reads a history: a list of entries with snapshot_at and previous,
// oldest first. Versions keep their order; two of one time are a millisecond apart.
func readVersions(text string, now time.Time) (all []version, bad int, err error) {
	entries, err := readList(text)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		at, ok := note.Stamp(e["snapshot_at"]).Time()
		said := decoded([]byte(e["previous"]))
		if !ok || at.Year() < 1970 || at.After(now) || strings.TrimSpace(said) == "" || len(said) > note.MaxBody {
			bad++
			continue
		}
		sum := sha256.Sum256([]byte(said))
		all = append(all, version{at: at.Truncate(time.Millisecond), key: hex.EncodeToString(sum[:]), text: said})
	}
	slices.SortStableFunc(all, func(a, b version) int { return a.at.Compare(b.at) })
	for i := 1; i < len(all); i++ {
		if !all[i].at.After(all[i-1].at) {
			all[i].at = all[i-1].at.Add(time.Millisecond)
		}
	}
	for len(all) > 0 && all[len(all)-1].at.After(now) {
		all, bad = all[:len(all)-1], bad+1
	}
	return all, bad, nil
}

// formerVersions makes the former versions of a learning forms of its note.
func (im *Importer) formerVersions(l *learning, n *note.Note) (all []ingest.FormerVersion) {
	for _, v := range l.former {
		old := parseLearning(l.stem, v.text)
		if old.note.CreatedAt == "" {
			old.note.CreatedAt = n.CreatedAt
		}
		if old.note.UpdatedAt == "" {
			old.note.UpdatedAt = note.At(v.at)
		}
		form := im.finish(old, n.ID, n.Project).note
		form.Scope, form.Provenance.Source, form.ImportedID = n.Scope, n.Provenance.Source, n.ImportedID
		if form.Validate() == nil {
			all = append(all, ingest.FormerVersion{At: v.at, Key: v.key, Form: form})
		}
	}
	return all
}

// importFormer adds the former versions of a draft to the history of its note,
// which stands. That they cannot be added is said and takes nothing back.
func (r *run) importFormer(ctx context.Context, it *Done) error {
	d := it.draft
	if d == nil || len(d.former) == 0 || it.ID != d.note.ID {
		return nil
	}
	added, err := r.im.ingester.ImportRevisions(ctx, it.ID, d.former)
	r.report.Former += added
	if err != nil && stops(err) {
		return err
	}
	if err != nil {
		it.Why = err.Error()
	}
	return nil
}
