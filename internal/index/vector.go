package index

import (
	"encoding/binary"
	"hash/fnv"
	"math"
)

// A Vector is a unit vector in eight bits a dimension: a float32 factor,
// little-endian, and then the values as int8. Nil means that there is none.
type Vector []byte

// Quantize rounds a vector. Its values are scaled so that the greatest is 127,
// which costs a cosine less than a hundredth. It returns nil for a vector that
// is zero or not finite.
func Quantize(v []float32) Vector {
	var peak, sum float64
	for _, x := range v {
		peak = max(peak, math.Abs(float64(x)))
		sum += float64(x) * float64(x)
	}
	if peak == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil
	}
	out := make(Vector, 4+len(v))
	var squares float64
	for i, x := range v {
		q := math.RoundToEven(float64(x) / peak * 127)
		squares += q * q
		out[4+i] = byte(int8(q))
	}
	binary.LittleEndian.PutUint32(out, math.Float32bits(float32(1/math.Sqrt(squares))))
	return out
}

// Dim is the number of dimensions.
func (v Vector) Dim() int { return max(0, len(v)-4) }

// Scale is the factor that makes a unit vector of the values.
func (v Vector) Scale() float32 { return math.Float32frombits(binary.LittleEndian.Uint32(v)) }

// Values returns the values as they are stored.
func (v Vector) Values() []int8 {
	values := make([]int8, v.Dim())
	for i := range values {
		values[i] = int8(v[4+i])
	}
	return values
}

// Cosine returns the cosine of v and a unit vector, 0 when they cannot be compared.
func (v Vector) Cosine(unit []float32) float64 {
	if v.Dim() != len(unit) || len(unit) == 0 {
		return 0
	}
	var sum float32
	for i, x := range unit {
		sum += x * float32(int8(v[4+i]))
	}
	return float64(sum * v.Scale())
}

// Cosines sets each of cosines to Vector.Cosine of the vector with its number. Four are
// added up side by side, each in its own order: a sum waits for the one before it.
func Cosines(vectors []Vector, unit []float32, cosines []float64) {
	for len(vectors) >= 4 && len(cosines) >= 4 {
		a, b, c, d := vectors[0], vectors[1], vectors[2], vectors[3]
		n := len(unit)
		if n == 0 || a.Dim() != n || b.Dim() != n || c.Dim() != n || d.Dim() != n {
			break
		}
		var p, q, r, s float32
		x, y, z, w := a[4:][:n], b[4:][:n], c[4:][:n], d[4:][:n]
		for i, u := range unit {
			p += u * float32(int8(x[i]))
			q += u * float32(int8(y[i]))
			r += u * float32(int8(z[i]))
			s += u * float32(int8(w[i]))
		}
		cosines[0], cosines[1] = float64(p*a.Scale()), float64(q*b.Scale())
		cosines[2], cosines[3] = float64(r*c.Scale()), float64(s*d.Scale())
		vectors, cosines = vectors[4:], cosines[4:]
	}
	for i, v := range vectors {
		cosines[i] = v.Cosine(unit)
	}
}

// Similarity returns the cosine of two vectors, 0 when they cannot be compared.
func (v Vector) Similarity(w Vector) float64 {
	if v.Dim() != w.Dim() || v.Dim() == 0 {
		return 0
	}
	var sum int32
	for i := 4; i < len(v); i++ {
		sum += int32(int8(v[i])) * int32(int8(w[i]))
	}
	return float64(v.Scale()) * float64(w.Scale()) * float64(sum)
}

// VectorModel is the number under which vectors of a model are kept.
func VectorModel(name string) uint64 { return hash64(name) }

// ProjectGroup is the number under which vectors of a project are scanned. Two
// projects may share one; the filter tells them apart afterwards.
func ProjectGroup(project string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(project))
	return h.Sum32()
}
