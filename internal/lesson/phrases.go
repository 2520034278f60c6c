package lesson

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/smalltalk"
)

//go:embed phrases.txt
var phraseSource string

// A class is what a phrase does in a sentence.
type class int

// The classes, in the order of the sections of phrases.txt.
const (
	outright class = iota
	modal
	universal
	objects
	contrast
	reason
	practice
	decided
	turned
	except
	once
	supposing
	quoting
	praise
	joking
	task
	again
)

var sections = [...]string{
	"outright", "modal", "universal", "objects", "contrast", "reason", "practice", "decided", "now", "except", "once",
	"supposing", "quoting", "praise", "joking", "task", "again",
}

// A phrasebook says which classes a phrase has, as a set of bits.
type phrasebook struct {
	classes map[string]uint32
	most    int // words of the longest phrase
}

var book = sync.OnceValue(func() *phrasebook {
	b := &phrasebook{classes: make(map[string]uint32, 1000)}
	for i, lines := range smalltalk.Sections(phraseSource, sections[:]...) {
		for _, line := range lines {
			words := smalltalk.Words(line)
			b.most = max(b.most, len(words))
			b.classes[strings.Join(words, " ")] |= 1 << i
		}
	}
	return b
})

// cues are the classes of the phrases of a sentence, and how they begin.
type cues struct {
	words  []string
	any    uint32 // classes of phrases anywhere
	begins uint32 // classes of phrases at the beginning
}

func (c *cues) has(k class) bool   { return c.any&(1<<k) != 0 }
func (c *cues) first(k class) bool { return c.begins&(1<<k) != 0 }

// fillers stand before a sentence and say nothing.
var fillers = list(`hm hmm uh oh ok okay and also but yeah yep yes btw well so fine right agreed generally please ach ja
	und auch bitte also et aussi alors y también pues update oye`)

// cuesOf looks a sentence up.
func cuesOf(sentence string) cues {
	c := cues{words: smalltalk.Words(sentence)}
	b, start := book(), 0
	for start < len(c.words)-1 && slices.Contains(fillers(), c.words[start]) {
		start++
	}
	for at := range c.words {
		for n := 1; n <= b.most && at+n <= len(c.words); n++ {
			k := b.classes[strings.Join(c.words[at:at+n], " ")]
			c.any |= k
			if at == 0 || at == start {
				c.begins |= k
			}
		}
	}
	return c
}
