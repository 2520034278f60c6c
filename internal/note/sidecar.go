package note

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// A Warning is something in a sidecar that was skipped or replaced.
type Warning struct {
	Line int // line of the file, from 1
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("line %d: %s", w.Line, w.Text) }

// ParseSidecar reads a sidecar. It bears with what is missing, up to an empty
// file: an entity of an unknown type is a concept, an edge that is not whole
// or has an unknown relation is left out, and so is an unknown key; each of
// them has its warning.
// The error is about files that are no YAML mapping.
func ParseSidecar(data []byte) (*Sidecar, []Warning, error) {
	text, err := sidecarText(data)
	if err != nil {
		return nil, nil, err
	}
	root, err := parseYAML(text)
	if err != nil {
		var field *FieldError
		if errors.As(err, &field) {
			field.Line-- // a sidecar has no line of dashes in front
			field.sidecar = true
		}
		return nil, nil, err
	}
	r := &sidecarReader{out: new(Sidecar)}
	for _, pair := range root {
		switch key := pair.Key.GetToken().Value; key {
		case "document_id":
			r.out.DocumentID = ID(r.scalar(key, pair.Value))
		case "extracted_at":
			r.out.ExtractedAt = Stamp(r.scalar(key, pair.Value))
		case "entities":
			r.each(key, pair.Value, r.entity)
		case "relationships":
			r.each(key, pair.Value, r.edge)
		default:
			r.warn(lineOf(pair.Key), "%q is no key of a sidecar; left out, the keys are document_id, extracted_at, entities and relationships", key)
		}
	}
	return r.out, r.warnings, nil
}

type sidecarReader struct {
	out      *Sidecar
	warnings []Warning
}

func (r *sidecarReader) warn(line int, format string, args ...any) {
	r.warnings = append(r.warnings, Warning{line, fmt.Sprintf(format, args...)})
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil {
		return 1
	}
	return n.GetToken().Position.Line
}

func (r *sidecarReader) scalar(key string, n ast.Node) string {
	s, err := scalarOf(n)
	if err != nil {
		r.warn(lineOf(n), "%s %v; left out", key, err)
	}
	return s.String()
}

// each calls f for every mapping of a list.
func (r *sidecarReader) each(key string, n ast.Node, f func(line int, get func(string) string)) {
	if s, err := scalarOf(n); err == nil && s.String() == "" {
		return
	}
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		r.warn(lineOf(n), "%s must be a list; left out", key)
		return
	}
	for _, item := range list.Values {
		var pairs []*ast.MappingValueNode
		switch m := item.(type) {
		case *ast.MappingNode:
			pairs = m.Values
		case *ast.MappingValueNode:
			pairs = []*ast.MappingValueNode{m}
		default:
			r.warn(lineOf(item), "%s: an item is not a mapping; left out", key)
			continue
		}
		f(lineOf(item), func(key string) string {
			for _, p := range pairs {
				if p.Key.GetToken().Value == key {
					return r.scalar(key, p.Value)
				}
			}
			return ""
		})
	}
}

func (r *sidecarReader) entity(line int, get func(string) string) {
	e := Entity{Name: get("name"), Type: EntityType(get("type")), Description: get("description")}
	if e.Name == "" {
		r.warn(line, "an entity without a name; left out")
		return
	}
	if !slices.Contains(EntityTypes, e.Type) {
		if e.Type != "" {
			r.warn(line, "entity %q has the unknown type %q; taken for a concept", e.Name, e.Type)
		}
		e.Type = Concept
	}
	r.out.Entities = append(r.out.Entities, e)
}

func (r *sidecarReader) edge(line int, get func(string) string) {
	e := Edge{
		Source: get("source"), Target: get("target"), Relation: Relation(get("type")), Description: get("description"),
		Strength: DefaultStrength, Committed: Stamp(get("tcommit")), Valid: Stamp(get("tvalid")), ValidEnd: Stamp(get("tvalid_end")),
		Superseded: get("superseded_by"),
	}
	if e.Source == "" || e.Target == "" {
		if get("from") != "" || get("to") != "" {
			r.warn(line, `a relationship has the keys "from" and "to"; left out, write "source" and "target"`)
		} else {
			r.warn(line, `a relationship without "source" or "target"; left out`)
		}
		return
	}
	if !slices.Contains(Relations, e.Relation) {
		r.warn(line, "relationship %q to %q has the unknown type %q; left out, the types are %v", e.Source, e.Target, e.Relation, Relations)
		return
	}
	if s := get("strength"); s != "" {
		strength, err := strconv.Atoi(s)
		if err != nil || strength < minStrength || strength > MaxStrength {
			r.warn(line, "strength %q is not a whole number from %d to %d; taken for %d", s, minStrength, MaxStrength, DefaultStrength)
			strength = DefaultStrength
		}
		e.Strength = strength
	}
	for _, s := range []*Stamp{&e.Committed, &e.Valid, &e.ValidEnd} {
		if _, ok := s.Time(); *s != "" && !ok {
			r.warn(line, "%q is not a time; left out", *s)
			*s = ""
		}
	}
	from, ok1 := e.Valid.Time()
	if to, ok2 := e.ValidEnd.Time(); ok1 && ok2 && to.Before(from) {
		r.warn(line, "tvalid_end %q precedes tvalid %q; left out", e.ValidEnd, e.Valid)
		e.ValidEnd = ""
	}
	r.out.Edges = append(r.out.Edges, e)
}

// FormatSidecar returns the file of a sidecar.
func FormatSidecar(s *Sidecar) []byte {
	var w sidecarWriter
	w.put("document_id: ", string(s.DocumentID), true)
	w.put("extracted_at: ", string(s.ExtractedAt), true)
	w.open("entities:", len(s.Entities))
	for _, e := range s.Entities {
		w.put("- name: ", e.Name, true)
		w.put("  type: ", string(e.Type), true)
		w.put("  description: ", e.Description, true)
	}
	w.open("relationships:", len(s.Edges))
	for _, e := range s.Edges {
		w.put("- source: ", e.Source, true)
		w.put("  target: ", e.Target, true)
		w.put("  type: ", string(e.Relation), true)
		w.put("  description: ", e.Description, true)
		strength := e.Strength
		if strength == 0 {
			strength = DefaultStrength
		}
		w.b = append(w.b, "  strength: "+strconv.Itoa(strength)+"\n"...)
		w.put("  tcommit: ", string(e.Committed), false)
		w.put("  tvalid: ", string(e.Valid), false)
		w.put("  tvalid_end: ", string(e.ValidEnd), false)
		w.put("  superseded_by: ", e.Superseded, false)
	}
	return w.b
}

type sidecarWriter struct{ b []byte }

func (w *sidecarWriter) open(key string, items int) {
	w.b = append(w.b, key...)
	if items == 0 {
		w.b = append(w.b, " []"...)
	}
	w.b = append(w.b, '\n')
}

func (w *sidecarWriter) put(key, s string, always bool) {
	if s != "" || always {
		w.b = append(appendText(append(w.b, key...), s), '\n')
	}
}
