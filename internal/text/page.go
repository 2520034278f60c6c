package text

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	longText = 6000 // characters: nobody types so much in one go
	longHead = 1500 // what of a long text may be the user's: its beginning and its last paragraph
	maxAhead = 100  // lines or paragraphs behind one that are looked at for what it begins
	longPage = 400  // bytes of a page without marks
)

var (
	mailHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\*{0,2}\pL[\pL -]{0,20}\*{0,2}[:：]\*{0,2}\s*\S`)
	})
	mailAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w.+-]+@[\w-]+\.\w+`) })
	pathLine    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w@./-]*\w\.\w{1,5}(:\d+(-\d+)?)?$`) })
)

// documents marks what was copied from a document: mail, markdown, a page, a finding of a
// review, and what is too long to be typed.
func (d *document) documents() {
	for i := range d.paras {
		if d.open(i) {
			if end := max(d.mail(i), d.letter(i), d.markdown(i), d.page(i), d.finding(i)); end > i {
				d.mark(d.paras[i].from+d.headIn(i), d.paras[end-1].to)
			}
		}
	}
	d.remarks()
	d.long()
}

// open reports whether a paragraph holds a line that was not found to be pasted.
func (d *document) open(i int) bool {
	for _, l := range d.lines[d.paras[i].from:d.paras[i].to] {
		if !l.pasted {
			return true
		}
	}
	return false
}

// headIn returns how many lines of a paragraph introduce what follows in it.
func (d *document) headIn(i int) int {
	lines := d.lines[d.paras[i].from:d.paras[i].to]
	for n := range len(lines) - 1 {
		l, next := &lines[n], &lines[n+1]
		if !mailHead().MatchString(l.text) && (l.introduces() || l.prose && (next.heading() || mailHead().MatchString(next.text))) {
			return n + 1
		}
	}
	return 0
}

// introduced reports whether the paragraph before announces this one, or its own first lines do.
func (d *document) introduced(i int) bool {
	if d.headIn(i) > 0 {
		return true
	}
	return i > 0 && d.lines[d.paras[i-1].to-1].introduces()
}

// own returns behind which paragraph a document ends that goes on to the end of the text: a last
// paragraph that is one sentence, and stands under nothing, is the user's again.
func (d *document) own(from int) int {
	n := len(d.paras)
	last := d.paras[n-1]
	if n-1 > from+1 && last.to-last.from == 1 && d.lines[last.from].prose && !d.lines[last.from].item && !d.lines[last.from].title() {
		above := &d.lines[d.paras[n-2].to-1]
		if !above.heading() && !above.introduces() && (d.paras[n-2].to-d.paras[n-2].from > 1 || !above.title()) {
			return n - 1
		}
	}
	return n
}

// mail finds a mail with its head: two lines at least of a name and a value, with an address.
func (d *document) mail(i int) (end int) {
	p := d.paras[i]
	heads, address := 0, false
	for _, l := range d.lines[p.from+d.headIn(i) : p.to] {
		if !mailHead().MatchString(l.text[:min(len(l.text), maxLook)]) {
			break
		}
		heads++
		address = address || mailAddress().MatchString(l.text)
	}
	if heads < 2 || !address {
		return 0
	}
	return d.signed(i, false)
}

// letter finds a mail without its head: behind an introduction, a line that greets and ends with
// a comma, and one that closes.
func (d *document) letter(i int) (end int) {
	l := &d.lines[d.paras[i].from+d.headIn(i)]
	if !d.introduced(i) || !strings.HasSuffix(l.text, ",") || len(strings.Fields(l.text)) > 5 {
		return 0
	}
	return d.signed(i, true)
}

// signed returns behind which paragraph a mail ends: that of its signature, or the text. greets
// says that its first line was seen to greet: that ends with a comma, too.
func (d *document) signed(i int, greets bool) int {
	for j := i; j < len(d.paras); j++ {
		p := d.paras[j]
		for k := p.from; k < p.to; k++ {
			l := &d.lines[k]
			if j == i+1 && k == p.from && !greets {
				greets = strings.HasSuffix(l.text, ",")
				if greets {
					continue
				}
			}
			if l.text == "--" || j > i && strings.HasSuffix(l.text, ",") && len(strings.Fields(l.text)) <= 4 {
				switch {
				case k+1 < p.to:
					return j + 1
				case j+1 < len(d.paras) && d.paras[j+1].to-d.paras[j+1].from <= 3 && len(strings.Fields(d.lines[d.paras[j+1].from].text)) <= 4:
					return j + 2
				}
			}
		}
	}
	return d.own(i)
}

// markdown finds a document with headings: three of them, or two behind an introduction.
func (d *document) markdown(i int) int {
	if !d.lines[d.paras[i].from+d.headIn(i)].heading() {
		return 0
	}
	headings, size := 0, 0
	ahead := d.lines[d.paras[i].from:]
	for _, l := range ahead[:min(len(ahead), maxAhead)] {
		if strings.HasPrefix(l.text, "#") && l.heading() && !l.pasted {
			headings++
		}
		size += len(l.text)
	}
	if d.introduced(i) && headings >= 2 || headings >= 3 && size > 2*longPage {
		return d.own(i)
	}
	return 0
}

// page finds a page without marks: behind an introduction, long, with two titles that stand alone
// over paragraphs of sentences.
func (d *document) page(i int) int {
	if !d.introduced(i) {
		return 0
	}
	titles, size := 0, 0
	for j := i; j < min(len(d.paras), i+maxAhead) && (titles < 2 || size < longPage); j++ {
		p := d.paras[j]
		first := &d.lines[p.from]
		if j == i {
			first = &d.lines[p.from+d.headIn(i)]
		}
		alone := p.to-p.from == 1 || j == i && p.to-p.from-d.headIn(i) == 1
		if alone && first.title() && j+1 < len(d.paras) && !d.lines[d.paras[j+1].from].item {
			titles++
		}
		size += d.lines[p.to-1].To - first.From
	}
	if titles >= 2 && size >= longPage {
		return d.own(i)
	}
	return 0
}

// finding finds what a reviewer said of a place in the code: a title, a line with a grade or a
// place, and a paragraph of sentences.
func (d *document) finding(i int) int {
	if i+2 >= len(d.paras) {
		return 0
	}
	title, grade := d.single(i, d.headIn(i)), d.single(i+1, 0)
	if title == nil || grade == nil || !grade.title() && !pathLine().MatchString(grade.text) {
		return 0
	}
	long := len(strings.Fields(grade.text)) > 3 || len(strings.Fields(title.text)) > 12
	if !title.title() && (long || title.item || title.quoted || ends(title.text)) {
		return 0
	}
	p := d.paras[i+2]
	if first := &d.lines[p.from]; !first.prose || first.item || first.introduces() || d.lines[p.to-1].To-first.From < 120 {
		return 0
	}
	return i + 3
}

// A remark is a line of this form.
const (
	remarkWords = 26 // at least
	remarkNames = 3  // of code, without backticks, at least
	remarkShare = 15 // words to a name, at most
	introWords  = 15 // of a line beside a remark, at most
)

// name is the form of a name of code that stands in a sentence.
var name = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[("']*(\w*[a-z0-9][A-Z]\w*|\w+_\w+|\w+\.\w+.*|\w+\([^)]*\).*|--\w[\w-]+)[)\].,:;"']*$`)
})

