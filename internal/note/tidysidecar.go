package note

// Tidied counts what Tidy united or took out.
type Tidied struct {
	Entities int // that stood there twice
	Edges    int // that stood there twice, or lead from a thing to itself
	Ends     int // edges and entities that were one of the notes that are gone
}

// Any reports whether there was anything.
func (t Tidied) Any() bool { return t != Tidied{} }

// Tidy returns a sidecar without what says nothing: entities that are one under two
// spellings are united, the spelling that comes first in the file stays and edges are led
// to it, edges that are one are united as ReconcileSidecars does, and one that leads from a
// thing to itself goes. Names are one when key says so; "" is the key of no name. What
// names a note that is gone goes too. The order stays; the sidecar that is given is not
// changed, and a second Tidy finds nothing.
func (s *Sidecar) Tidy(key func(name string) string, gone func(ID) bool) (*Sidecar, Tidied) {
	var t Tidied
	out := *s
	out.Entities, out.Edges = nil, nil
	first := make(map[string]string) // by key, the spelling that stays
	lost := func(name string) bool {
		id, err := ParseID(name)
		return err == nil && gone(id)
	}
	at := make(map[string]int)
	for _, e := range s.Entities {
		k := key(e.Name)
		i, twice := at[k]
		switch {
		case lost(e.Name):
			t.Ends++
		case k != "" && twice:
			t.Entities++
			out.Entities[i].Description = longer(out.Entities[i].Description, e.Description)
			if out.Entities[i].Type == Concept {
				out.Entities[i].Type = e.Type
			}
		default:
			at[k], first[k] = len(out.Entities), e.Name
			out.Entities = append(out.Entities, e)
		}
	}
	spelling := func(name string) string {
		if stays, ok := first[key(name)]; ok {
			return stays
		}
		first[key(name)] = name
		return name
	}
	for _, e := range s.Edges {
		if lost(e.Source) || lost(e.Target) {
			t.Ends++
			continue
		}
		if k := key(e.Source); k != "" && k == key(e.Target) {
			t.Edges++
			continue
		}
		if key(e.Source) != "" && key(e.Target) != "" {
			e.Source, e.Target = spelling(e.Source), spelling(e.Target)
		}
		out.Edges = append(out.Edges, e)
	}
	edges := len(out.Edges)
	out.Edges = mergeSidecars(&out, &out, &out).Edges
	t.Edges += edges - len(out.Edges)
	return &out, t
}
