package note

import (
	"regexp"
	"strings"
	"sync"
)

// isTyped reports whether some reader of YAML 1.1 or 1.2 would take the plain
// scalar s for something else than a text: a truth value, nothing, a number,
// a time. It covers the resolvers of PyYAML and the core schema of YAML 1.2.
func isTyped(s string) bool {
	switch s[0] {
	case '=', '<':
		return s == "=" || s == "<<"
	case '~', 'n', 'N', 'y', 'Y', 't', 'T', 'f', 'F', 'o', 'O':
		return isNull(s) || isTruthWord(s)
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return isNumber(s) || isTimestamp(s)
	}
	return false
}

// isTruthWord knows the truth values of YAML 1.1, which come in lower case,
// in upper case and with one capital.
func isTruthWord(s string) bool {
	lower := strings.ToLower(s)
	switch lower {
	case "y", "n", "yes", "no", "true", "false", "on", "off":
		return s == lower || s == strings.ToUpper(s) || s == strings.ToUpper(s[:1])+lower[1:]
	}
	return false
}

// isNumber reports whether s is an integer or a floating-point number, in any
// notation: decimal, with underscores, octal, hexadecimal, binary, base 60,
// with an exponent, infinite or not a number.
func isNumber(s string) bool { return numbers().MatchString(s) }

var numbers = sync.OnceValue(func() *regexp.Regexp {
	const whole, exponent = `\d[\d_]*(:[0-5]?\d)*`, `(e[-+]*[\d_]+)?`
	return regexp.MustCompile(`(?i)^[-+]?(\.inf|\.nan|0x[\da-f_]+|0o[0-7_]+|0b[01_]+` +
		`|` + whole + `(\.[\d_]*)?` + exponent + `|\.[\d_]*\d[\d_]*` + exponent + `)$`)
})

// isTimestamp reports whether s begins as a date does and goes on as a time
// may. It says yes too often rather than not often enough: quotes do no harm.
func isTimestamp(s string) bool { return timestamps().MatchString(s) }

var timestamps = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}-\d{1,2}-\d{1,2}([TtZz:.+\- \t][\dTtZz:.+\- \t]*)?$`)
})
