package claim

import (
	"strings"
	"sync"
	"unicode"
)

// deniedReach is how many words of content a denial reaches: "never use offset pagination".
const deniedReach = 4

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// A wordClasses is the closed classes of the languages in which rules are written here: negations, words
// behind which a denial ends, words that relate two things, and words without content. They are grammar, and decide nothing
// about what is a rule.
type wordClasses struct{ negators, turns, relations, functionWords map[string]bool }

// loadWords returns them, made on the first call: most commands compare no statements.
var loadWords = sync.OnceValue(func() *wordClasses {
	return &wordClasses{
		negators: set(`not no never don't dont doesn't didn't mustn't shouldn't can't cannot won't isn't aren't without avoid stop instead
		rather neither nor nicht kein keine keinen keiner nie niemals ohne statt anstatt vermeide ne pas jamais sans évite éviter
		nunca sin evita ni except unless excluding sauf außer excepto salvo 除了 不 不要 别 勿 禁止 不用`),
		turns: set(`but and or sondern aber und oder mais et ou pero y o sino 而 但`),
		relations: set(`before after then than from into until unless if when whenever while once vor nach bevor nachdem bis als wenn falls
		avant après jusque si quand antes después hasta cuando`),
		functionWords: set(`a an the this that these those it its they them their there here he she his her we us our you your i me my mine
		is are was were be been being am do does did done have has had having will would shall should must may might can could need needs
		to of in on at by for with onto as so such very just also too please always ever every each any all
		use uses using used via let lets let's let's run remember sure want wants wanted from now on going forward
		der die das den dem des ein eine einen einem einer es er sie wir ihr ich du uns mich dich ist sind war waren sein haben hat hatte
		wird werden soll sollen muss müssen kann können zu von im in auf für mit bei aus als dann auch bitte immer jede jeder jedes alle
		le la les un une des du de d l il elle on nous vous je tu est sont être avoir a ont au aux en dans pour par avec que qui toujours
		el los las una unos unas del al es son ser estar he ha han hay se lo por para con que siempre cada todo todos
		的 了 是 在 请 都 要 用 和 与`),
	}
})

// split cuts a token into words: at slashes of prose ("and/or") not, because paths are names;
// runs of ideographs into pairs.
func split(token string) (all []string) {
	var han []rune
	for _, r := range token {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			han = append(han, r)
		}
	}
	if len(han) < 2 {
		return []string{token}
	}
	for text, sign := range map[string]bool{"不要": true, "禁止": true, "不用": true} {
		if rest, ok := strings.CutPrefix(string(han), text); ok && sign {
			return append([]string{text}, pairs([]rune(rest))...)
		}
	}
	return pairs(han)
}

func pairs(han []rune) (all []string) {
	if len(han) == 1 {
		return []string{string(han)}
	}
	for i := 0; i+1 < len(han); i++ {
		all = append(all, string(han[i:i+2]))
	}
	return all
}

// number reports whether a token is a number with its signs and units of one letter.
func number(w string) bool {
	digits, letters := 0, 0
	for _, r := range w {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits > 0 && letters == 0
}

// isName reports whether a token is a name rather than a word of prose: it has a digit, an
// inner capital, only capitals, or a sign of paths, flags and code.
func isName(w string) bool {
	upper, lower, inner := 0, 0, false
	for i, r := range w {
		switch {
		case unicode.IsDigit(r):
			return true
		case unicode.IsUpper(r):
			upper++
			inner = inner || i > 0 && lower > 0
		case unicode.IsLower(r):
			lower++
		case strings.ContainsRune("_/.@#$()<>=:+\\*", r), i == 0 && r == '-':
			return true
		}
	}
	return inner || upper > 1 && lower == 0
}

// stem cuts the endings in which two wordings of one rule differ.
func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s", "en", "e"} {
		if short, ok := strings.CutSuffix(w, end); ok && len(short) >= 3 && !strings.HasSuffix(w, "ss") {
			if n := len(short); n > 3 && short[n-1] == short[n-2] && end != "s" && end != "e" { // committed, running
				short = short[:n-1]
			}
			return short
		}
	}
	return w
}
