package transformer

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"anamnesis/internal/embed/mapped"
)

// weights are the numbers of a model, most of them views of its file.
type weights struct {
	word, position, kind []float32 // tables of rows
	embedded             scaling
	layers               []layer
	pooler, classifier   linear // of a cross-encoder
}

// A layer is one of the encoder's.
type layer struct {
	query, key, value, mixed linear
	attended                 scaling
	up, down                 linear
	out                      scaling
}

// A scaling is a normalisation of a row.
type scaling struct{ weight, bias []float32 }

// readWeights finds the tensors of a shape by their names.
func readWeights(file []byte, s *shape) (w weights, err error) {
	all, err := readTensors(file)
	if err != nil {
		return w, err
	}
	prefix := ""
	if _, ok := all["bert.embeddings.word_embeddings.weight"]; ok {
		prefix = "bert."
	}
	get := func(name string, shape ...int) (v []float32) {
		if err == nil {
			v, err = all.floats(name, shape...)
		}
		return v
	}
	lin := func(name string, in, out int) linear {
		return linear{weight: get(name+".weight", out, in), bias: get(name+".bias", out), in: in, out: out}
	}
	scale := func(name string) scaling {
		if _, ok := all[name+".gamma"]; ok { // as the first models called them
			return scaling{get(name+".gamma", s.hidden), get(name+".beta", s.hidden)}
		}
		return scaling{get(name+".weight", s.hidden), get(name+".bias", s.hidden)}
	}
	at := prefix + "embeddings."
	w.word = get(at+"word_embeddings.weight", s.vocabulary, s.hidden)
	w.position = get(at+"position_embeddings.weight", s.positions, s.hidden)
	w.kind = get(at+"token_type_embeddings.weight", s.kinds, s.hidden)
	w.embedded = scale(at + "LayerNorm")
	for i := 0; i < s.layers && err == nil; i++ {
		at := prefix + "encoder.layer." + strconv.Itoa(i) + "."
		w.layers = append(w.layers, layer{
			query:    lin(at+"attention.self.query", s.hidden, s.hidden),
			key:      lin(at+"attention.self.key", s.hidden, s.hidden),
			value:    lin(at+"attention.self.value", s.hidden, s.hidden),
			mixed:    lin(at+"attention.output.dense", s.hidden, s.hidden),
			attended: scale(at + "attention.output.LayerNorm"),
			up:       lin(at+"intermediate.dense", s.hidden, s.inner),
			down:     lin(at+"output.dense", s.inner, s.hidden),
			out:      scale(at + "output.LayerNorm"),
		})
	}
	if s.labels > 0 {
		w.pooler = lin(prefix+"pooler.dense", s.hidden, s.hidden)
		w.classifier = lin("classifier", s.hidden, s.labels)
	}
	return w, err
}

// packed is how many tokens go through the layers at once: enough to read each weight
// seldom, and few enough to stay in the caches.
const packed = 256

// A pack is sequences that go through the layers together, one behind the other.
type pack struct {
	first int // number of its first sequence
	all   []sequence
	rows  int
}

