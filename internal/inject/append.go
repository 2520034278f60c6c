package inject

import (
	"strings"

	"anamnesis/internal/note"
)

// Left returns how many characters the limit of a place leaves behind a block, as its agent counts them; -1 for no limit.
func (p *Place) Left(b *Block) int {
	if p.Limit == 0 {
		return -1
	}
	text := b.Text
	if text == "" {
		text = p.Start + "\n" + pageTitle + oneLine(p.Project) + "\n\n" + p.End + "\n"
	}
	return max(0, p.Limit-measure(p.Size).of(text))
}

// Append adds a section to the end of a block, and makes a page of one that is empty. The section has to be harmless.
func (b *Block) Append(p Place, section string) {
	text, ok := strings.CutSuffix(b.Text, p.End+"\n")
	switch {
	case b.Text == "":
		text = p.Start + "\n" + pageTitle + oneLine(p.Project) + "\n"
	case !ok:
		return
	}
	b.Text = text + "\n" + strings.TrimRight(section, "\n") + "\n" + p.End + "\n"
}

// Quoted makes a record harmless of which each line is quoted ("> "), so that none of them can pose as text of the page.
func Quoted(record string) string {
	var out strings.Builder
	for line := range strings.Lines(record) {
		rest, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		out.WriteString("> " + strings.Join(strings.Fields(note.Unposed(note.Harmless(strings.ReplaceAll(rest, "<!--", "<! --")))), " ") + "\n")
	}
	return out.String()
}
