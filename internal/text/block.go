package text

import (
	"slices"
	"strings"
	"unicode"
)

// maxLook is how many bytes of a line are looked at.
const maxLook = 500

// The forms of lines that programs write and people hardly type. They name marks of formats,
// not what a line is about.
var (
	// sure are whole forms: one such line is enough.
	sure = form(
		// logs: a time, a level between brackets or in capitals
		`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d`, `\[?\d\d:\d\d:\d\d([.,]\d+)?[\] ]`, `[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d `,
		`\[(ERROR|WARN|WARNING|FATAL|DEBUG|TRACE|INFO|CRITICAL|NOTICE|SEVERE)\]`,
		`(ERROR|WARN|WARNING|FATAL|DEBUG|TRACE|INFO) +[\w.\[]+[\]:]`,
		`npm (ERR!|error|WARN|warn) `, `level=\w+ `, `time="`,
		// stack traces
		`at .+(\(.*:\d+(:\d+)?\)|:\d+:\d+|\.(java|kt|scala):\d+\)| in .*:line \d+|\(Native Method\)|\(<anonymous>\)|\(Unknown Source\))$`,
		`at [\w$.<>/]+\(.*\)$`, `File ".*", line \d+`, `Traceback \(most recent call last\)`, `goroutine \d+ \[`, `panic: `,
		`(Caused by: |Exception in thread |Uncaught )`, `PHP \w+( \w+)?: `,
		`([A-Za-z_]\w*[.:]+)*[A-Z]\w*(Error|Exception|Warning|Failure)(: |$)`, `(Error|Exception|error|fatal): `,
		`thread '.*' panicked at `,
		`from \S+:\d+:in `, `#\d+ +(0x[0-9a-f]+|/\S+\(\d+\): )`, `==\d+==`, `\*\* \(\w+`, `\.\.\. \d+ more$`,
		`exit (status|code) \d+$`,
		// compilers and linters
		`\S*[\w)]\.\w{1,5}[:(]\d+([:,]\d+)?\)?(: |:?$| - |:in )`, `(error|warning)(\[\w+\]| [A-Z]+\d+)`, `--> \S+:\d+`,
		`\d* *\| `, `\^[~^]*$`, `~+$`,
		// test runners
		`(---|===) (FAIL|PASS|SKIP|RUN|CONT|PAUSE)`, `(PASS|FAIL|FAILED|PASSED|SKIPPED)[ \t]+\S*[/.:]\S*`,
		`(ok|\?)([ \t]{2,}|\t)\S*[/.]\S*`, `(FAIL|PASS)$`,
		`[✓✗✔✖✘✕×√] .*(\d ?m?s\)?|\(\d+\)|\.\w{1,4})$`, `={3,}.*={3,}$`, `Tests?:? +\d+ (passed|failed)`,
		`test result: `, `\d+ (passing|failing|passed|failed)\b.{0,20}$`,
		`test \S+ \.\.\. `,
		// diffs and git
		`diff --git `, `index [0-9a-f]{7,}\.\.`, `@@ -\d`, `\+\+\+ [ab"/]`, `--- [ab"/]\S*$`,
		`commit [0-9a-f]{7,40}\b`, `(Author|Merge): .*[<@ ][0-9a-z]`,
		`On branch \S+$`, `Your branch is (up to date|ahead|behind)`,
		`Changes (not staged for commit|to be committed):$`, `Untracked files:$`,
		`nothing (to commit,|added to commit)`, `no changes added to commit`,
		`(modified|deleted|new file|renamed|both modified): +\S+$`,
		`\d+ files? changed`, `\(use "git `, `CONFLICT \(`, `(<{7}|>{7}|={7})( |$)`, `To (https?|ssh|git)[:@]\S+$`,
		`! \[\w+( \w+)?\] `, `\* \[new `,
		// shells
		`([$❯➜»] [\w./~]|PS [A-Z]:\\|[\w.-]+@[\w.-]+[: ][^ ]*[$#%] )`, `(for|while|until) .*; do( |$)`,
		`(done|fi|esac)( *[<|>&;].*)?$`,
		`if \[{1,2} .*\]`, `#!/`, `total \d+$`, `[-dlbcps][rwxstST-]{9}[.+@]? `,
		`SELECT .+ FROM \S`, `select .+ from .*;$`, `(INSERT INTO|CREATE TABLE|ALTER TABLE|UPDATE \w+ SET) `,
		// tables and drawings
		`\|.*\|$`, `\+[-=+]{3,}\+?$`, `[-=]{3,}( +[-=]{3,})+$`, `[│┃║▏█┌├└╭╰⋮┤╔╚╠]`, `[─━═╌]{3,}`,
		// data
		`"[^"]+" *: *(["\d{\[-]|true|false|null|$)`, `[{\[].*":.*[}\]],?$`,
		`</?[A-Za-z][\w:.-]*( [^<>]*)?/?>.*</?[A-Za-z][\w:.-]*>$`,
		`</?[A-Za-z][\w:.-]*( [^<>]*=[^<>]*)?/?>$`, `<\?xml`, `<!(DOCTYPE|--)`, `-----BEGIN `,
	)
	// code are the forms of statements: a line of them that goes on like a sentence is none.
	code = form(
		`import (\{|\*|type |\w+,? (from |\{)|['"]).*['"];?$`, `import [\w.*]+;$`, `from [\w.]+ import `,
		`import [\w.]+( as \w+)?$`, `#include *[<"]`,
		`package \w+;?$`, `using [A-Z][\w.]*;$`, `use \w+::\S+;$`,
		`(export |default |async |public |private |protected |static |final |abstract |override |pub |inline |unsafe )*`+
			`(func|function|fn|def|class|interface|struct|enum|trait|impl|type|namespace|module) .*[{(\[;=]$`,
		`(async )?(def|class) \w+.*:$`, `export (\*|\{|default) .*`,
		`(export |public |private |static |final )*(const|let|var|val) .*=`,
		`(if|for|while|switch|else if|elif|catch) ?\(.*\) ?\{?$`, `(if|for|switch|else|try|do|match|loop) .*\{$`,
		`\} ?(else|catch|finally|while)?.*\{?$`,
		`return( .*)?;$`, `@\w+(\.\w+)*\(.*\)$`, `[)\]}]+[;,]*$`, `(//|/\*|\*/|\* @)`,
		`[\w.$\[\]>*&:'"-]+(\s+[*&]?[\w.]+)?\s*(=|\(|\+=|-=|\+\+|--|<<|::).*;$`, `\w.*\W[({]$`,
	)
	// likely are seldom typed: two lines of them are enough.
	likely = form(
		`(warning|hint|remote|panic|exception)( \w+)?: `, `([\w.-]+ )?[\w.-]*([Ee]rror|[Ee]xception|[Ww]arning)(\(s\))?: `,
		`\d{4}[-/]\d\d[-/]\d\d`, `[MADRCU?!]{1,2} \S*[./]\S*$`, `[+-]\S.*[;{}()]`, `[\w.\[\]"'$-]+ *(=|\+=|:=) *\S`,
		`\w[\w.]*\(.*\)[;,]?$`,
		`[0-9a-f]*\d[0-9a-f]{6,39} \S`, `\{|\[|\(`, `.*( \\|&&|\|\|)$`, `[\w.-]+ *\| `,
		`(\S* ){0,2}\S*[=:]\S+( \S+[=:]\S+)+`,
	)
	prompt = form(`[$❯➜] \S`)
	// columns are likely, too, and no sentences.
	columns = form(`\S+( {2,}|\t+)\S+(( {2,}|\t+)\S+)+`, `\S.*\S {3,}\S.*\S {3,}\S`)
	// faint need four lines.
	faint = form(
		`[a-z_][\w.-]*: *(["'\[{]|\S+$|$)`, `(//|--|%|;) `, `[\w/.-]+\.\w{1,5}( +\||: )`, `([\w.-]+,){2,}[\w.-]*$`, `---$`,
	)
)

