package note

import (
	"math"
	"strconv"
	"strings"
)

// Format returns the file of a note that has none yet, in the canonical form:
// known keys in their order, unknown keys behind them as they are.
func (n *Note) Format() []byte {
	b := make([]byte, 0, 512+len(n.Body))
	b = append(b, "---\n"...)
	for i := range fields {
		b = fields[i].append(b, n)
	}
	for _, f := range n.Extra {
		b = append(b, f.Raw...)
		if !strings.HasSuffix(f.Raw, "\n") {
			b = append(b, '\n')
		}
	}
	b = append(b, "---\n"...)
	b = append(b, n.Body...)
	return append(b, '\n')
}

// append appends the lines of a key, none for a value that is not set.
func (f *field) append(b []byte, n *Note) []byte {
	switch f.shape {
	case asList:
		return f.appendList(b, f.items(n))
	case asEvidence, asEdits:
		return appendRows(b, f.key, f.rows(n))
	case asText, asRequired, asTruth:
		if s := f.value(n); s != "" || f.always {
			if f.shape == asTruth && (s == "true" || s == "false") {
				return append(f.appendKey(b), s+"\n"...)
			}
			return append(appendText(f.appendKey(b), s), '\n')
		}
	case asNumber:
		return append(f.appendKey(b), number(n.Provenance.Confidence)+"\n"...)
	case asFlag:
		if *f.flag(n) {
			return append(f.appendKey(b), "true\n"...)
		}
	case asCount:
		if n.ProofCount != 0 {
			return append(f.appendKey(b), strconv.Itoa(n.ProofCount)+"\n"...)
		}
	}
	return b
}

func (f *field) appendKey(b []byte) []byte {
	b = append(b, f.key...)
	return append(b, ": "...)
}

func (f *field) appendList(b []byte, items []string) []byte {
	if len(items) == 0 {
		if f.always {
			b = append(f.appendKey(b), "[]\n"...)
		}
		return b
	}
	b = append(b, f.key...)
	b = append(b, ":\n"...)
	for _, item := range items {
		b = append(b, "- "...)
		b = append(appendText(b, item), '\n')
	}
	return b
}

// appendRows appends a list of mappings. Of each the first key is always there,
// the others when they have a text.
func appendRows(b []byte, key string, rows [][]pair) []byte {
	if len(rows) > 0 {
		b = append(append(b, key...), ":\n"...)
	}
	for _, row := range rows {
		for i, p := range row {
			if i > 0 && p.text.text == "" {
				continue
			}
			b = append(b, [...]string{"- ", "  "}[min(i, 1)]...)
			b = append(append(b, p.key...), ": "...)
			b = append(appendText(b, p.text.text), '\n')
		}
	}
	return b
}

// rows returns the mappings of a field that is a list of them.
func (f *field) rows(n *Note) (rows [][]pair) {
	if f.shape == asEdits {
		for _, e := range n.Edits {
			rows = append(rows, []pair{{"field", scalar{text: e.Key}}, {"at", scalar{text: string(e.At)}}})
		}
		return rows
	}
	for _, e := range n.Evidence {
		row := []pair{{"session", scalar{text: e.Session}}, {"chunk", scalar{text: e.Chunk}}, {"quote", scalar{text: e.Quote}}}
		if e.At != "" {
			row = append(row, pair{"at", scalar{text: string(e.At)}})
		}
		rows = append(rows, row)
	}
	return rows
}

// value returns the text of a key, its default when it is empty.
func (f *field) value(n *Note) string {
	if s := *f.text(n); s != "" {
		return s
	}
	return f.deflt
}

// items returns the list of a key as the set it stands for.
func (f *field) items(n *Note) []string {
	var all, set []string
	if f.ids != nil {
		all = convert[string](*f.ids(n))
	} else {
		all = *f.list(n)
	}
	for _, s := range all {
		set = appendNew(set, s)
	}
	return set
}

// number writes x with a decimal point and without an exponent.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "0.0" // unreachable behind Validate
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
