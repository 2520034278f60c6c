package app

import (
	"strings"
	"testing"

	"anamnesis/internal/note"

	"pgregory.net/rapid"
)

// An end names one note and no other, by its end or by its beginning, and no shorter
// end of at least four characters does.
func TestShortIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]{1,8}|A[AB]{0,5}[AB]{20}|[AB]{26}`), 1, 30, strings.ToUpper).Draw(t, "ids")
		var ids []note.ID
		for _, s := range texts {
			ids = append(ids, note.ID(s))
		}
		named := func(part string) (n int) {
			for _, id := range ids {
				s, p := strings.ToUpper(string(id)), strings.ToUpper(part)
				if strings.HasSuffix(s, p) || strings.HasPrefix(s, p) {
					n++
				}
			}
			return n
		}
		ends := newIDEnds(func(part string) (sharing []note.ID, err error) {
			for _, id := range ids {
				if s := strings.ToUpper(string(id)); strings.HasSuffix(s, part) || strings.HasPrefix(s, part) {
					sharing = append(sharing, id)
				}
			}
			return sharing, nil
		})
		for _, id := range ids {
			short := ends.short(id)
			if !strings.HasSuffix(string(id), short) || short != string(id) && (len(short) < MinPrefix || named(short) != 1) {
				t.Errorf("%s of %s is shortened to %s", id, ids, short)
			}
			if n := len(short) - 1; made(id) && n >= MinPrefix && named(string(id[len(id)-n:])) == 1 {
				t.Errorf("%s of %s could be shorter than %s", id, ids, short)
			}
		}
	})
}
