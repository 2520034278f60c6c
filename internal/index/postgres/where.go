package postgres

import (
	"strconv"
	"strings"

	"anamnesis/internal/index"
	"anamnesis/internal/note"
)

// literal takes the meaning from what LIKE reads as a wildcard.
var literal = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// A query is a statement that is being written, with its parameters after the
// workspace. The first of them is our origin.
type query struct {
	args []any
}

func (c *conn) query() *query { return &query{args: []any{c.origin}} }

// arg adds a parameter and returns its name.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return "$" + strconv.Itoa(len(q.args)+1)
}

// visible makes the condition that lets one note of each id through: that of our own
// origin, else one for which the user vouches, else the one that was updated last, else of the first
// origin.
func visible(n string) string {
	fill := strings.NewReplacer("{n}", n, "{n vouched}", vouchedFor(n), "{o vouched}", vouchedFor("o"))
	return fill.Replace(`(NOT {n}.shared OR NOT EXISTS (SELECT 1 FROM anamnesis.notes o WHERE o.workspace = $1 AND o.folded = {n}.folded
		AND o.key <> {n}.key AND CASE WHEN {n}.origin = $2 THEN false WHEN o.origin = $2 THEN true
			WHEN {o vouched} <> {n vouched} THEN {o vouched} WHEN o.updated <> {n}.updated
			THEN o.updated > {n}.updated ELSE o.origin < {n}.origin END))`)
}

// vouchedFor makes the condition that the user vouches for a row, as index.Row has it (Vouched).
func vouchedFor(n string) string {
	return "(" + n + ".writer IS NOT NULL AND (" + n + ".source IN ('human', 'user') OR strpos(" + n + ".tags, E'\\nreviewed\\n') > 0))"
}

// owned makes the condition that an owner of the workspace wrote a row, on a machine with a store.
func owned(n string) string {
	return "(" + n + ".origin = ANY ((SELECT anamnesis.owned_origins())::text[]))"
}

// where makes the condition of a filter on the table notes, named n.
func (q *query) where(f index.Filter) string {
	all := []string{"n.workspace = $1", visible("n")}
	add := func(parts ...string) { all = append(all, strings.Join(parts, "")) }
	in := func(column, not string, values []string) {
		if len(values) > 0 {
			add(not, column, " = ANY(", q.arg(values), "::text[])")
		}
	}
	if f.Own {
		add("n.origin = $2")
	}
	in("n.project", "", escapeAll(f.Projects))
	in("n.type", "", escapeAll(f.Types))
	switch f.Scope {
	case "":
	case note.Local:
		add("starts_with(n.path, 'local/')")
	default:
		add("NOT starts_with(n.path, 'local/')")
	}
	if f.UserID != "" {
		add("n.author = ", q.arg(escape(f.UserID)))
	}
	if f.WorkspaceID != "" {
		add("n.team = ", q.arg(escape(f.WorkspaceID)))
	}
	for _, t := range f.Tags {
		add("strpos(n.tags, ", q.arg(escape("\n"+t+"\n")), ") > 0")
	}
	if f.WithoutTag != "" {
		add("strpos(n.tags, ", q.arg(escape("\n"+f.WithoutTag+"\n")), ") = 0")
	}
	if f.Kind != "" {
		add("n.kind <> '' AND n.kind = ", q.arg(escape(string(f.Kind))))
	}
	in("n.kind", "NOT ", escapeAll(f.WithoutKinds))
	in("n.source", "", escapeAll(f.Sources))
	if f.Dead && f.OnlyDead {
		add("n.dead")
	}
	if f.Dead && f.Over {
		add("n.forget_after > 0 AND n.forget_after <= ", q.arg(f.Now.Unix()), "::bigint")
	}
	if !f.Dead {
		add("NOT n.dead AND n.superseded_by = '' AND (n.forget_after = 0 OR n.forget_after > ", q.arg(f.Now.Unix()), "::bigint)")
	}
	q.branches(f, add)
	if f.Confidence > 0 {
		add("n.confidence >= ", q.arg(f.Confidence))
	}
	const effective = "CASE n.updated WHEN 0 THEN n.created ELSE n.updated END"
	if !f.From.IsZero() {
		add(effective, " >= ", q.arg(f.From.Unix()))
	}
	if !f.To.IsZero() {
		add(effective, " BETWEEN 1 AND ", q.arg(f.To.Unix()))
	}
	if len(f.Only) > 0 {
		in("n.folded", "", foldAll(f.Only))
	}
	if f.Part != "" {
		part := literal.Replace(fold(f.Part))
		add("(n.folded LIKE ", q.arg(part+"%"), " OR n.folded LIKE ", q.arg("%"+part), ")")
	}
	return strings.Join(all, " AND ")
}

// branches adds the conditions of Filter.Branches.
func (q *query) branches(f index.Filter, add func(...string)) {
	if len(f.Branches) == 0 {
		return
	}
	add("n.branch = ANY(", q.arg(append([]string{""}, escapeAll(f.Branches)...)), "::text[])")
	var named []string
	for _, b := range f.Branches {
		if b != "" {
			named = append(named, escape(b))
		}
	}
	if len(named) == 0 || f.Dead {
		return
	}
	// What a note of the branch supersedes is hidden from its readers only, and what an owner wrote by an owner's alone.
	add("NOT EXISTS (SELECT 1 FROM anamnesis.supersedes s JOIN anamnesis.notes b ON b.workspace = $1 AND b.key = s.note "+
		"WHERE s.workspace = $1 AND s.target = n.folded AND b.folded <> n.folded AND NOT b.dead AND "+
		"("+owned("b")+" OR NOT "+owned("n")+") AND "+visible("b")+
		" AND b.branch = ANY(", q.arg(named), "::text[]))")
}

func foldAll(ids []note.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = fold(string(id))
	}
	return out
}
