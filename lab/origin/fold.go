package origin

import "hash/fnv"

// Folds is how many parts the sources fall into.
const Folds = 2

// Fold returns the part that a source belongs to. What reads vectors is fitted to a
// source with vectors that have not learned from its part: a model that has seen the
// answers finds them too well.
func Fold(source string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(source))
	return int(h.Sum64() % Folds)
}
