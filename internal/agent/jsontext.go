package agent

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	textform "anamnesis/internal/text"
)

// maxDepth bounds nesting. Real records stay below twenty levels.
const maxDepth = 1000

// A jsonError says what is wrong with a JSON text and at which byte.
type jsonError struct {
	pos  int
	what string
}

func (e *jsonError) Error() string { return e.what + " at byte " + strconv.Itoa(e.pos) }

// A scanner walks JSON text without building values: transcripts are large and
// we want a few members of each record, settings belong to somebody else and we
// want to know where things stand. It accepts what encoding/json accepts.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

func (s *scanner) fail(what string) error {
	if s.pos >= len(s.data) {
		return &jsonError{len(s.data), "unexpected end"}
	}
	return &jsonError{s.pos, what}
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return
		}
	}
}

// peek is the next byte, or 0 at the end (no JSON token begins with NUL).
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// end reports an error if anything but white space follows.
func (s *scanner) end() error {
	if s.space(); s.pos < len(s.data) {
		return s.fail("text after the value")
	}
	return nil
}

// value skips one value.
func (s *scanner) value() error {
	switch c := s.peek(); c {
	case '{', '[':
		return s.items(c, nil)
	case '"':
		return s.str()
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

// items walks the members of an object or the elements of an array and calls
// each, if given, instead of skipping a value; key is nil in an array, else the
// quoted key. Each must consume exactly one value.
func (s *scanner) items(open byte, each func(key []byte) error) error {
	closing := open + 2 // '{' and '}', '[' and ']' are two apart in ASCII
	if s.depth++; s.depth > maxDepth {
		return s.fail("nesting too deep")
	}
	s.pos++
	s.space()
	if s.peek() == closing {
		s.pos++
		s.depth--
		return nil
	}
	for {
		var key []byte
		if open == '{' {
			start := s.pos
			if s.peek() != '"' {
				return s.fail("expected a quoted name")
			}
			if err := s.str(); err != nil {
				return err
			}
			key = s.data[start:s.pos]
			s.space()
			if s.peek() != ':' {
				return s.fail("expected a colon")
			}
			s.pos++
			s.space()
		}
		var err error
		if each != nil {
			err = each(key)
		} else {
			err = s.value()
		}
		if err != nil {
			return err
		}
		s.space()
		switch s.peek() {
		case ',':
			s.pos++
			s.space()
			if s.peek() == closing {
				return s.fail("trailing comma")
			}
		case closing:
			s.pos++
			s.depth--
			return nil
		default:
			return s.fail("expected a comma or the end of the list")
		}
	}
}

// str skips a string.
func (s *scanner) str() error {
	d, i := s.data, s.pos+1
	for {
		i = skipPlain(d, i)
		s.pos = i
		switch {
		case i >= len(d):
			return s.fail("")
		case d[i] == '"':
			s.pos++
			return nil
		case d[i] != '\\':
			return s.fail("control character in a string")
		}
		if i++; i >= len(d) {
			s.pos = i
			return s.fail("")
		}
		switch d[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i++
		case 'u':
			if _, ok := hex4(d[i+1:]); !ok {
				return s.fail("bad escape")
			}
			i += 5
		default:
			return s.fail("bad escape")
		}
	}
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
		return s.fail("expected a value")
	}
	s.pos += len(word)
	return nil
}

func (s *scanner) digits() bool {
	start := s.pos
	for c := s.peek(); '0' <= c && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) number() error {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		if s.pos > start {
			return s.fail("bad number")
		}
		return s.fail("expected a value")
	}
	if s.peek() == '.' {
		if s.pos++; !s.digits() {
			return s.fail("bad number")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if !s.digits() {
			return s.fail("bad number")
		}
	}
	return nil
}

// eachMember calls f with every member of the object that data is: the key
// without its quotes and the text of the value. Members before an error have
// been handed over. It reports whether data is an object at all.
func eachMember(data []byte, f func(key, value []byte)) (object bool, err error) {
	s := scanner{data: data}
	if s.space(); s.peek() != '{' {
		if err := s.value(); err != nil {
			return false, err
		}
		return false, s.end()
	}
	err = s.items('{', func(key []byte) error {
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		name := key[1 : len(key)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(decode(key))
		}
		f(name, s.data[start:s.pos])
		return nil
	})
	if err != nil {
		return true, err
	}
	return true, s.end()
}

// eachElement calls f with the text of every element if data is an array.
func eachElement(data []byte, f func(value []byte)) {
	s := scanner{data: data}
	if s.space(); s.peek() != '[' {
		return
	}
	_ = s.items('[', func([]byte) error { // the record was checked as a whole
		start := s.pos
		if err := s.value(); err != nil {
			return err
		}
		f(s.data[start:s.pos])
		return nil
	})
}

// isString reports whether a value's text is a string.
func isString(value []byte) bool { return len(value) >= 2 && value[0] == '"' }

// unquote returns the text of a string that str accepted, without what it says to a terminal, and "" for any other
// value. All texts of transcripts and events come through it.
func unquote(value []byte) string { return textform.Plain(unescape(value)) }

// decode is unquote for what must stay as it is: paths, ids, and what is handed on. Invalid UTF-8 and lone surrogates
// become U+FFFD, as in encoding/json.
func decode(value []byte) string { return validText(unescape(value)) }

// unescape returns the bytes of a string.
func unescape(value []byte) string {
	if !isString(value) {
		return ""
	}
	body := value[1 : len(value)-1]
	escape := bytes.IndexByte(body, '\\')
	if escape < 0 {
		return string(body)
	}
	out := make([]byte, 0, len(body))
	for escape >= 0 {
		out = append(out, body[:escape]...)
		c := body[escape+1]
		body = body[escape+2:]
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, _ := hex4(body)
			body = body[4:]
			if utf16.IsSurrogate(r) {
				pair := utf8.RuneError
				if len(body) >= 6 && body[0] == '\\' && body[1] == 'u' {
					low, _ := hex4(body[2:])
					pair = utf16.DecodeRune(r, low)
				}
				if r = pair; r != utf8.RuneError {
					body = body[6:]
				}
			}
			out = utf8.AppendRune(out, r)
			escape = bytes.IndexByte(body, '\\')
			continue
		}
		out = append(out, c)
		escape = bytes.IndexByte(body, '\\')
	}
	return string(append(out, body...))
}

func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s)) // one U+FFFD for each bad byte
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// QuoteJSON encodes s as a JSON string, leaving <, > and & alone.
func QuoteJSON(s string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string cannot fail
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}
