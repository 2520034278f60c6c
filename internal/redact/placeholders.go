package redact

import "strings"

// longestStopword is how long the longest of the stopwords is.
const longestStopword = 16

// shortestToken is how many bytes a token may show before an ellipsis and give nothing away.
const shortestToken = 12

// placeholderEdge are the signs around a placeholder, besides the ellipsis.
var placeholderEdge = func() (is [256]bool) {
	for _, c := range []byte(".*-_=#xX?<>[](){}:\"' \\") {
		is[c] = true
	}
	return is
}()

// edgeSize is how many bytes the edge of a placeholder has that begins or ends with c.
func edgeSize(c byte) int {
	if c < 0x80 {
		return 1
	}
	return len("…")
}

// isSample reports whether a token of known form is one that documents print: the last half of it is one
// letter or digit.
func isSample(v string) bool {
	half := v[len(v)/2:]
	return len(half) >= 8 && strings.Trim(half, half[:1]) == ""
}

// isPlaceholder reports whether v stands in for a value the reader will supply.
func isPlaceholder(v string) bool {
	t := v
	for t != "" && (placeholderEdge[t[0]] || strings.HasPrefix(t, "…")) {
		t = t[edgeSize(t[0]):]
	}
	for t != "" && (placeholderEdge[t[len(t)-1]] || strings.HasSuffix(t, "…")) {
		t = t[:len(t)-edgeSize(t[len(t)-1])]
	}
	if t == "" {
		return true
	}
	if len(t) <= shortestToken && hasSuffix(v, "...", "…") {
		return true // sk-…
	}
	if len(v) > 4096 {
		return false
	}
	if k := strings.LastIndexAny(v, "-_"); k > 0 && len(v)-k > 3 && strings.Trim(v[k+1:], "xX*") == "" {
		return true // xoxb-xxx
	}
	if placeholders().in(t) {
		return true
	}
	if len(t) <= longestStopword+1 && stopwords()[strings.TrimRight(strings.ToLower(t), "!")] {
		return true
	}
	for _, w := range [...]string{"your", "example", "insert", "replace", "sample", "fake", "todo"} {
		if hasFold(t, 0, w) || len(t) >= len(w) && hasFold(t, len(t)-len(w), w) {
			return !random(v)
		}
	}
	return false
}
