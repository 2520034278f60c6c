package main

import (
	"regexp"
	"strings"

	"anamnesis/lab/origin"
)

var (
	roffSection = regexp.MustCompile(`(?m)^\.(?:SH|Sh)\s+"?([^"\n]*)"?\s*$`)
	roffItem    = regexp.MustCompile(`(?m)^\.(?:TP|It|IP)\b[^\n]*\n`)
)

// manual takes pairs out of a manual page, man and mdoc alike.
func (x *extractor) manual(text string) {
	at := roffSection.FindAllStringSubmatchIndex(text, -1)
	page, purpose := "", ""
	for i, m := range at {
		to := len(text)
		if i+1 < len(at) {
			to = at[i+1][0]
		}
		title := strings.Trim(text[m[2]:m[3]], `" `)
		raw := text[m[1]:to]
		body := strings.TrimSpace(origin.PlainRoff(raw))
		switch strings.ToUpper(title) {
		case "NAME":
			name, about, ok := cutName(body)
			if !ok {
				return
			}
			page, purpose = name, about
		case "DESCRIPTION":
			x.emit("manual", purpose, page+". "+body)
			x.options(page, purpose, raw)
		case "SYNOPSIS", "SEE ALSO", "AUTHOR", "AUTHORS", "COPYRIGHT", "HISTORY", "STANDARDS":
		default:
			x.emit("heading", page+" "+strings.ToLower(title), body)
			x.options(page, purpose, raw)
			if s, rest := first(clean(body, 2*passageBytes)); len(rest) > 120 {
				x.emit("opening", s, rest)
			}
		}
	}
}

// cutName takes a NAME section apart: "ls - list files".
func cutName(body string) (name, about string, ok bool) {
	body = strings.Join(strings.Fields(body), " ")
	if name, about, ok = strings.Cut(body, " - "); ok {
		return name, about, true
	}
	name, about, ok = strings.Cut(body, " ") // mdoc: .Nm ls, .Nd list files
	return name, about, ok
}

// options pairs what an option does with the option.
func (x *extractor) options(page, purpose, raw string) {
	at := roffItem.FindAllStringIndex(raw, -1)
	for i, m := range at {
		to := len(raw)
		if i+1 < len(at) {
			to = at[i+1][0]
		}
		head, rest := strings.TrimSpace(raw[m[0]:m[1]]), raw[m[1]:to]
		tag := ""
		if strings.HasPrefix(head, ".TP") {
			tag, rest, _ = strings.Cut(rest, "\n")
		} else {
			tag = "." + head[3:]
		}
		tag = strings.Join(strings.Fields(origin.PlainRoff(".It "+strings.TrimLeft(strings.TrimPrefix(tag, "."), "BIRSFlArCmOp "))), " ")
		about, more := first(clean(origin.PlainRoff(rest), passageBytes))
		if tag != "" && len(about) > 15 {
			x.emit("option", about, page+" "+tag+" "+more+" "+purpose)
		}
	}
}

// wordnet pairs the words of a synonym set with their meaning, and the meaning with
// examples.
func (x *extractor) wordnet(text string) {
	for line := range strings.Lines(text) {
		head, gloss, ok := strings.Cut(line, " | ")
		f := strings.Fields(head)
		if !ok || len(f) < 6 || line[0] == ' ' {
			continue
		}
		n := 0
		for _, c := range f[3] { // the number of words, in hexadecimal
			n = n*16 + strings.IndexRune("0123456789abcdef", c)
		}
		var words []string
		for i := 0; i < n && 4+2*i < len(f); i++ {
			words = append(words, strings.ReplaceAll(f[4+2*i], "_", " "))
		}
		meaning, examples, _ := strings.Cut(gloss, `; "`)
		x.emit("gloss", meaning, strings.Join(words, ", ")+": "+words[0])
		if len(words) > 1 {
			x.emit("gloss", strings.Join(words, " "), meaning)
		}
		for e := range strings.SplitSeq(examples, `"`) {
			if len(e) > 10 {
				x.emit("example", strings.Join(words, " ")+", "+meaning, e)
			}
		}
	}
}

var localeLine = regexp.MustCompile(`(?m)^\s*"?([\w.]+)"?\s*[:=]\s*"?(.*?)"?,?$`)

// locale pairs the keys of a user interface's texts with the texts.
func (x *extractor) locale(text string) {
	for _, m := range localeLine.FindAllStringSubmatch(text, -1) {
		x.emit("setting", split(strings.ReplaceAll(m[1], ".", " ")), verbs.ReplaceAllString(plain(m[2]), " "))
	}
}
