package flat

// A Supersede says that one note takes the place of another.
type Supersede struct{ From, To string }

// Hidden returns, for each note that another one hides, the newest that does. all
// comes newest first (From), so that one which would close a circle is older than the
// others in it, and is left out.
func Hidden(all []Supersede) map[string]string {
	hides := make(map[string][]string) // accepted
	hidden := make(map[string]string)
	for _, s := range all {
		if reaches(hides, s.To, s.From, make(map[string]bool)) {
			continue
		}
		hides[s.From] = append(hides[s.From], s.To)
		if hidden[s.To] == "" {
			hidden[s.To] = s.From
		}
	}
	return hidden
}

func reaches(hides map[string][]string, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	for _, next := range hides[from] {
		if reaches(hides, next, to, seen) {
			return true
		}
	}
	return false
}
