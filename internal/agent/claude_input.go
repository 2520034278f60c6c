package agent

import (
	"bytes"
	"fmt"
)

// rewriteInput returns input with our blocks and what is for a terminal cut out of its strings and, where
// the whole is larger than limit, with the large members replaced by a string
// that tells their size: what a detector asks of a huge input is the command or
// the path, which are small.
func rewriteInput(input []byte, limit int) []byte {
	s := scanner{data: input}
	var out bytes.Buffer
	out.Grow(min(len(input), limit))
	s.space()
	if err := s.rewrite(&out); err != nil { // unreachable: the record was checked as a whole
		return nil
	}
	if out.Len() <= limit {
		return out.Bytes()
	}
	small := []byte("{")
	_, _ = eachMember(out.Bytes(), func(key, value []byte) {
		name := QuoteJSON(string(key))
		if len(value) > limit/8 {
			value = fmt.Appendf(nil, `"(cut, %d bytes)"`, len(value))
		}
		if len(small)+len(name)+len(value)+3 > limit {
			return
		}
		if len(small) > 1 {
			small = append(small, ',')
		}
		small = append(small, name...)
		small = append(small, ':')
		small = append(small, value...)
	})
	return append(small, '}')
}

// rewrite copies one value with that cut out of every string that holds any.
func (s *scanner) rewrite(out *bytes.Buffer) error {
	c := s.peek()
	if c != '{' && c != '[' {
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		value := s.data[start:s.pos]
		if clean := StripInjected(unquote(value)); clean != decode(value) {
			value = []byte(QuoteJSON(clean))
		}
		out.Write(value)
		return nil
	}
	first := true
	out.WriteByte(c)
	err := s.items(c, func(key []byte) error {
		if !first {
			out.WriteByte(',')
		}
		first = false
		if key != nil {
			out.WriteString(QuoteJSON(StripInjected(unquote(key))))
			out.WriteByte(':')
		}
		return s.rewrite(out)
	})
	out.WriteByte(c + 2)
	return err
}
