package sqlite

import (
	"encoding/json"
	"slices"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// literal takes the meaning from what LIKE reads as a wildcard.
var literal = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// visible makes the condition that lets one note of each id through: that of
// our own origin, else the one that was updated last, else of the first origin.
func (d *conn) visible(n string) string {
	if d.opts.Origin == "" {
		return n + ".shared < 2" // share has worked it out
	}
	return "(" + n + ".shared = 0 OR " + first(n, d.opts.Origin) + ")"
}

// first makes the condition that a note is what the readers of an origin see of its id.
func first(n, own string) string {
	own = "'" + strings.ReplaceAll(own, "'", "''") + "'"
	return strings.NewReplacer("{n}", n, "{own}", own).Replace(`NOT EXISTS (SELECT 1 FROM notes o WHERE o.id = {n}.id AND o.key <> {n}.key AND
		CASE WHEN {n}.origin = {own} THEN 0 WHEN o.origin = {own} THEN 1 WHEN o.updated <> {n}.updated
			THEN o.updated > {n}.updated ELSE o.origin < {n}.origin END)`)
}

// where makes the condition of a filter on the table notes, named n.
func (d *conn) where(f index.Filter) (cond string, args []any) {
	all := []string{d.seen}
	add := func(c string, a ...any) { all, args = append(all, c), append(args, a...) }
	in := func(column string, n int, value func(int) any) {
		if n == 0 {
			return
		}
		for i := range n {
			args = append(args, value(i))
		}
		all = append(all, column+" IN (?"+strings.Repeat(", ?", n-1)+")")
	}
	in("n.project", len(f.Projects), func(i int) any { return f.Projects[i] })
	in("n.type", len(f.Types), func(i int) any { return string(f.Types[i]) })
	if f.Scope != "" {
		add("substr(n.path, 1, 6) "+map[bool]string{true: "=", false: "<>"}[f.Scope == note.Local]+" ?", "local/")
	}
	if f.UserID != "" {
		add("n.user = ?", f.UserID)
	}
	if f.WorkspaceID != "" {
		add("n.workspace = ?", f.WorkspaceID)
	}
	for _, t := range f.Tags {
		if t == tagLearnt {
			add("instr(n." + learnt)
			continue
		}
		add("instr(n.tags, ?) > 0", "\n"+t+"\n")
	}
	if f.WithoutTag != "" {
		add("instr(n.tags, ?) = 0", "\n"+f.WithoutTag+"\n")
	}
	if f.Kind != "" {
		add("n.kind = ? AND n.kind <> ''", string(f.Kind)) // the second for the index of those that have one
	}
	if len(f.WithoutKinds) > 0 { // a plain n.kind SQLite compares with the index, and plans again for each value
		in("+n.kind NOT", len(f.WithoutKinds), func(i int) any { return string(f.WithoutKinds[i]) })
	}
	in("n.source", len(f.Sources), func(i int) any { return f.Sources[i] })
	if f.Dead && f.OnlyDead {
		add("n.dead = 1")
	}
	if f.Dead && f.Over {
		add("n.forget_after > 0 AND n.forget_after <= ?", f.Now.Unix())
	}
	if !f.Dead {
		add("n.dead = 0 AND n.superseded_by = '' AND (n.forget_after = 0 OR n.forget_after > ?)", f.Now.Unix())
	}
	if len(f.Branches) > 0 {
		in("n.branch", len(f.Branches)+1, func(i int) any { return append([]string{""}, f.Branches...)[i] })
	}
	if named := slices.DeleteFunc(slices.Clone(f.Branches), func(b string) bool { return b == "" }); len(named) > 0 && !f.Dead {
		// What a note of the branch supersedes is hidden from its readers only.
		for i := range named {
			args = append(args, named[i])
		}
		all = append(all, "NOT EXISTS (SELECT 1 FROM supersedes s JOIN notes b ON b.key = s.note WHERE s.target = n.id AND b.id <> n.id "+
			"AND b.dead = 0 AND "+d.visible("b")+" AND b.branch IN (?"+
			strings.Repeat(", ?", len(named)-1)+"))")
	}
	if f.Own {
		add("n.origin = ?", d.opts.Origin)
	}
	if f.Confidence > 0 {
		add("n.confidence >= ?", f.Confidence)
	}
	if !f.From.IsZero() {
		add("CASE n.updated WHEN 0 THEN n.created ELSE n.updated END >= ?", f.From.Unix())
	}
	if !f.To.IsZero() {
		add("CASE n.updated WHEN 0 THEN n.created ELSE n.updated END BETWEEN 1 AND ?", f.To.Unix())
	}
	if len(f.Only) > 0 {
		list, _ := json.Marshal(f.Only) // cannot fail: ids are text
		add("n.id IN (SELECT value FROM json_each(?))", string(list))
	}
	if f.Part != "" {
		part := literal.Replace(f.Part)
		add(`(n.id LIKE ? ESCAPE '\' OR n.id LIKE ? ESCAPE '\')`, part+"%", "%"+part)
	}
	return strings.Join(all, " AND "), args
}
