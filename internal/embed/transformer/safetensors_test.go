package transformer_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"anamnesis/internal/embed/transformer"
	"anamnesis/internal/embed/transformer/transformertest"
)

// file makes a file of a header and so many bytes of data.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func TestHostileTensors(t *testing.T) {
	good := `{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}, "b": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [8, 12]}}`
	if n, err := transformer.ReadTensors(file(good, 12)); err != nil || n != 2 {
		t.Fatalf("%d tensors of a good file: %v", n, err)
	}
	if n, err := transformer.ReadTensors(file(good+"   ", 12)); err != nil || n != 2 {
		t.Fatalf("%d tensors behind a padded header: %v", n, err)
	}
	entry := func(dtype, shape, offsets string) string {
		return `{"a": {"dtype": "` + dtype + `", "shape": ` + shape + `, "data_offsets": ` + offsets + `}}`
	}
	for _, tt := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "no header"},
		{"a header longer than the file", binary.LittleEndian.AppendUint64(nil, 100), "a header of 100 bytes"},
		{"a header of all there is", binary.LittleEndian.AppendUint64(nil, 1<<63), "a header of"},
		{"no object", file(`[]`, 0), "an object is missing"},
		{"no end", file(`{"a": {`, 0), "EOF"},
		{"more than an object", file(`{} {}`, 0), "follows the header"},
		{"beyond the end", file(entry("F32", "[2]", "[0, 8]"), 4), "do not lie in 4 bytes"},
		{"backwards", file(entry("F32", "[2]", "[8, 0]"), 8), "do not lie"},
		{"below zero", file(entry("F32", "[2]", "[-8, 0]"), 8), "do not lie"},
		{"one offset", file(entry("F32", "[2]", "[8]"), 8), "do not lie"},
		{"too few bytes for its shape", file(entry("F32", "[3]", "[0, 8]"), 8), "needs"},
		{"too many bytes for its shape", file(entry("F32", "[1]", "[0, 8]"), 8), "needs 4 bytes, and it has 8"},
		{"a shape that overflows", file(entry("F32", "[4294967296, 4294967296, 4]", "[0, 8]"), 8), "needs more than"},
		{"a shape below zero", file(entry("F32", "[-1, -2]", "[0, 8]"), 8), "needs more than"},
		{"many dimensions", file(entry("F32", "[1,1,1,1,1,1,1,1,2]", "[0, 8]"), 8), "9 dimensions"},
		{"no kind", file(entry("F33", "[2]", "[0, 8]"), 8), `"F33"`},
		{"a hole", file(entry("F32", "[1]", "[4, 8]"), 8), "begins at 4"},
		{"a rest", file(entry("F32", "[1]", "[0, 4]"), 8), "end at 4 of 8"},
		{"an overlap", file(`{"a": {"dtype":"F32","shape":[2],"data_offsets":[0,8]}, "b": {"dtype":"F32","shape":[2],"data_offsets":[4,12]}}`, 12), "begins at 4"},
		{"a name twice", file(`{"a": {"dtype":"F32","shape":[1],"data_offsets":[0,4]}, "a": {"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), `"a" stands twice`},
		{"a key twice", file(`{"a": {"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,8]}}`, 8), `"shape" stands twice`},
		{"another key", file(`{"a": {"dtype":"F32","shape":[1],"data_offsets":[0,4],"url":"x"}}`, 4), `"url" is not known`},
		{"metadata of numbers", file(`{"__metadata__": {"x": 1}}`, 0), "number"},
	} {
		_, err := transformer.ReadTensors(tt.file)
		if !errors.Is(err, transformer.ErrUnfit) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func FuzzTensors(f *testing.F) {
	f.Add(file(`{"a": {"dtype": "F16", "shape": [2, 1], "data_offsets": [0, 4]}, "__metadata__": {"format": "pt"}}`, 4))
	f.Add(transformertest.Safetensors(map[string]transformertest.Tensor{"x": {Shape: []int{2}, Values: []float32{1, 2}}, "y": {Shape: []int{0}}}, "F32"))
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := transformer.ReadTensors(data)
		if err != nil && !errors.Is(err, transformer.ErrUnfit) || n > len(data) {
			t.Errorf("%d tensors, %v", n, err)
		}
	})
}