// What the forms weigh, and how much is enough.
const (
	weightSure   = 4
	weightLikely = 2
	weightFaint  = 1
	enough       = 4
)

// form is one of the forms of the beginning of a line.
func form(parts ...string) func() *Pattern { return Form(`^(?:` + strings.Join(parts, "|") + `)`) }

// weigh says how surely a program wrote a line, and where in it that part begins.
func weigh(l *line, raw string) (weight, begin int) {
	s := l.text[:min(len(l.text), maxLook)]
	switch {
	case l.quoted:
		return 0, 0
	case l.item:
		if rest, ok := strings.CutPrefix(s, "- "); ok && faint().MatchString(rest) && strings.Contains(rest, ": ") {
			return weightFaint, 0 // of YAML
		}
		return 0, 0
	case sure().MatchString(s):
		return weightSure, 0
	case columns().MatchString(s):
		return weightLikely, 0
	case sentence(s):
	case code().MatchString(s):
		return weightSure, 0
	case likely().MatchString(s):
		return weightLikely, 0
	case faint().MatchString(s):
		return weightFaint, 0
	}
	// "I get this: --- FAIL: TestX (0.00s)"
	if i := strings.LastIndex(s[:min(len(s), 200)], ": --- "); i > 0 {
		return weightSure, strings.Index(raw, s[i+2:])
	}
	return 0, 0
}

