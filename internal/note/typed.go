package note

import "strings"

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
func isNumber(s string) bool {
	signed := s[0] == '+' || s[0] == '-'
	if signed {
		s = s[1:]
	}
	switch strings.ToLower(s) {
	case ".inf", ".nan":
		return true
	}
	if s == "" {
		return false
	}
	if len(s) > 2 && s[0] == '0' {
		switch s[1] {
		case 'x', 'X':
			return only(s[2:], "0123456789abcdefABCDEF_")
		case 'o', 'O':
			return only(s[2:], "01234567_")
		case 'b', 'B':
			return only(s[2:], "01_")
		}
	}
	mantissa, exponent, scientific := strings.Cut(strings.Replace(s, "E", "e", 1), "e")
	if scientific {
		exponent = strings.TrimLeft(exponent, "+-")
		if !only(exponent, "0123456789_") {
			return false
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if !only(fraction, "0123456789_") && fraction != "" {
		return false
	}
	if whole == "" {
		return strings.ContainsAny(fraction, "0123456789")
	}
	if !only(whole, "0123456789_:") || whole[0] == ':' || whole[0] == '_' {
		return false
	}
	// Base 60: groups of at most two digits after the first.
	groups := strings.Split(whole, ":")
	for _, g := range groups[1:] {
		if g == "" || len(g) > 2 || strings.Contains(g, "_") || len(g) == 2 && g[0] > '5' {
			return false
		}
	}
	return true
}

// only reports whether s is not empty and holds no other characters than those.
func only(s, characters string) bool {
	return s != "" && strings.Trim(s, characters) == ""
}

// isTimestamp reports whether s begins as a date does and goes on as a time
// may. It says yes too often rather than not often enough: quotes do no harm.
func isTimestamp(s string) bool {
	i := strings.IndexByte(s, '-')
	if i != 4 || !only(s[:4], "0123456789") {
		return false
	}
	rest := s[5:]
	month := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if month == 0 || month > 2 || !strings.HasPrefix(rest[month:], "-") {
		return false
	}
	rest = rest[month+1:]
	day := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if day == 0 || day > 2 {
		return false
	}
	rest = rest[day:]
	return rest == "" || only(rest, "0123456789TtZz:.+- \t")
}
