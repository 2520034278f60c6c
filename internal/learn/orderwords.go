package learn

import (
	_ "embed"
	"strings"
	"sync"

	"anamnesis/internal/text"
)

//go:embed orders.txt
var orderSource string

// A tongue is how one language orders to remember something: alternatives by key, as in orders.txt.
type tongue map[string]string

// tongues reads the list.
func tongues() (all []tongue) {
	for line := range strings.Lines(orderSource) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			all = append(all, tongue{})
		default:
			key, forms, _ := strings.Cut(line, " ")
			t := all[len(all)-1]
			if t[key] != "" {
				forms = t[key] + "|" + forms
			}
			t[key] = forms
		}
	}
	return all
}

// forms adds the beginnings of a language's orders.
func (t tongue) forms() (all []string) {
	if t["begin"] != "" {
		return []string{t["begin"]}
	}
	one := func(keys ...string) string {
		var parts []string
		for _, k := range keys {
			if t[k] != "" {
				parts = append(parts, t[k])
			}
		}
		return `(?:` + strings.Join(parts, "|") + `)`
	}
	clause := `(?:[–—-]\s+|qu['’]|ש)`
	if t["that"] != "" {
		clause = `(?:` + clause + `|` + one("that") + `\s+)`
	}
	lead := `(?:` + one("lead") + `[,:!]?\s+){0,2}`
	all = append(all, lead+one("verb", "naming")+`(?:,?\s+`+one("this")+`){0,2}(?:\*\*)?\s*[:：]\s*`,
		lead+one("verb")+`(?:,?\s+`+one("this")+`)?,?\s+`+clause, lead+one("now")+`(?:[,:]\s*|\s+)`)
	if t["also"] != "" {
		all = append(all, lead+one("also"))
	}
	return all
}

// orderForms are the beginnings of orders, their ends where the order comes last, and whole sentences about the one before.
var orderForms = sync.OnceValue(func() (f struct{ begin, end, before *text.Pattern }) {
	var begin, end, before []string
	for _, t := range tongues() {
		begin, before = append(begin, t.forms()...), append(before, t["before"])
		if t["end"] != "" {
			end = append(end, t["end"])
		}
	}
	f.begin = text.Form(`(?i)^(?:\*\*)?(?:`, strings.Join(begin, "|"), `)`)()
	f.end = text.Form(strings.Join(end, "|"))()
	f.before = text.Form(`(?i)^(?:`, strings.Join(before, "|"), `)(?:[,;].*)?[.!。！]*$`)()
	return f
})
