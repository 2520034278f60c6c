package learn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/session"
	"anamnesis/internal/text"
)

// SliceOptions say how much of a session a reader sees.
type SliceOptions struct {
	Tokens int // at most, of the whole slice; 0 means 3000
	From   int // the first turn that was not read before (Session.Number): earlier turns are left out
}

// A Slice is what a reader sees of a session: every stretch that a person typed with one line of
// what the agent had just done, the remedies of failed commands, and the files that were edited.
// Where that is more than fits, what has cues and what is said again comes first.
type Slice struct {
	Text  string
	Said  []Said        // what was typed, whole: quotes are looked up in it
	Fixes []session.Fix // likewise, for what the session showed
}

// charsPerToken is the usual estimate for English and code.
const charsPerToken = 4

const (
	sliceTokens = 3000
	maxFiles    = 20
	maxFixLines = 5
	maxSpan     = 900 // characters of one turn, when not everything fits
	leastSpan   = 80
)

// SliceOf cuts the slice of a session. clean may be nil.
func SliceOf(s *agent.Session, clean Clean, o SliceOptions) Slice {
	sl := Slice{Said: SaidIn(s, clean)}
	sl.Said = slices.DeleteFunc(sl.Said, func(w Said) bool { return s.Number(w.Turn) < o.From })
	for _, f := range remedies(s, clean) {
		if s.Number(f.Turn) >= o.From {
			sl.Fixes = append(sl.Fixes, f)
		}
	}
	room := cmp.Or(o.Tokens, sliceTokens) * charsPerToken
	var tail strings.Builder
	list := func(heading string, lines []string, most int) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(&tail, "\n%s:\n", heading)
		for _, line := range lines[:min(most, len(lines))] {
			tail.WriteString("- " + text.Cut(line, 300) + "\n")
		}
	}
	var fixes []string
	for i := range sl.Fixes {
		fixes = append(fixes, sl.Fixes[i].String())
	}
	list("Commands that failed and passed", fixes, maxFixLines)
	list("Files edited", filesOf(s, clean), maxFiles)
	sl.Text = spansWithin(sl.Said, room-utf8.RuneCountInString(tail.String())) + tail.String()
	return sl
}

func filesOf(s *agent.Session, clean Clean) []string {
	files := s.FilesTouched()
	if clean != nil {
		for i := range files {
			files[i] = clean(files[i])
		}
	}
	return files
}

// spansWithin renders what was typed within so many characters.
func spansWithin(said []Said, room int) string {
	parts := make([]string, len(said))
	total := 0
	for i := range said {
		parts[i] = spanOf(&said[i], said[i].Text)
		total += utf8.RuneCountInString(parts[i])
	}
	if total > room {
		parts = make([]string, len(said))
		for _, i := range byCues(said) {
			span := spanOf(&said[i], essence(said[i].Text, min(maxSpan, room-len(said[i].Did)-40)))
			n := utf8.RuneCountInString(span)
			if n > room || room < leastSpan {
				continue
			}
			parts[i] = span
			room -= n
		}
	}
	return strings.Join(parts, "")
}

func spanOf(w *Said, words string) string {
	if w.Did == "" {
		return fmt.Sprintf("[%d] user: %s\n", w.Turn, words)
	}
	return fmt.Sprintf("[%d] (agent: %s)\nuser: %s\n", w.Turn, w.Did, words)
}

// byCues orders what was typed: by its strongest cues, which are stronger where it stopped the agent and weaker in the first prompt, a
// task; of equals the later comes first.
func byCues(said []Said) []int {
	order, score := make([]int, len(said)), make([]int, len(said))
	for i := range said {
		order[i] = i
		for _, s := range text.Sentences(said[i].Text) {
			score[i] = max(score[i], weight(s))
		}
		switch {
		case said[i].Stops:
			score[i] += 2
		case i == 0:
			score[i]--
		}
		if score[i] < minScore {
			score[i] = 0
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Or(score[b]-score[a], b-a) })
	return order
}

// essence cuts what was typed to n characters: its sentences with cues first, the rest in order
// as far as there is room.
func essence(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	sentences := text.Sentences(s)
	keep := make([]bool, len(sentences))
	take := func(i int) {
		size := utf8.RuneCountInString(sentences[i]) + 1
		if !keep[i] && size <= n {
			keep[i], n = true, n-size
		}
	}
	for i := range sentences {
		for j := range cues {
			if cues[j].points > 1 && cues[j].form().MatchString(sentences[i]) {
				take(i)
				break
			}
		}
	}
	for i := range sentences {
		take(i)
	}
	var out []string
	for i := range sentences {
		if keep[i] {
			out = append(out, sentences[i])
		}
	}
	return strings.Join(out, " ")
}
