//go:build goexperiment.simd && amd64

package main

import "simd/archsimd"

// With GOEXPERIMENT=simd on a processor with AVX2 and FMA, a run takes about a quarter
// of the time. Sums are in another order then, so that the bytes are others too: a
// table says with what it was made (docs/retrieval.md).

const vectorised = true

// sum8 adds up the lanes in a fixed order.
func sum8(x archsimd.Float32x8) float32 {
	var s [8]float32
	x.StoreSlice(s[:])
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var x, y archsimd.Float32x8
	for len(a) >= 16 && len(b) >= 16 {
		x = archsimd.LoadFloat32x8Slice(a).MulAdd(archsimd.LoadFloat32x8Slice(b), x)
		y = archsimd.LoadFloat32x8Slice(a[8:]).MulAdd(archsimd.LoadFloat32x8Slice(b[8:]), y)
		a, b = a[16:], b[16:]
	}
	return sum8(x.Add(y))
}

// dots returns the products of a with four vectors that stand one after the other.
func dots(a, b []float32) (p [4]float32) {
	n := len(a)
	b0, b1, b2, b3 := b[:n], b[n:][:n], b[2*n:][:n], b[3*n:][:n]
	var x0, x1, x2, x3 archsimd.Float32x8
	for i := 0; i+8 <= n; i += 8 {
		v := archsimd.LoadFloat32x8Slice(a[i:])
		x0 = v.MulAdd(archsimd.LoadFloat32x8Slice(b0[i:]), x0)
		x1 = v.MulAdd(archsimd.LoadFloat32x8Slice(b1[i:]), x1)
		x2 = v.MulAdd(archsimd.LoadFloat32x8Slice(b2[i:]), x2)
		x3 = v.MulAdd(archsimd.LoadFloat32x8Slice(b3[i:]), x3)
	}
	return [4]float32{sum8(x0), sum8(x1), sum8(x2), sum8(x3)}
}

func add(to, from []float32) {
	to = to[:len(from)]
	for len(from) >= 8 && len(to) >= 8 {
		archsimd.LoadFloat32x8Slice(to).Add(archsimd.LoadFloat32x8Slice(from)).StoreSlice(to)
		to, from = to[8:], from[8:]
	}
}

func addTimes(to, from []float32, x float32) {
	to = to[:len(from)]
	f := archsimd.BroadcastFloat32x8(x)
	for len(from) >= 8 && len(to) >= 8 {
		f.MulAdd(archsimd.LoadFloat32x8Slice(from), archsimd.LoadFloat32x8Slice(to)).StoreSlice(to)
		to, from = to[8:], from[8:]
	}
}

// adagrad moves a row against its gradient.
func adagrad(row, squares, gradient []float32, rate float32) {
	r, small := archsimd.BroadcastFloat32x8(rate), archsimd.BroadcastFloat32x8(tiny)
	for i := 0; i+8 <= len(row); i += 8 {
		x := archsimd.LoadFloat32x8Slice(row[i:])
		g := archsimd.LoadFloat32x8Slice(gradient[i:])
		s := g.MulAdd(g, archsimd.LoadFloat32x8Slice(squares[i:]))
		s.StoreSlice(squares[i:])
		x.Sub(r.Mul(g).Div(s.Sqrt().Add(small))).StoreSlice(row[i:])
	}
}