// run sends sequences through the model and calls done with the hidden states of each.
func (m *Model) run(ctx context.Context, all []sequence, done func(i int, hidden []float32) error) error {
	defer runtime.KeepAlive(m) // its weights lie in a file that is let go of with it
	p := pace{began: time.Now()}
	p.deadline, p.limited = ctx.Deadline()
	var packs []pack
	for i, s := range all {
		if n := len(packs); n == 0 || packs[n-1].rows+len(s.ids) > packed {
			packs = append(packs, pack{first: i})
		}
		last := &packs[len(packs)-1]
		last.all, last.rows = append(last.all, s), last.rows+len(s.ids)
		p.whole += len(s.ids) * m.shape.layers
	}
	select {
	case m.cores <- struct{}{}:
		defer func() { <-m.cores }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for _, k := range packs {
		var err error
		cut := mapped.Read(func() { err = m.pack(ctx, k, &p, done) })
		if err = cmp.Or(cut, err); err != nil {
			return err
		}
	}
	return nil
}

// pack runs one pack.
func (m *Model) pack(ctx context.Context, k pack, p *pace, done func(i int, hidden []float32) error) error {
	hidden, err := m.forward(ctx, k, p)
	if err != nil {
		return err
	}
	for i, s := range k.all {
		n := len(s.ids) * m.shape.hidden
		if err := done(k.first+i, hidden[:n]); err != nil {
			return err
		}
		hidden = hidden[n:]
	}
	return nil
}

// A pace tells from what is done when all will be.
type pace struct {
	began, deadline time.Time
	limited         bool
	done, whole     int // tokens times layers
}

func (p *pace) step(n int) error {
	p.done += n
	if !p.limited || p.done == p.whole {
		return nil
	}
	need := time.Duration(float64(time.Since(p.began)) / float64(p.done) * float64(p.whole))
	if have := p.deadline.Sub(p.began); need > have {
		return &SlowError{need, have}
	}
	return nil
}

// forward sends one pack through all layers. Between two of them it looks whether
// anybody still waits.
func (m *Model) forward(ctx context.Context, k pack, p *pace) ([]float32, error) {
	s := &m.shape
	c := m.split()
	defer c.join()
	b := newBuffers(s, k)
	m.embed(k, b.x)
	for i := range m.weights.layers {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		l := &m.weights.layers[i]
		c.apply(&l.query, b.x, b.q, k.rows)
		c.apply(&l.key, b.x, b.k, k.rows)
		c.apply(&l.value, b.x, b.v, k.rows)
		c.attention(s, k, b)
		c.apply(&l.mixed, b.mixed, b.q, k.rows)
		addScaled(b.x, b.q, &l.attended, s, k.rows)
		c.apply(&l.up, b.x, b.inner, k.rows)
		c.gelu(b.inner[:k.rows*s.inner], s.tanh)
		c.apply(&l.down, b.inner, b.q, k.rows)
		addScaled(b.x, b.q, &l.out, s, k.rows)
		if err := p.step(k.rows); err != nil {
			return nil, err
		}
	}
	return b.x, nil
}

// buffers are what a pack needs besides the weights. Rows are a multiple of four, so
// that products need no remainder; those too many hold zeros or leftovers.
type buffers struct{ x, q, k, v, mixed, inner []float32 }

func newBuffers(s *shape, k pack) *buffers {
	rows := (k.rows + 3) &^ 3
	grid := func(n int) []float32 { return make([]float32, rows*n) }
	return &buffers{grid(s.hidden), grid(s.hidden), grid(s.hidden), grid(s.hidden), grid(s.hidden), grid(s.inner)}
}

// embed fills x with the embeddings of the tokens.
func (m *Model) embed(k pack, x []float32) {
	s, w := &m.shape, &m.weights
	row := func(table []float32, i int) []float32 { return table[i*s.hidden : (i+1)*s.hidden] }
	at := 0
	for _, q := range k.all {
		for i, id := range q.ids {
			to := row(x, at)
			word, kind, place := row(w.word, int(id)), row(w.kind, int(q.kinds[i])), row(w.position, i)
			for d := range to {
				to[d] = word[d] + kind[d] + place[d]
			}
			scale(to, &w.embedded, s.epsilon)
			at++
		}
	}
}

// addScaled adds rows to x and normalises the sums.
func addScaled(x, more []float32, by *scaling, s *shape, rows int) {
	for i := range rows {
		to, from := x[i*s.hidden:(i+1)*s.hidden], more[i*s.hidden:(i+1)*s.hidden]
		for d, v := range from {
			to[d] += v
		}
		scale(to, by, s.epsilon)
	}
}

// scale normalises a row: mean 0 and variance 1, then weighed and moved.
func scale(row []float32, by *scaling, epsilon float64) {
	var sum float64
	for _, v := range row {
		sum += float64(v)
	}
	mean := sum / float64(len(row))
	var squares float64
	for _, v := range row {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	f := 1 / math.Sqrt(squares/float64(len(row))+epsilon)
	weight, bias := by.weight[:len(row)], by.bias[:len(row)]
	for d, v := range row {
		row[d] = float32((float64(v)-mean)*f)*weight[d] + bias[d]
	}
}

// pool makes a vector of length 1 of the hidden states of a text.
func (m *Model) pool(hidden []float32) []float32 {
	v := slices.Clone(hidden[:m.shape.hidden])
	if !m.first {
		for i := m.shape.hidden; i < len(hidden); i++ {
			v[i%m.shape.hidden] += hidden[i]
		}
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return v
	}
	for i, x := range v {
		v[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return v
}

// classify makes a logit of the hidden states of a question and a text: 0 is
// undecided. Of two labels the second says that the text answers.
func (m *Model) classify(hidden []float32) float64 {
	s, w := &m.shape, &m.weights
	rows := make([]float32, 4*s.hidden)
	copy(rows, hidden[:s.hidden])
	pooled := make([]float32, 4*s.hidden)
	one := split{}
	one.apply(&w.pooler, rows, pooled, 1)
	for d, x := range pooled[:s.hidden] {
		pooled[d] = float32(math.Tanh(float64(x)))
	}
	logits := make([]float32, 4*s.labels)
	one.apply(&w.classifier, pooled, logits, 1)
	if s.labels == 2 {
		return float64(logits[1]) - float64(logits[0])
	}
	return float64(logits[0])
}
