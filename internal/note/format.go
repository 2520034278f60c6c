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
	case asEvidence:
		return appendEvidence(b, n.Evidence)
	case asEdits:
		return appendEdits(b, n.Edits)
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

func appendEvidence(b []byte, evidence []Evidence) []byte {
	first := true
	for _, e := range evidence {
		if first {
			b = append(b, "evidence:\n"...)
			first = false
		}
		b = append(b, "- session: "...)
		b = append(appendText(b, e.Session), '\n')
		if e.Chunk != "" {
			b = append(b, "  chunk: "...)
			b = append(appendText(b, e.Chunk), '\n')
		}
		if e.Quote != "" {
			b = append(b, "  quote: "...)
			b = append(appendText(b, e.Quote), '\n')
		}
	}
	return b
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
