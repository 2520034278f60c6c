package recall

import (
	"path"
	"strings"
	"unicode/utf8"
)

// Bounds of the files in work.
const (
	maxWork     = 8
	maxWorkPath = 200 // bytes
)

// InWork returns a plan that knows which files are in work, the newest last. They open
// nothing by themselves: a note must be near to the prompt too, or name one of them.
func (p Plan) InWork(files []string) Plan {
	if p.Silent != "" {
		return p
	}
	files = files[max(0, len(files)-maxWork):]
	for _, f := range files {
		if f == "" || len(f) > maxWorkPath || !utf8.ValidString(f) || strings.ContainsAny(f, "\x00\n") {
			continue
		}
		if f = path.Clean(strings.ReplaceAll(f, `\`, "/")); f != "." {
			p.work = append(p.work, f)
		}
	}
	if len(p.work) > 0 {
		p.Parts = append(p.Parts, Part{Work, strings.Join(p.work, " ")})
	}
	return p
}

// Finding returns a plan that finds the files in work while its questions are asked:
// that may ask git. Advise calls find once, and not at all for a plan that is silent.
func (p Plan) Finding(find func() []string) Plan {
	if p.Silent == "" {
		p.find = find
	}
	return p
}

// Strengths of an anchor.
const (
	anchorFile   = 1.0 // the note names the file
	anchorFolder = 0.9 // or a folder that it stands in, or files that are called like it
)

// anchored says how clearly the text of a note is about one of the files in work, 0 to 1.
func anchored(text string, work *actionNames) float64 {
	switch strength, _ := work.namedIn(text); strength {
	case namesNothing:
		return 0
	case namesFolder:
		return anchorFolder
	}
	return anchorFile
}
