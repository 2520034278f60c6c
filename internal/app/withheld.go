package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/store/layout"
)

// A WithheldView is a file that does not travel, with what was found in it.
type WithheldView struct {
	WithheldFile
	Title    string   `json:"title"`
	Found    []string `json:"found"`    // the lines with what looks like a secret, masked
	Released bool     `json:"released"` // it goes with the next sync

	data []byte
}

// Name names the file for ReleaseWithheld: the id of its note, or what the file is called.
func (f WithheldView) Name() string { return stemOf(f.Path) }

// Lost reports whether the file lost its text, so that an earlier form can be brought back.
func (f WithheldView) Lost() bool { return strings.HasPrefix(f.Why, replica.LossWhy) }

// Waits reports whether the file waits for a release. None lets a note go that says of its author what this machine
// does not know: that one is decided in the review.
func (f WithheldView) Waits() bool { return !f.Released && !strings.HasPrefix(f.Why, claimWhy) }

func stemOf(file string) string {
	stem, _, _ := strings.Cut(path.Base(file), ".")
	return stem
}

// Withheld lists the files that the last sync did not send and that still wait.
func Withheld(r *Rooms) []WithheldView {
	all := withheld(r, LastSync(r))
	for i, f := range all {
		all[i].Title, all[i].Found = note.Line(titleOf(f.data), note.MaxTitle), masked(r, f.data)
	}
	return all
}

// NotSent are the files that the last sync did not send and that are still held back: what Withheld lists without
// those that were released since.
func NotSent(r *Rooms) []WithheldFile { return readLastSync(r).Held }

// withheld returns those files of a record that are there still and not in order.
func withheld(r *Rooms, last SyncRecord) []WithheldView {
	views := []WithheldView{}
	if len(last.Held) == 0 {
		return views
	}
	why, list := withhold(r, false), readAllowed(r)
	unseen, _, _ := store.LookUnseen(r.Store) // their names are not always those of their files
	for _, h := range last.Held {
		if slices.ContainsFunc(unseen, func(u store.Unseen) bool { return u.Path == layout.Memory+"/"+h.Path && u.Why == h.Why }) {
			views = append(views, WithheldView{WithheldFile: h})
			continue
		}
		file := path.Join(layout.Memory, path.Clean("/"+h.Path))
		if _, err := os.Lstat(r.Store.Path(file)); err != nil {
			continue
		}
		data, err := r.Store.ReadFile(file, store.MaxNoteSize) // fails for what is too large, and stays held then
		settled := strings.HasPrefix(h.Why, secretWhy) && why(h.Path, data) == "" ||
			strings.HasPrefix(h.Why, claimWhy) && claimed(r.Store, h.Path, data) == ""
		if err == nil && settled {
			continue
		}
		v := WithheldView{WithheldFile: h, data: data}
		switch id, sum := IDOf(h.Path), store.Digest(data); {
		case strings.HasPrefix(h.Why, secretWhy):
			v.Released = slices.Contains(list.Notes[id], sum)
		case v.Lost():
			v.Released = slices.Contains(list.Changed[id], sum)
		}
		views = append(views, v)
	}
	return views
}

const (
	maskedLines = 5   // of a file are shown
	maskedChars = 120 // of a line
	shownBefore = 40  // bytes of it before the secret
	maskedMark  = "[REDACTED]"
)

// masked returns the lines of a file in which the redactor finds something, each with its
// number and the names of the rules, and without what was found.
func masked(r *Rooms, data []byte) []string {
	text, lines := string(data), []string{}
	found := r.Redactor.Find(text)
	for len(found) > 0 {
		from := strings.LastIndexByte(text[:found[0].Start], '\n') + 1
		var line strings.Builder
		var rules []string
		at := from
		for len(found) > 0 && !strings.Contains(text[at:found[0].Start], "\n") {
			line.WriteString(text[at:found[0].Start] + maskedMark)
			if !slices.Contains(rules, found[0].Rule) {
				rules = append(rules, found[0].Rule)
			}
			at, found = found[0].End, found[1:]
		}
		rest, _, _ := strings.Cut(text[at:], "\n")
		if len(lines) == maskedLines {
			return append(lines, "more lines hold what looks like a secret")
		}
		shown := r.Redactor.Redact(line.String() + rest).String() // masking may bring another to light
		if i := strings.Index(shown, maskedMark); i > shownBefore {
			shown = "…" + strings.ToValidUTF8(shown[i-shownBefore:], "")
		}
		lines = append(lines, fmt.Sprintf("line %d (%s): %s", strings.Count(text[:from], "\n")+1, strings.Join(rules, ", "),
			note.Line(shown, maskedChars)))
	}
	return lines
}

// A Release is what would go where, or what became of it.
type Release struct {
	Name   string         `json:"name"`
	Title  string         `json:"title"`
	Remote string         `json:"remote"` // without a password; "" when none is set
	Files  []ReleasedFile `json:"files"`  // none when nothing is held back

	Applied bool `json:"applied"`
	Undone  bool `json:"undone"`
}

// A ReleasedFile is a file that would travel, and what was found in it.
type ReleasedFile struct {
	Path  string   `json:"path"`
	Why   string   `json:"why"`
	Found []string `json:"found"`
}

