package store

import "os"

// refusedTail is how much of each of the two newest months Refusals reads, in bytes.
const refusedTail = 4 << 20

// Refusals counts the sentences of sessions that read like orders to an agent and were not
// learnt, and these sessions, in the two newest months of the event log. A session that was
// captured several times counts once, by its newest record.
func Refusals(s *Store) (sentences, sessions int, err error) {
	files, err := s.Events().Files()
	if err != nil {
		return 0, 0, err
	}
	newest := make(map[string]int)
	for _, name := range files[max(0, len(files)-2):] {
		var from int64
		if fi, err := os.Stat(s.Path("events/" + name)); err == nil {
			from = max(0, fi.Size()-refusedTail)
		}
		if _, err := s.Events().Records(name, from, func(r Record) {
			if r.Kind == Refused && r.Count > 0 {
				newest[r.Session] = r.Count
			}
		}); err != nil {
			return 0, 0, err
		}
	}
	for _, n := range newest {
		sentences += n
	}
	return sentences, len(newest), nil
}
