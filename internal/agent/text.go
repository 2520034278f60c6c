package agent

import (
	"strings"
	"unicode/utf8"
)

// The marks around every block that we put in front of an agent. No agent escapes them.
const (
	InjectStart = "[anamnesis:begin]"
	InjectEnd   = "[anamnesis:end]"
)

// The marks around our block in a file of instructions, and around what earlier versions injected.
const (
	FileStart = "<!-- anamnesis:begin -->"
	FileEnd   = "<!-- anamnesis:end -->"
)

// A mark is one that StripInjected knows.
type mark struct {
	text string
	step int // 1 begins a block, -1 ends it
}

var marks = [...]mark{
	{InjectStart, 1},
	{InjectEnd, -1},
	{FileStart, 1},
	{FileEnd, -1},
	{"&lt;!-- anamnesis:begin --&gt;", 1},
	{"&lt;!-- anamnesis:end --&gt;", -1},
}

// markName is what all marks hold, so that one search finds any.
const markName = "anamnesis:"

// StripInjected cuts our own injected blocks out of text. Blocks may nest; one
// that never ends goes to the end of text, and an end mark without a beginning
// is removed alone. No mark is left in what is returned.
func StripInjected(text string) string {
	if !strings.Contains(text, markName) {
		return text
	}
	var out strings.Builder
	depth, done := 0, 0 // text[done:at] is not decided yet
	for at := 0; ; {
		i := strings.Index(text[at:], markName)
		if i < 0 {
			break
		}
		at += i
		from, m := markAt(text, done, at)
		if m == nil {
			at += len(markName)
			continue
		}
		if depth == 0 {
			join(&out, text[done:from])
		}
		depth = max(0, depth+m.step)
		done = from + len(m.text)
		at = done
	}
	if depth == 0 {
		join(&out, text[done:])
	}
	return out.String()
}

// markAt returns the mark whose name stands at at, and where it begins, not before from.
func markAt(text string, from, at int) (begin int, m *mark) {
	for i := range marks {
		m := &marks[i]
		begin := at - strings.Index(m.text, markName)
		if begin >= from && strings.HasPrefix(text[begin:], m.text) {
			return begin, m
		}
	}
	return 0, nil
}

// markCount counts the marks that begin a block and those that end one, and says where the last of
// each is; -1 for none.
func markCount(text string) (begins, ends, lastBegin, lastEnd int) {
	lastBegin, lastEnd = -1, -1
	for _, m := range marks {
		last := strings.LastIndex(text, m.text)
		if m.step > 0 {
			begins, lastBegin = begins+strings.Count(text, m.text), max(lastBegin, last)
		} else {
			ends, lastEnd = ends+strings.Count(text, m.text), max(lastEnd, last)
		}
	}
	return begins, ends, lastBegin, lastEnd
}

// join appends part. What stood around a removed block must not become a word,
// let alone a mark, when it is put together, so a line break goes in between.
func join(out *strings.Builder, part string) {
	if part == "" {
		return
	}
	if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") && part[0] != '\n' {
		out.WriteByte('\n')
	}
	out.WriteString(part)
}

// clip shortens text to at most limit bytes. It cuts between words, and before a
// private key that would lose its end: half a secret is a secret that no
// pattern recognises.
func clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	// A run of 4 KB without any of these is a blob, not a token.
	near := max(0, cut-4096)
	if i := strings.LastIndexAny(text[near:cut], " \t\r\n\"'`,;&<>(){}[]|"); i >= 0 {
		cut = near + i
	}
	text = text[:cut]
	if i := strings.LastIndex(text, "-----BEGIN "); i >= 0 && !strings.Contains(text[i:], "-----END ") {
		text = text[:i]
	}
	return strings.TrimRight(text, " \t\r\n")
}

// ValidID reports whether s may name a session, and so a file: one to 128
// letters, digits, hyphens and underscores of ASCII.
func ValidID(s string) bool { return 0 < len(s) && len(s) <= 128 && isWord(s) }

func isWord(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// validDir reports whether s is an absolute path, of Unix or of Windows: a
// transcript may have been written on another machine.
func validDir(s string) bool {
	if len(s) > 4096 || hasControl(s) {
		return false
	}
	drive := len(s) >= 3 && isWord(s[:1]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\\`) || drive
}

// validBranch refuses what git would not call a branch, and the "HEAD" that
// harnesses write for a detached one.
func validBranch(s string) bool {
	return s != "" && s != "HEAD" && len(s) <= 255 && s[0] != '-' && !hasControl(s)
}

// validFile reports whether s can be listed as an edited file.
func validFile(s string) bool {
	return strings.TrimSpace(s) != "" && len(s) <= 4096 && !hasControl(s)
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7f {
			return true
		}
	}
	return false
}
