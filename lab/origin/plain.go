package origin

import (
	"html"
	"regexp"
	"strings"
)

var (
	hidden   = regexp.MustCompile(`(?is)<(script|style|head|nav)\b.*?</(script|style|head|nav)>|<!--.*?-->`)
	blockTag = regexp.MustCompile(`(?i)</?(p|div|li|ul|ol|dl|dt|dd|tr|table|h[1-6]|pre|section|article|blockquote|br)\b[^>]*>`)
	otherTag = regexp.MustCompile(`<[^>]*>`)
	blank    = regexp.MustCompile(`\n[ \t]+\n`)
)

// PlainHTML returns the words of a page, a blank line where a block ends.
func PlainHTML(text string) string {
	text = hidden.ReplaceAllString(text, " ")
	text = blockTag.ReplaceAllString(text, "\n\n")
	text = otherTag.ReplaceAllString(text, "")
	return blank.ReplaceAllString(html.UnescapeString(text), "\n\n")
}

var (
	roffEscape = regexp.MustCompile(`\\f(\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&|^%/,c]|\\\*?\[[^]]*\]|\\\*?\(..`)
	mdocMacro  = regexp.MustCompile(`\b(Ar|Fl|Xr|Nm|Cm|Op|Pa|Ic|Dv|Ev|Em|Sy|Li|Ql|Dq|Sq|Pq|Ns|No|Va|Vt|Fa|Fn|Ft|Oo|Oc|Brq|Bro|Brc|Aq|` +
		`Ac|Ao|Do|Dc|So|Sc|Bq|Tn|Ux)\b`)
)

// PlainRoff takes the words out of a manual page, man and mdoc alike.
func PlainRoff(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, `.\"`), strings.HasPrefix(line, `'\"`):
			continue
		case strings.HasPrefix(line, "."):
			macro, rest, _ := strings.Cut(strings.TrimPrefix(line, "."), " ")
			switch strings.TrimSpace(macro) {
			case "PP", "P", "LP", "Pp", "SH", "SS", "Sh", "Ss", "TP", "IP", "It", "sp", "HP":
				out.WriteString("\n\n")
			case "TH", "Dd", "Dt", "Os", "ds", "de", "if", "ie", "el", "nr", "so", "Bd", "Bl", "El", "Ed", "ad", "nh", "ta", "in", "ll":
				continue
			}
			line = mdocMacro.ReplaceAllString(rest, " ")
		}
		line = strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\e`, `\`).Replace(line)
		out.WriteString(roffEscape.ReplaceAllString(line, ""))
		out.WriteByte('\n')
	}
	return out.String()
}