// remarks marks what reviewers, most of them programs, say of code in one line: a long one, dense
// with names that lost their backticks when they were copied, and no question. In a text with
// other lines of some length it is the user's.
func (d *document) remarks() {
	var found []int
	for i := range d.lines {
		l := &d.lines[i]
		if l.blank() || l.pasted || l.quoted {
			continue
		}
		words := strings.Fields(l.text)
		switch {
		case remark(l, words):
			found = append(found, i)
		case len(words) > introWords:
			return
		}
	}
	for _, i := range found {
		d.mark(i, i+1)
	}
}

func remark(l *line, words []string) bool {
	if l.item || len(words) < remarkWords || strings.ContainsAny(l.text, "?？`") {
		return false
	}
	names := 0
	for _, w := range words {
		if name().MatchString(w) {
			names++
		}
	}
	return names >= remarkNames && names*remarkShare >= len(words)
}

// single returns the line of a paragraph that is one line behind its first skip lines; nil for
// another.
func (d *document) single(i, skip int) *line {
	p := d.paras[i]
	if p.to-p.from != skip+1 {
		return nil
	}
	return &d.lines[p.from+skip]
}

// ends reports whether a text ends with a mark of a sentence or a clause.
func ends(s string) bool { return strings.ContainsAny(s[len(s)-1:], ".:;,?!") }

// long marks the middle of a text that is longer than anybody types. Its beginning and its last
// paragraph may be the user's.
func (d *document) long() {
	typed := 0
	for i := range d.lines {
		if !d.lines[i].pasted {
			typed += utf8.RuneCountInString(d.lines[i].text)
		}
	}
	if typed <= longText {
		return
	}
	head := 0
	for i, p := range d.paras {
		last := i == len(d.paras)-1 && i > 0
		if last && d.lines[p.to-1].To-d.lines[p.from].From <= longHead {
			break
		}
		for j := p.from; j < p.to; j++ {
			if l := &d.lines[j]; !l.pasted {
				if head += utf8.RuneCountInString(l.text); head > longHead && j > 0 {
					l.pasted = true
				}
			}
		}
	}
}
