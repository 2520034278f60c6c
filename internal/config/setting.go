package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"anamnesis/internal/llm"
	"anamnesis/internal/replica"
)

// A Setting is one row: a name in the environment, a key in config.json, a
// default, what it does and who changes it, bound to a field.
type Setting struct {
	Env     string
	Key     string
	Default string
	Doc     string
	Who     string // changes it, and when
	Values  string // what may be set, for people

	words  []string // all that may be set, when these are few; nil otherwise
	set    func(string) error
	get    func() string
	quoted bool                // a string in config.json
	limits *bound              // of a fraction: beyond them the nearest is used
	mask   func(string) string // of what is shown; nil shows all

	emptyIsOff bool // a variable that is set to nothing switches it off
}

// shown is the value as it may be printed.
func (s *Setting) shown() string {
	if s.mask != nil {
		return s.mask(s.get())
	}
	return s.get()
}

// text binds a string.
func text(env, key string, p *string, def, doc, who string) Setting {
	return Setting{
		Env: env, Key: key, Default: def, Doc: doc, Who: who, Values: "text", quoted: true,
		set: func(v string) error {
			if strings.ContainsFunc(v, unicode.IsControl) || len(v) > 4096 {
				return errors.New("must be one line without control characters, of at most 4096 bytes")
			}
			*p = strings.TrimSpace(v)
			return nil
		},
		get: func() string { return *p },
	}
}

// key binds a credential, which is never printed.
func key(env, name string, p *string, doc, who string) Setting {
	s := text(env, name, p, "", doc, who)
	s.mask = Mask
	return s
}

// dsn binds the address of a database, of which nothing is printed.
func dsn(env, name string, p *string, doc, who string) Setting {
	s := text(env, name, p, "", doc, who)
	s.mask = func(v string) string {
		if v == "" {
			return ""
		}
		return "set"
	}
	return s
}

// gitAddress binds the address of a git repository, whose password is never
// printed.
func gitAddress(env, key string, p *string, doc, who string) Setting {
	s := text(env, key, p, "", doc, who)
	s.mask = replica.HidePassword
	return s
}

// address binds the base address of a server.
func address(env, key string, p *string, doc, who string) Setting {
	s := text(env, key, p, "", doc, who)
	s.Values = "http or https address"
	s.set = func(v string) error {
		if v = strings.TrimSpace(v); v != "" {
			if err := llm.CheckAddress(v); err != nil {
				return err
			}
		}
		*p = strings.TrimRight(v, "/")
		return nil
	}
	return s
}

// choice binds a word out of a few; the first is the default.
func choice(env, key string, p *string, doc, who string, words ...string) Setting {
	s := text(env, key, p, words[0], doc, who)
	s.words = words
	s.Values = strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	s.set = func(v string) error {
		v = strings.ToLower(strings.TrimSpace(v))
		if !slices.Contains(words, v) {
			return fmt.Errorf("%q is not %s", v, s.Values)
		}
		*p = v
		return nil
	}
	return s
}

// or lets a choice be made by a switch as well: 0 means one word, 1 another.
func (s Setting) or(off, on string) Setting {
	set := s.set
	s.set = func(v string) error {
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "0", "false", "no":
			v = off
		case "1", "true", "yes", "on":
			v = on
		}
		return set(v)
	}
	return s
}

// boolean binds a switch.
func boolean(env, key string, p *bool, def bool, doc, who string) Setting {
	return Setting{
		Env: env, Key: key, Default: strconv.FormatBool(def), Doc: doc, Who: who, Values: "true or false", words: []string{"true", "false"},
		set: func(v string) error {
			b, ok := parseBool(v)
			if !ok {
				return fmt.Errorf("%q is neither true nor false", v)
			}
			*p = b
			return nil
		},
		get: func() string { return strconv.FormatBool(*p) },
	}
}

// parseBool understands what people write for yes and no.
func parseBool(v string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "1", "true", "yes", "on":
		return true, true
	case "", "0", "false", "no", "off":
		return false, true
	}
	return false, false
}

// A bound limits a number.
type bound struct{ least, most float64 }

func within(least, most float64) bound { return bound{least, most} }

func (b bound) String() string {
	return strconv.FormatFloat(b.least, 'f', -1, 64) + " to " + strconv.FormatFloat(b.most, 'f', -1, 64)
}

// nearest sets the limit that a number is beyond, and reports whether it was one.
func (s *Setting) nearest(v string) bool {
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if s.limits == nil || err != nil || math.IsNaN(f) {
		return false
	}
	return s.set(strconv.FormatFloat(max(s.limits.least, min(f, s.limits.most)), 'f', -1, 64)) == nil
}

// number binds a fraction.
func number(env, key string, p *float64, def float64, b bound, doc, who string) Setting {
	return Setting{
		Env: env, Key: key, Default: strconv.FormatFloat(def, 'f', -1, 64), Doc: doc, Who: who, Values: b.String(), limits: &b,
		set: func(v string) error {
			f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil || !(f >= b.least && f <= b.most) { // the negation catches NaN
				return fmt.Errorf("%q is not a number from %s", v, b)
			}
			*p = f
			return nil
		},
		get: func() string { return strconv.FormatFloat(*p, 'f', -1, 64) },
	}
}

// integer binds a whole number.
func integer(env, key string, p *int, def int, b bound, doc, who string) Setting {
	return Setting{
		Env: env, Key: key, Default: strconv.Itoa(def), Doc: doc, Who: who, Values: "whole number, " + b.String(),
		set: func(v string) error {
			n, err := strconv.Atoi(strings.TrimSpace(v))
			if err != nil || float64(n) < b.least || float64(n) > b.most {
				return fmt.Errorf("%q is not a whole number from %s", v, b)
			}
			*p = n
			return nil
		},
		get: func() string { return strconv.Itoa(*p) },
	}
}
