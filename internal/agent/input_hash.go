package agent

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// Hash is the same for two uses of one tool whose inputs say the same, whatever the order of
// their members and however their texts are escaped. It differs for others, but for one of
// 2^64. The seed makes it one of this run alone.
func (u *ToolUse) Hash(seed maphash.Seed) uint64 {
	h := hasher{seed: seed}
	h.text('n', u.Name)
	s := scanner{data: u.Input}
	s.space()
	begin := s.pos
	err := s.value()
	if value := u.Input[begin:s.pos]; err != nil || s.end() != nil {
		h.raw(u.Input)
	} else {
		h.value(value)
	}
	return h.sum
}

// A hasher folds what a JSON text says into one number, in order.
type hasher struct {
	seed maphash.Seed
	sum  uint64
}

func (h *hasher) add(kind byte, x uint64) {
	h.sum = (h.sum^uint64(kind))*0x9e3779b97f4a7c15 + x
	h.sum ^= h.sum >> 29
}

func (h *hasher) text(kind byte, s string) { h.add(kind, maphash.String(h.seed, s)) }
func (h *hasher) raw(data []byte)          { h.add('r', maphash.Bytes(h.seed, data)) }

// value adds a value, which is valid and has no blanks around it.
func (h *hasher) value(data []byte) {
	switch data[0] {
	case '{':
		h.members(data)
	case '[':
		h.add('[', 0)
		eachElement(data, h.value)
		h.add(']', 0)
	case '"':
		h.text('s', decode(data))
	default:
		h.raw(data)
	}
}

// members adds those of an object, in the order of their names; of two of one name the last
// counts.
func (h *hasher) members(object []byte) {
	type member struct{ name, says uint64 }
	var all []member
	_, _ = eachMember(object, func(key, value []byte) { // it was read as a whole
		says := hasher{seed: h.seed}
		says.value(value)
		all = append(all, member{maphash.String(h.seed, validText(string(key))), says.sum})
	})
	h.add('{', 0)
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	for i, m := range all {
		if i+1 < len(all) && all[i+1].name == m.name {
			continue
		}
		h.add('k', m.name)
		h.add('v', m.says)
	}
	h.add('}', 0)
}
