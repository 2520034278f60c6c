package flat

import (
	"encoding/binary"

	"anamnesis/internal/index"
)

// Forward packs the token hashes of a passage: three counts of 16 bits, then
// the hashes of 32 bits, little-endian.
func Forward(fields [index.NumFields][]string) []byte {
	var out []byte
	for _, tokens := range fields {
		out = binary.LittleEndian.AppendUint16(out, uint16(min(len(tokens), 1<<16-1)))
	}
	for _, tokens := range fields {
		for _, t := range tokens[:min(len(tokens), 1<<16-1)] {
			out = binary.LittleEndian.AppendUint32(out, index.TokenHash(t))
		}
	}
	return out
}

// Tokens unpacks what Forward packed.
func Tokens(forward []byte) (fields [index.NumFields][]uint32) {
	const head = 2 * int(index.NumFields)
	if len(forward) < head {
		return fields
	}
	all := make([]uint32, (len(forward)-head)/4)
	for i := range all {
		all[i] = binary.LittleEndian.Uint32(forward[head+4*i:])
	}
	for f := range fields {
		n := min(int(binary.LittleEndian.Uint16(forward[2*f:])), len(all))
		fields[f], all = all[:n:n], all[n:]
	}
	return fields
}