// A ReleaseStep is what ReleaseWithheld does.
type ReleaseStep int

// The steps.
const (
	ReleasePlan  ReleaseStep = iota // tell what would go where, and change nothing
	ReleaseApply                    // let it go, as it is now, with the next sync
	ReleaseUndo                     // keep it back again, when no sync has taken it
)

// ReleaseWithheld lets the files of a note travel as they are now, although they hold what
// looks like a secret or lost their text. They go with the next sync with the remote, and
// with no commit before it: until then it can be undone.
func ReleaseWithheld(ctx context.Context, r *Rooms, name string, step ReleaseStep) (a Release, err error) {
	ref, err := findFile(ctx, r, name)
	if err != nil {
		return a, err
	}
	if ref.Scope == note.Local {
		return a, Usagef("release %s: the note is machine-local and does not travel", stemOf(ref.Path))
	}
	if r.Rules != nil {
		return a, Errorf(Failed, "release %s: your redaction rules cannot be read (%w); mend redact.toml first", stemOf(ref.Path), r.Rules)
	}
	unlock, err := r.Store.Lock(ctx)
	if err != nil {
		return a, err
	}
	defer unlock()
	a = Release{Name: stemOf(ref.Path), Remote: replica.HidePassword(r.Config.Sync.Remote), Files: []ReleasedFile{}}
	list := readAllowed(r)
	for _, file := range []string{ref.Path, layout.SidecarOf(ref.Path)} {
		data, err := r.Store.ReadFile(file, store.MaxNoteSize)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return a, fmt.Errorf("release %s: %w", a.Name, err)
		}
		if file == ref.Path {
			a.Title = note.Line(titleOf(data), note.MaxTitle)
		}
		if step == ReleaseUndo {
			err = keepBack(ctx, r, &a, list, file, data)
		} else {
			letGo(r, &a, list, file, data)
		}
		if err != nil {
			return a, err
		}
	}
	if len(a.Files) == 0 && step != ReleaseUndo {
		return a, mayNotGo(r.Store, a.Name, ref.Path)
	}
	if step == ReleasePlan || len(a.Files) == 0 {
		return a, nil
	}
	a.Applied, a.Undone = step == ReleaseApply, step == ReleaseUndo
	return a, writeAllowed(r, list)
}

// mayNotGo says of a note that no release lets go why it does not travel, nil when it does.
func mayNotGo(s *store.Store, name, file string) error {
	data, err := s.ReadFile(file, store.MaxNoteSize)
	if why := claimed(s, strings.TrimPrefix(file, layout.Memory+"/"), data); err == nil && why != "" {
		return Errorf(Conflict, "release %s: %s", name, why)
	}
	return nil
}

// findFile finds the file that a name means, also one that is no note any more.
func findFile(ctx context.Context, r *Rooms, name string) (store.Ref, error) {
	id, err := note.ParseID(strings.TrimSpace(name))
	if err != nil {
		return store.Ref{}, Usagef("%w", err)
	}
	ref, err := r.Store.Find(id)
	if errors.Is(err, fs.ErrNotExist) {
		row, err := Resolve(ctx, r, name)
		return row.Ref, err
	}
	return ref, err
}

// letGo adds what keeps a file back to a release and to the list.
func letGo(r *Rooms, a *Release, list allowed, file string, data []byte) {
	id, sum := IDOf(file), store.Digest(data)
	if rules := secrets(r, file, data); len(rules) > 0 && !slices.Contains(list.Notes[id], sum) {
		list.Notes[id] = append(list.Notes[id], sum)
		a.Files = append(a.Files, ReleasedFile{file, secretWhy + ": " + strings.Join(rules, ", "), masked(r, data)})
	}
	for _, h := range LastSync(r).Held {
		if layout.Memory+"/"+h.Path == file && strings.HasPrefix(h.Why, replica.LossWhy) && !slices.Contains(list.Changed[id], sum) {
			list.Changed[id] = append(list.Changed[id], sum)
			a.Files = append(a.Files, ReleasedFile{file, h.Why, []string{}})
		}
	}
}

// keepBack takes a file that was released, and that no sync has taken, off the list.
func keepBack(ctx context.Context, r *Rooms, a *Release, list allowed, file string, data []byte) error {
	id, sum, was := IDOf(file), store.Digest(data), len(a.Files)
	for _, forms := range []map[note.ID][]string{list.Notes, list.Changed} {
		if i := slices.Index(forms[id], sum); i >= 0 {
			forms[id] = slices.Delete(forms[id], i, i+1)
			a.Files = append(a.Files[:was], ReleasedFile{file, "it was released", []string{}})
		}
	}
	if len(a.Files) == was {
		return nil
	}
	h, err := Historian(r)
	if err != nil || h == nil {
		return err
	}
	if sent, err := h.Show(ctx, "HEAD", strings.TrimPrefix(file, layout.Memory+"/")); err == nil && string(sent) == string(data) {
		return Errorf(Conflict, "release %s: a sync has taken it since, so that it cannot be undone; change the secret where it is used", a.Name)
	}
	return nil
}
