package flat

import (
	"encoding/binary"
	"strings"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// NoteColumns returns what every database of notes has of one in columns: id, path, size, mtime,
// hash, type, title, project, machine, user, workspace, source, session, confidence, created, updated,
// tags, dead, forget_after, statement, simhash, words, kind, branch, status, proofs, speculative and
// entities. n is the note of e, or what is to be known of it.
func NoteColumns(n *note.Note, e *index.Entry) []any {
	tags := ""
	if all := note.StandingTags(n); len(all) > 0 {
		tags = "\n" + strings.Join(all, "\n") + "\n" // so that one can be looked for
	}
	until := int64(0)
	if t, ok := n.ForgetAfter.Time(); ok {
		until = t.Unix()
	}
	sessions := make(map[string]bool)
	for _, v := range n.Evidence {
		sessions[v.Session] = true
	}
	return []any{
		string(n.ID), e.Ref.Path, e.Ref.Size, e.Ref.ModTime.UnixNano(), e.Hash[:], string(n.Type), n.Title, n.Project, n.MachineID,
		n.UserID, n.WorkspaceID, note.StandingSource(n), n.Provenance.Session, n.Provenance.Confidence, e.Created, e.Updated, tags,
		!n.Live(time.Time{}), until, e.Statement[:], int64(e.Simhash), e.Words, string(n.Kind), n.HeldTo(), n.Status,
		max(n.ProofCount, len(sessions)), n.Speculative || n.HasTag("speculative"), EncodeKeys(e.Entities),
	}
}

// ScanRow reads a row of the columns that index.Row has, and more behind them. Bytes is what the
// database reads a hash into.
func ScanRow[Bytes ~[]byte](r *index.Row, scan func(dest ...any) error, now time.Time, more ...any) error {
	var tags string
	var mtime, created, updated, forget int64
	var hash Bytes
	err := scan(append([]any{
		&r.Key, (*string)(&r.ID), &r.Ref.Path, &r.Ref.Size, &mtime, (*string)(&r.Type), &r.Title, &r.Project, &r.MachineID, &r.UserID,
		&r.WorkspaceID, &r.Source, &r.Session, &r.Confidence, &created, &updated, &tags, (*string)(&r.SupersededBy), &r.Dead, &forget,
		(*string)(&r.Kind), &r.Branch, &r.Status, &r.Proofs, &r.Speculative, &hash, &r.Origin,
	}, more...)...)
	if err != nil {
		return err
	}
	copy(r.Hash[:], hash)
	r.Ref.ModTime = time.Unix(0, mtime)
	r.Ref.Scope = ScopeOf(strings.HasPrefix(r.Ref.Path, "local/"))
	r.Created, r.Updated = TimeOf(created), TimeOf(updated)
	if tags != "" {
		r.Tags = strings.Split(strings.Trim(tags, "\n"), "\n")
	}
	r.Dead = r.Dead || r.SupersededBy != "" || forget != 0 && !now.IsZero() && forget <= now.Unix()
	return nil
}

// ScopeOf is the scope of a note, given whether it is local to a machine.
func ScopeOf(local bool) note.Scope {
	if local {
		return note.Local
	}
	return note.Portable
}

// ScanEdge reads a row of source, target, note, relation, source_name, target_name, strength,
// committed, valid and valid_end.
func ScanEdge(x *index.Edge, scan func(dest ...any) error) error {
	var from, to, committed, valid, end int64
	err := scan(&from, &to, &x.Note, (*string)(&x.Relation), &x.FromName, &x.ToName, &x.Strength, &committed, &valid, &end)
	x.From, x.To = index.EntityKey(from), index.EntityKey(to)
	x.Committed, x.Valid, x.ValidEnd = TimeOf(committed), TimeOf(valid), TimeOf(end)
	return err
}

// Seconds is a time in a column, 0 for none.
func Seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// TimeOf is the time that Seconds wrote.
func TimeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// EncodeKeys writes keys of entities into a column.
func EncodeKeys(keys []index.EntityKey) []byte {
	out := make([]byte, 0, 8*len(keys))
	for _, k := range keys {
		out = binary.LittleEndian.AppendUint64(out, uint64(k))
	}
	return out
}

// DecodeKeys reads what EncodeKeys wrote.
func DecodeKeys(data []byte) []index.EntityKey {
	keys := make([]index.EntityKey, len(data)/8)
	for i := range keys {
		keys[i] = index.EntityKey(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return keys
}
