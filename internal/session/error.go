package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/text"
)

// ExchangeID names an exchange: the key of its session and its number.
func ExchangeID(key string, n int) string { return fmt.Sprintf("%s.%d", key, n) }

// ParseID takes the id of an exchange, or of a session, apart; n is 0 for a session.
func ParseID(id string) (session string, n int, err error) {
	session, number, ok := strings.Cut(strings.TrimSpace(id), ".")
	if !ok {
		return session, 0, nil
	}
	if n, err = strconv.Atoi(number); err != nil || n < 1 {
		return "", 0, fmt.Errorf("%q is no id of an exchange; it has the form %s", id, ExchangeID("4f2a90c1d3", 7))
	}
	return session, n, nil
}

// What differs between two occurrences of one error: colours (text.Plain), times, addresses, versions, paths and
// numbers. Of a path its last name stays.
var (
	times = text.Form(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b`)
	// where a message begins with its place
	leads    = text.Form(`^\W{0,4}(?:[A-Za-z]:)?[\w./@\\-]+\.\w{1,5}(?:(?::\d+)+:?|\(\d+(?:,\s*\d+)?\):?)\s*`)
	folders  = text.Form(`(?:[A-Za-z]:)?(?:[\w.~@+-]*[/\\])+([\w.@+-]+)`)
	places   = text.Form(`([\w-]\.\w+)(?::\d+)+\b:?|\((\d+),\s*\d+\)|\bline \d+(?:, column \d+)?`)
	versions = text.Form(`\bv?\d+(?:\.\d+)+(?:[-+][\w.]+)?\b`)
	hexes    = text.Form(`\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{7,64}\b|\b[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}\b`)
	numbers  = text.Form(`\d+(?:\.\d+)?(?:ms|s|µs|ns|kB|KB|MB|GB|%)?`)
)

// Normal is a line of an error without what differs between two occurrences of it; "" for a line that
// says nothing alone.
func Normal(line string) string {
	line = text.Plain(line)
	line = times().ReplaceAllString(line, "")
	if rest := leads().ReplaceAllString(line, ""); len(strings.Fields(rest)) > 1 {
		line = rest
	}
	line = hexes().ReplaceAllString(line, "#")
	line = folders().ReplaceAllString(line, "$1")
	line = places().ReplaceAllString(line, "$1 ")
	line = versions().ReplaceAllString(line, "#")
	line = numbers().ReplaceAllString(line, "#")
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool {
		return strings.ContainsRune(" \t\r\n|`'\"“”‘’()[]{}<>:;,=→", r)
	})
	line = strings.Trim(strings.Join(words, " "), " .!-*>#…✗✖×❌")
	if letters := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || r > 0x7f {
			return r
		}
		return -1
	}, line); len(letters) < 8 || len(strings.Fields(line)) < 2 {
		return ""
	}
	return text.Head(line, 200)
}

// general are lines that many errors have and that tell none from another.
var general = text.Form(`^(?:exit (?:code|status).{0,4}|ok .*|`,
	`(?:make )?(?:command|process|script|error) failed.{0,30}|make error #.*|panic|traceback.*|`,
	`(?:(?:and|done|errors?|fail(?:ed|ure|ures|ing)?|found|`,
	`in|of|pass(?:ed|es)?|problems?|skipped|suites?|tests?|total|warnings?|#)[ #,.]*)+)$`)

// shape is a line as programs print an error, and people do not write.
var shape = text.Form(`(?i)(?:^|[\s\[(|])(?:[\w.-]*error|fatal|panic|[\w.]*exception|fail(?:ed|ure)?)\s?[:\]!]|\berr! |`,
	`--- FAIL|(?-i:\b[A-Z]\w+(?:Error|Exception)\b[:(])|`,
	`^\W{0,4}[\w./@\\-]+\.\w{1,5}(?::|\()\d+|undefined:|^\s*(?:✗|✖|×|❌)|`,
	`no such file|command not found|permission denied|not found:|(?-i:\bE[A-Z]{4,}\b:)|exit status|`,
	`^\s*(?:\w[\w./-]*: )+(?:cannot|unknown|unrecognized|invalid|missing|unexpected|no |not |permission|failed|command)|`,
	`\b(?:must be of type|is not a function|cannot find (?:module|package|name)|does not exist|is not defined|is not assignable)`)

// ErrorLines are the lines of an error, normalised, that tell it from others: in the order of the text,
// those that say which test failed behind those that say why.
func ErrorLines(s string) (lines []string) {
	seen := make(map[string]bool)
	for line := range strings.Lines(s) {
		if len(line) > 2*maxLine || !shape().MatchString(line) {
			continue
		}
		n := Normal(line)
		if n == "" || seen[n] || general().MatchString(n) {
			continue
		}
		seen[n] = true
		if lines = append(lines, n); len(lines) == 24 {
			break
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { // that a test failed says less than why
		switch fa, fb := strings.HasPrefix(a, "fail "), strings.HasPrefix(b, "fail "); {
		case fa == fb:
			return 0
		case fa:
			return 1
		}
		return -1
	})
	return lines
}

// errors are the error lines of an exchange: of what the user pasted, and of what failed.
func (e *Exchange) errors() (lines []string) {
	lines = e.pastedErrors()
	for i := range e.Steps {
		if e.Steps[i].Outcome == Failed {
			lines = append(lines, ErrorLines(e.Steps[i].Out)...)
		}
	}
	return lines
}
