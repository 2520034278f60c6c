package transformer_test

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"anamnesis/internal/embed/transformer/transformertest"
)

// What follows writes a model as a graph of ONNX, in the few messages of its protocol
// buffers that are needed, so that another program can run the same weights.

// A message is the bytes of a protocol buffer.
type message []byte

func (m message) number(field int, v int64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), uint64(v))
}

func (m message) bytes(field int, v []byte) message {
	m = binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(v)))
	return append(m, v...)
}

func (m message) text(field int, v string) message { return m.bytes(field, []byte(v)) }

func (m message) float(field int, v float32) message {
	m = binary.AppendUvarint(m, uint64(field)<<3|5)
	return binary.LittleEndian.AppendUint32(m, math.Float32bits(v))
}

const (
	onnxFloat = 1
	onnxInt64 = 7
)

// A graph is one that is being written.
type graph struct {
	nodes, constants []message
	count            int
}

func (g *graph) floats(name string, t transformertest.Tensor) string {
	var m message
	for _, d := range t.Shape {
		m = m.number(1, int64(d))
	}
	var raw []byte
	for _, v := range t.Values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	g.constants = append(g.constants, m.number(2, onnxFloat).text(8, name).bytes(9, raw))
	return name
}

func (g *graph) ints(values ...int64) string {
	g.count++
	name := fmt.Sprintf("ints%d", g.count)
	m := message{}.number(1, int64(len(values)))
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	g.constants = append(g.constants, m.number(2, onnxInt64).text(8, name).bytes(9, raw))
	return name
}

// An attribute is one of a node.
type attribute message

func intAttribute(name string, v int64) attribute {
	return attribute(message{}.text(1, name).number(3, v).number(20, 2))
}

func intsAttribute(name string, all ...int64) attribute {
	m := message{}.text(1, name)
	for _, v := range all {
		m = m.number(8, v)
	}
	return attribute(m.number(20, 7))
}

func floatAttribute(name string, v float32) attribute {
	return attribute(message{}.text(1, name).float(2, v).number(20, 1))
}

func textAttribute(name, v string) attribute {
	return attribute(message{}.text(1, name).text(4, v).number(20, 3))
}

// node adds one and returns the name of its output.
func (g *graph) node(kind string, inputs []string, attributes ...attribute) string {
	g.count++
	return g.output(fmt.Sprintf("v%d", g.count), kind, inputs, attributes...)
}

func (g *graph) output(name, kind string, inputs []string, attributes ...attribute) string {
	var m message
	for _, in := range inputs {
		m = m.text(1, in)
	}
	m = m.text(2, name).text(3, name).text(4, kind)
	for _, a := range attributes {
		m = m.bytes(5, a)
	}
	g.nodes = append(g.nodes, m)
	return name
}

func valueInfo(name string, kind int64) message {
	shape := message{}.bytes(1, message{}.text(2, "n_"+name))
	tensor := message{}.number(1, kind).bytes(2, shape)
	return message{}.text(1, name).bytes(2, message{}.bytes(1, tensor))
}

// onnx writes a model: ids, kinds and places in, hidden states, their mean and, of a
// cross-encoder, logits out.
func onnx(o transformertest.Options) []byte {
	g := &graph{}
	all := o.Tensors()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		g.floats(name, all[name])
	}
	linear := func(x, name string) string {
		return g.node("Gemm", []string{x, name + ".weight", name + ".bias"}, intAttribute("transB", 1))
	}
	scale := func(x, name string) string {
		return g.node("LayerNormalization", []string{x, name + ".weight", name + ".bias"}, intAttribute("axis", -1), floatAttribute("epsilon", 1e-12))
	}
	at := o.Prefix + "embeddings."
	x := g.node("Add", []string{
		g.node("Gather", []string{at + "word_embeddings.weight", "ids"}),
		g.node("Add", []string{
			g.node("Gather", []string{at + "token_type_embeddings.weight", "kinds"}),
			g.node("Gather", []string{at + "position_embeddings.weight", "places"}),
		}),
	})
	x = scale(x, at+"LayerNorm")
	size := int64(o.Hidden / o.Heads)
	factor := g.floats("factor", transformertest.Tensor{Shape: []int{1}, Values: []float32{float32(1 / math.Sqrt(float64(size)))}})
	split, joined := g.ints(-1, int64(o.Heads), size), g.ints(-1, int64(o.Hidden))
	for i := range o.Layers {
		at := fmt.Sprintf("%sencoder.layer.%d.", o.Prefix, i)
		turned := func(part string, order ...int64) string {
			parts := g.node("Reshape", []string{linear(x, at+"attention.self."+part), split})
			return g.node("Transpose", []string{parts}, intsAttribute("perm", order...))
		}
		scores := g.node("MatMul", []string{turned("query", 1, 0, 2), turned("key", 1, 2, 0)})
		shares := g.node("Softmax", []string{g.node("Mul", []string{scores, factor})}, intAttribute("axis", -1))
		seen := g.node("MatMul", []string{shares, turned("value", 1, 0, 2)})
		seen = g.node("Reshape", []string{g.node("Transpose", []string{seen}, intsAttribute("perm", 1, 0, 2)), joined})
		x = scale(g.node("Add", []string{x, linear(seen, at+"attention.output.dense")}), at+"attention.output.LayerNorm")
		kind := "none"
		if o.Tanh {
			kind = "tanh"
		}
		inner := g.node("Gelu", []string{linear(x, at+"intermediate.dense")}, textAttribute("approximate", kind))
		x = scale(g.node("Add", []string{x, linear(inner, at+"output.dense")}), at+"output.LayerNorm")
	}
	outputs := []string{g.output("hidden", "Identity", []string{x}), g.output("mean", "ReduceMean", []string{x, g.ints(0)}, intAttribute("keepdims", 0))}
	if o.Labels > 0 {
		first := g.node("Gather", []string{x, g.ints(0)}, intAttribute("axis", 0))
		pooled := g.node("Tanh", []string{linear(first, o.Prefix+"pooler.dense")})
		outputs = append(outputs, g.output("logits", "Identity", []string{linear(pooled, "classifier")}))
	}
	var m message
	for _, n := range g.nodes {
		m = m.bytes(1, n)
	}
	m = m.text(2, "model")
	for _, c := range g.constants {
		m = m.bytes(5, c)
	}
	for _, name := range []string{"ids", "kinds", "places"} {
		m = m.bytes(11, valueInfo(name, onnxInt64))
	}
	for _, name := range outputs {
		m = m.bytes(12, message{}.text(1, name).bytes(2, message{}.bytes(1, message{}.number(1, onnxFloat))))
	}
	return message{}.number(1, 9).bytes(7, m).bytes(8, message{}.text(1, "").number(2, 20))
}
