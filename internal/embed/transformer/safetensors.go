package transformer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"unsafe"
)

// A file of safetensors is the length of a header (eight bytes, little endian), the
// header, and the bytes of all tensors:
//
//	{"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …, "__metadata__": {…}}
//
// Offsets count from the end of the header. Tensors neither overlap nor leave holes.
const (
	maxTensorHeader = 4 << 20
	maxTensors      = 16384
	maxRank         = 8
)

// A tensor is an entry of the header.
type tensor struct {
	kind  string
	shape []int64
	data  []byte
}

// sizes are the bytes of a value by its kind, as the format lists them.
func sizeOf(kind string) int64 {
	switch kind {
	case "BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3":
		return 1
	case "U16", "I16", "F16", "BF16":
		return 2
	case "U32", "I32", "F32":
		return 4
	case "U64", "I64", "F64":
		return 8
	}
	return 0
}

// tensors are those of a file by name.
type tensors map[string]tensor

// readTensors reads the header of a file that is in memory, and checks that each
// tensor lies where it says, has as many bytes as its shape needs, and lies alone.
func readTensors(file []byte) (tensors, error) {
	if len(file) < 8 {
		return nil, unfit("%d bytes have no header of safetensors", len(file))
	}
	size := binary.LittleEndian.Uint64(file)
	if size > maxTensorHeader || size > uint64(len(file)-8) {
		return nil, unfit("a header of %d bytes in a file of %d; at most %d are read", size, len(file), maxTensorHeader)
	}
	all := make(tensors)
	spans := make(map[string][2]int64)
	dec := json.NewDecoder(bytes.NewReader(file[8 : 8+size]))
	data := file[8+size:]
	err := object(dec, func(name string) error {
		if name == "__metadata__" {
			return object(dec, func(string) error { return dec.Decode(new(string)) })
		}
		t, span, err := readEntry(dec, int64(len(data)))
		if err != nil {
			return fmt.Errorf("%q: %w", cut(name), err)
		}
		if len(all) == maxTensors {
			return fmt.Errorf("more than %d tensors", maxTensors)
		}
		t.data = data[span[0]:span[1]]
		all[name], spans[name] = t, span
		return nil
	})
	if err == nil {
		if _, err = dec.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else {
			err = cmp.Or(err, errors.New("something follows the header's object"))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the header of safetensors: %w", ErrUnfit, err)
	}
	end := int64(0)
	for _, name := range slices.SortedFunc(maps.Keys(spans), func(a, b string) int {
		return cmp.Or(cmp.Compare(spans[a][0], spans[b][0]), cmp.Compare(spans[a][1], spans[b][1]))
	}) {
		if spans[name][0] != end {
			return nil, unfit("the tensor %q begins at %d, and the one before it ends at %d", cut(name), spans[name][0], end)
		}
		end = spans[name][1]
	}
	if end != int64(len(data)) {
		return nil, unfit("the tensors end at %d of %d bytes", end, len(data))
	}
	return all, nil
}

// readEntry reads what the header says of one tensor.
func readEntry(dec *json.Decoder, size int64) (t tensor, span [2]int64, err error) {
	var offsets []int64
	err = object(dec, func(key string) error {
		switch key {
		case "dtype":
			return dec.Decode(&t.kind)
		case "shape":
			return dec.Decode(&t.shape)
		case "data_offsets":
			return dec.Decode(&offsets)
		}
		return fmt.Errorf("the key %q is not known", cut(key))
	})
	if err != nil {
		return t, span, err
	}
	if len(offsets) != 2 || offsets[0] < 0 || offsets[1] < offsets[0] || offsets[1] > size {
		return t, span, fmt.Errorf("its offsets %v do not lie in %d bytes", offsets[:min(len(offsets), 4)], size)
	}
	need := sizeOf(t.kind)
	if need == 0 || len(t.shape) > maxRank {
		return t, span, fmt.Errorf("%d dimensions of %q", len(t.shape), cut(t.kind))
	}
	for _, d := range t.shape {
		if d < 0 || d > 0 && need > size/d {
			return t, span, fmt.Errorf("its shape %v needs more than %d bytes", t.shape, size)
		}
		need *= d
	}
	if need != offsets[1]-offsets[0] {
		return t, span, fmt.Errorf("its shape %v needs %d bytes, and it has %d", t.shape, need, offsets[1]-offsets[0])
	}
	return t, [2]int64(offsets), nil
}

// object reads an object of JSON, and calls each for every key, which must read the
// value. A key that stands twice is an error.
func object(dec *json.Decoder, each func(key string) error) error {
	if t, err := dec.Token(); err != nil {
		return err
	} else if t != json.Delim('{') {
		return errors.New("an object is missing")
	}
	seen := make(map[string]bool)
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok || seen[key] {
			return fmt.Errorf("the key %q stands twice", cut(key))
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// floats returns a tensor of a shape: a view of the file where it is float32 already
// and this machine reads it so, else a copy.
func (all tensors) floats(name string, shape ...int) ([]float32, error) {
	t, ok := all[name]
	if !ok {
		return nil, unfit("there is no tensor %s", name)
	}
	same := len(t.shape) == len(shape)
	for i := 0; same && i < len(shape); i++ {
		same = t.shape[i] == int64(shape[i])
	}
	if !same {
		return nil, unfit("the tensor %s has the shape %v where %v is wanted", name, t.shape, shape)
	}
	switch t.kind {
	case "F32":
		n := len(t.data) / 4
		if n == 0 {
			return nil, unfit("the tensor %s is empty", name)
		}
		first := unsafe.Pointer(unsafe.SliceData(t.data))
		if uintptr(first)%4 == 0 && binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
			return unsafe.Slice((*float32)(first), n), nil
		}
		return convert(t.data, 4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }), nil
	case "F16":
		return convert(t.data, 2, func(b []byte) float32 { return half(binary.LittleEndian.Uint16(b)) }), nil
	case "BF16":
		return convert(t.data, 2, func(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) }), nil
	}
	return nil, unfit("the tensor %s is of %s; known are F32, F16 and BF16", name, t.kind)
}

func convert(data []byte, size int, value func([]byte) float32) []float32 {
	all := make([]float32, len(data)/size)
	for i := range all {
		all[i] = value(data[i*size : (i+1)*size])
	}
	return all
}

// half makes a float32 of the bits of a float of 16 bits (IEEE 754 binary16).
func half(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch {
	case exponent == 0x1f: // infinite, or no number
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	case exponent != 0:
		return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
	}
	v := float32(fraction) / (1 << 24) // subnormal
	return math.Float32frombits(sign | math.Float32bits(v))
}