// sentence reports whether a line that begins like code goes on like a sentence: most of it are
// words without a sign.
func sentence(s string) bool {
	words, plain := 0, 0
	for _, w := range strings.Fields(s) {
		words++
		if !strings.ContainsFunc(strings.TrimRight(strings.TrimLeft(w, "("), ".,:!?)"), func(r rune) bool {
			return !unicode.IsLetter(r) && r != '\'' && r != '’' && r != '-'
		}) {
			plain++
		}
	}
	return plain >= 4 && plain*10 >= words*6 && !strings.ContainsAny(s[len(s)-1:], "{}(")
}

// blocks marks in each paragraph what a program wrote.
func (d *document) blocks() {
	before := false // the paragraph before was pasted up to its end
	for _, p := range d.paras {
		lines := d.lines[p.from:p.to]
		if lines[len(lines)-1].pasted { // in a fence
			before = true
			continue
		}
		from, to := block(lines)
		switch {
		case from < to:
			d.mark(p.from+from, p.from+to)
			before = to == len(lines)
		case before && !slices.ContainsFunc(lines, func(l line) bool { return l.indent < 2 || l.item }):
			d.mark(p.from, p.to) // the indented rest of a block with blank lines
		default:
			before = false
		}
	}
}

// block finds the lines of a paragraph that a program wrote: none if the evidence is thin.
func block(lines []line) (from, to int) {
	weigh := func(l *line) int {
		if l.weight == 0 && l.indent >= 4 && !l.item && !l.quoted {
			return weightLikely
		}
		return l.weight
	}
	total, count := 0, 0
	under := -1 // columns before the item of a list above
	from = -1
	for i := range lines {
		if lines[i].pasted { // a fence within the paragraph
			continue
		}
		if lines[i].item {
			under = lines[i].indent
		}
		w := weigh(&lines[i])
		if lines[i].quoted && i > 0 && (prompt().MatchString(lines[i-1].text) || to == i && lines[i-1].quoted) {
			w = weightLikely // what a program printed under its command
		}
		if w > 0 && (w == weightSure || under < 0 || lines[i].item || lines[i].indent <= under) {
			if from < 0 {
				from = i
			}
			total += w
			count++
			to = i + 1
		}
	}
	if at, n := uniform(lines); n > 0 {
		total, count = total+enough, count+n
		if from < 0 || at < from {
			from = at
		}
		to = max(to, at+n)
	}
	prose := 0
	for i := range lines {
		if lines[i].prose {
			prose++
		}
	}
	if total < enough || total < 2*enough && prose > 2*count && prose > 2 || count*8 < len(lines) {
		return 0, 0
	}
	if count > 1 {
		to = len(lines)
	}
	for to < len(lines) && !lines[to].prose && !lines[to].item {
		to++
	}
	for from > 0 && lines[from-1].leads() {
		from--
	}
	return from, to
}

// leads reports whether a line above a block belongs to it: no words, and nothing that ends like
// a sentence.
func (l *line) leads() bool {
	if l.prose || l.item || l.quoted || l.pasted || strings.ContainsAny(l.text[len(l.text)-1:], "?.!,:") {
		return false
	}
	sign := func(r rune) bool { return !unicode.IsLetter(r) && r != ' ' && r != '-' && r != '\'' }
	return l.indent > 0 || strings.ContainsFunc(l.text, sign)
}

// uniform finds a run of three lines at least that all begin with the same word and a mark behind
// it ("[entire] …"), or have the same number of columns between commas: where it begins, and how
// many lines it has.
func uniform(lines []line) (at, n int) {
	last := ""
	for i := range lines {
		p := prefix(lines[i].text)
		if p != "" && p == last {
			n++
			continue
		}
		if n >= 3 {
			return i - n, n
		}
		last, n = p, min(1, len(p))
	}
	if n >= 3 {
		return len(lines) - n, n
	}
	return 0, 0
}

// prefix returns what a line has in common with the others of a uniform run; "" for nothing.
func prefix(s string) string {
	head, rest, _ := strings.Cut(s, " ")
	marked := len(head) > 1 && strings.ContainsAny(head[len(head)-1:], "]|>!") && strings.ContainsFunc(head, isWord)
	if marked || strings.HasPrefix(strings.TrimLeft(rest, " "), "| ") {
		return head
	}
	if n := strings.Count(s, ","); n >= 2 && !strings.Contains(s, ", ") {
		return strings.Repeat(",", n)
	}
	return ""
}
