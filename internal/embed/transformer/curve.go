package transformer

import "math"

// The curves that a model bends its values by, in float32: math.Exp and math.Erf would
// take more time than all products of a short text.

// softmax makes shares of a row.
func softmax(row []float32) {
	most := row[0]
	for _, x := range row {
		most = max(most, x)
	}
	var sum float32
	for i, x := range row {
		e := expDown(x - most)
		row[i] = e
		sum += e
	}
	f := 1 / sum
	for i := range row {
		row[i] *= f
	}
}

// gelu bends each value.
func (c split) gelu(all []float32, tanh bool) {
	c.halves(len(all), 1, func(from, to int) {
		part := all[from:to]
		if tanh {
			for i, x := range part {
				v := float64(x)
				part[i] = float32(v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))))
			}
			return
		}
		for i, x := range part {
			part[i] = x * normal(x)
		}
	})
}

// normal is the share of the normal distribution below x, to 1e-7: 7.1.26 of
// Abramowitz and Stegun, Handbook of Mathematical Functions, for the error function.
func normal(x float32) float32 {
	z := max(x, -x) / math.Sqrt2
	t := 1 / (1 + 0.3275911*z)
	above := ((((1.061405429*t-1.453152027)*t+1.421413741)*t-0.284496736)*t + 0.254829592) * t * expDown(-z*z) / 2
	if x < 0 {
		return above
	}
	return 1 - above
}

// expDown is the exponential of a number that is not above zero, to 1e-7 of its value:
// a power of two times a polynomial. What is no number stays none.
func expDown(x float32) float32 {
	if x < -87 {
		return 0
	}
	k := int32(x*math.Log2E - 0.5)
	f := float32(k)
	r := x - f*0.693359375 + f*2.12194440e-4 // ln 2 in two parts, of which the first times k is exact
	p := ((((1.9875691500e-4*r+1.3981999507e-3)*r+8.3334519073e-3)*r+4.1665795894e-2)*r+1.6666665459e-1)*r + 5.0000001201e-1
	return (p*r*r + r + 1) * math.Float32frombits(uint32(k+127)<<23)
}
