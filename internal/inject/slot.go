package inject

import (
	"slices"

	"anamnesis/internal/note"
)

// fitSlots leaves out the slots that do not fit whole into the room of all of them. They
// stand in the order of their importance, so the last ones go; half a slot may say the
// opposite of the whole.
func (in *Injector) fitSlots(notes []*note.Note, size measure, b *Block) []*note.Note {
	room := slotChars
	return slices.DeleteFunc(notes, func(n *note.Note) bool {
		if need := size.of(slotText(n)); need <= room {
			room -= need
			return false
		}
		b.Left = append(b.Left, n.ID)
		return true
	})
}
