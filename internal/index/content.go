package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"anamnesis/internal/note"
)

// A Content is the note of a row, with the bytes of its file, or why there is none.
type Content struct {
	Note *note.Note
	Text []byte // of the file
	Err  error  // names the note; fs.ErrNotExist when its file is gone
}

// errNoText says that a database does not hold the text of another machine's note.
var errNoText = errors.New("its text is not in the index")

// textBatch is how many texts of other origins are fetched at once.
const textBatch = 32

// Content returns the note of a row, see Contents.
func (ix *Index) Content(ctx context.Context, row Row) (c Content) {
	for _, c = range ix.Contents(ctx, []Row{row}) {
	}
	return c
}

// Contents reads the notes of rows one by one, in their order. Those of our own
// origin are read from their files, so that a change that is not indexed yet is
// shown and a file that is gone is missed; those of other origins, which have no
// file here, from the index. A note that cannot be read does not end it.
func (ix *Index) Contents(ctx context.Context, rows []Row) iter.Seq2[int, Content] {
	return func(yield func(int, Content) bool) {
		var texts map[int64][]byte
		var failed error
		believed := ix.Believed()
		left := 0 // rows that texts was fetched for
		for i := range rows {
			r := &rows[i]
			var c Content
			switch {
			case r.Origin == ix.Origin():
				c.Note, c.Text, _, c.Err = ix.store.Read(r.Ref.Path)
			case left == 0:
				texts, left, failed = ix.foreign(ctx, rows[i:])
				fallthrough
			default:
				left--
				c = r.parse(texts[r.Key], failed)
				if c.Note != nil {
					c.Note.Believed = believed(r)
				}
				if c.Note != nil && ix.guest != nil { // the server has what the owner's ledger says
					c.Note.Author, c.Note.Trusted = "", r.Vouched()
				}
			}
			if !yield(i, c) {
				return
			}
		}
	}
}

// foreign fetches the texts of the first n rows of other origins.
func (ix *Index) foreign(ctx context.Context, rows []Row) (texts map[int64][]byte, n int, err error) {
	var keys []int64
	for i := range rows {
		if rows[i].Origin != ix.Origin() && len(keys) < textBatch {
			keys = append(keys, rows[i].Key)
		}
	}
	texts, err = ix.Texts(ctx, keys)
	return texts, len(keys), err
}

// parse reads the text of a note that stands in another origin's tree.
func (r *Row) parse(text []byte, err error) Content {
	c := Content{Text: text, Err: err}
	if c.Err == nil && text == nil {
		c.Err = errNoText
	}
	if c.Err == nil {
		c.Note, c.Err = note.Parse(text)
	}
	if c.Err != nil {
		c.Err = fmt.Errorf("read note %s of %s: %w", r.ID, r.Origin, c.Err)
		return c
	}
	c.Note.Scope, c.Note.UserID, c.Note.Author = r.Ref.Scope, r.UserID, cmp.Or(r.UserID, "somebody of the team")
	return c
}
