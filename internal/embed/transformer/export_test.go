package transformer

import "context"

// Hidden returns the hidden states of texts, or of questions and texts where pairs has
// some, and the numbers of their tokens.
func (m *Model) Hidden(ctx context.Context, pairs [][2]string) (ids, kinds [][]int32, hidden [][]float32, err error) {
	all := make([]sequence, len(pairs))
	for i, p := range pairs {
		if m.Reads() {
			all[i] = m.words.pair(p[0], p[1], m.shape.tokens)
		} else {
			all[i] = m.words.encode(p[0], m.shape.tokens)
		}
		ids, kinds = append(ids, all[i].ids), append(kinds, all[i].kinds)
	}
	hidden = make([][]float32, len(pairs))
	err = m.run(ctx, all, func(i int, h []float32) error {
		hidden[i] = append([]float32{}, h...)
		return nil
	})
	return ids, kinds, hidden, err
}

// Alone lets a model use one core.
func (m *Model) Alone() { m.cores = make(chan struct{}, 1) }

// Product and PlainProduct are the product with assembly, where there is some, and without.
func Product(a, b []float32, k, rows, columns int) (fast, plain []float32) {
	fast, plain = make([]float32, (rows+3)&^3*columns), make([]float32, (rows+3)&^3*columns)
	product(a, k, b, k, k, fast, columns, rows, columns)
	for i := range rows {
		for j := range columns {
			plain[i*columns+j] = dot(a[i*k:(i+1)*k], b[j*k:(j+1)*k])
		}
	}
	return fast, plain
}

// Tile compares plainTile with the assembly; ok is false where there is none.
func Tile(a, b []float32, k int) (fast, plain [tileRows * tileColumns]float32, ok bool) {
	plainTile(a, k, b, k, k, &plain)
	if k == 0 || k%vector != 0 {
		return fast, plain, false
	}
	ok = dotTile(&a[0], k, &b[0], k, k, &fast)
	return fast, plain, ok
}

// ReadTensors parses a file of safetensors and reads every tensor of it.
func ReadTensors(data []byte) (names int, err error) {
	all, err := readTensors(data)
	for name, t := range all {
		shape := make([]int, len(t.shape))
		for i, d := range t.shape {
			shape[i] = int(d)
		}
		if _, err := all.floats(name, shape...); err == nil {
			names++
		}
	}
	return names, err
}

// Half is half.
func Half(h uint16) float32 { return half(h) }

// Cut returns the pieces of a text.
func (m *Model) Cut(text string) []string {
	names := make(map[int32]string)
	for w, id := range m.words.vocabulary {
		names[id] = w
	}
	all := []string{}
	for _, id := range m.words.cut(text, m.shape.tokens) {
		all = append(all, names[id])
	}
	return all
}

// TokensOf returns the numbers of the tokens of a text, or of two.
func (m *Model) TokensOf(a, b string) []int32 {
	if b == "" {
		return m.words.encode(a, 1<<20).ids
	}
	return m.words.pair(a, b, 1<<20).ids
}

// Normal and ExpDown are the curves.
func Normal(x float32) float32  { return normal(x) }
func ExpDown(x float32) float32 { return expDown(x) }
