package reflection

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/note"
	"anamnesis/internal/store"
)

// The states of a patch.
const (
	PatchWaits    = "waits"
	PatchApplied  = "applied"
	PatchRejected = "rejected"
)

// A SkillPatch is a change of the file of a skill that a person is asked about. Its id is
// made of the file and of what it says before and after, so a decision about an id is one
// about these very bytes. It stands in a file of this machine, and so does what the file said
// before it was applied.
type SkillPatch struct {
	ID      note.ID     `json:"id"`
	Skill   note.ID     `json:"skill"` // the copy of the skill
	Name    string      `json:"name"`
	Path    string      `json:"path"` // of the file, absolute
	Project string      `json:"project"`
	Old     string      `json:"old"` // SHA-256 of the file that it changes
	Rules   []SkillRule `json:"rules"`
	Text    string      `json:"text"`             // what the file is to say
	Former  string      `json:"former,omitempty"` // what it said, once it was applied
	State   string      `json:"state"`
	At      string      `json:"at"` // when it was found, then when it was decided
}

// skillPatches is the folder of patches in the store, and maxPatch bounds one file there.
const (
	skillPatches = "skills"
	maxPatch     = 8 << 20
	maxSkillFile = 1 << 20
)

// SkillPatches lists the patches of this machine in the order of their ids, the decided ones
// too. A file that is none is passed over.
func SkillPatches(s *store.Store) (all []SkillPatch, err error) {
	entries, err := os.ReadDir(s.Path(skillPatches))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the patches of skills: %w", err)
	}
	for _, e := range entries {
		if data, err := s.ReadFile(skillPatches+"/"+e.Name(), maxPatch); err == nil {
			var p SkillPatch
			if json.Unmarshal(data, &p) == nil && string(p.ID)+".json" == e.Name() && p.ID == patchID(&p) {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// A WaitingPatch is an undecided patch of a skill that has not changed since.
type WaitingPatch struct {
	*SkillPatch
	Was string // the text of the skill
}

// WaitingPatches lists them. One whose file was changed since is left out: the next background run looks at it again.
func WaitingPatches(s *store.Store) (waiting []WaitingPatch, err error) {
	all, err := SkillPatches(s)
	for i := range all {
		if p := &all[i]; p.State == PatchWaits {
			if was, err := ReadSkillFor(p); err == nil {
				waiting = append(waiting, WaitingPatch{p, was})
			}
		}
	}
	return waiting, err
}

func patchID(p *SkillPatch) note.ID {
	return note.ID("patch-" + store.Digest([]byte(p.Path + "\x00" + p.Old + "\x00" + store.Digest([]byte(p.Text))))[:16])
}

func putPatch(s *store.Store, p *SkillPatch) error {
	p.At = string(note.At(s.Now()))
	data, err := json.MarshalIndent(p, "", "  ")
	if err == nil {
		err = s.Replace(skillPatches+"/"+string(p.ID)+".json", data)
	}
	return err
}

// ProposeSkillPatch looks whether rules that were learnt since say something else than the
// file of a skill, or more, and keeps the change for a person. It changes no file of a skill.
// One that was kept for the same file and rules is not kept again, whatever was decided about
// it, and a rule that was rejected for a skill is not proposed for it again. A patch for an
// earlier state of the file goes. found says that there is a new one.
func ProposeSkillPatch(s *store.Store, skill *note.Note, rules []*note.Note, former map[note.ID][]*note.Note) (found bool, err error) {
	all, err := SkillPatches(s)
	if err != nil {
		return false, err
	}
	all = slices.DeleteFunc(all, func(p SkillPatch) bool { return p.Path != skill.ImportedID })
	data, _, err := readSkill(skill.ImportedID)
	if err != nil {
		return false, err
	}
	rules = slices.DeleteFunc(slices.Clone(rules), func(n *note.Note) bool {
		return slices.ContainsFunc(all, func(p SkillPatch) bool {
			return p.State == PatchRejected && slices.ContainsFunc(p.Rules, func(r SkillRule) bool { return r.Note == n.ID })
		})
	})
	text, taken := RefreshSkill(string(data), skill.Project, rules, former)
	p := SkillPatch{
		Skill: skill.ID, Name: skill.Title, Path: skill.ImportedID, Project: skill.Project, Old: store.Digest(data), Rules: taken, Text: text,
		State: PatchWaits,
	}
	p.ID = patchID(&p)
	known := false
	for _, was := range all {
		switch {
		case was.ID == p.ID:
			known = true
		case was.State == PatchWaits && was.Text == string(data): // applied, and the machine stopped
			was.State = PatchApplied
			if err := putPatch(s, &was); err != nil {
				return false, err
			}
		case was.State == PatchWaits: // the file or the rules are others now
			if err := dropPatch(s, was.ID); err != nil {
				return false, err
			}
		}
	}
	if known || len(taken) == 0 {
		return false, nil
	}
	return true, putPatch(s, &p)
}

func dropPatch(s *store.Store, id note.ID) error {
	err := os.Remove(s.Path(skillPatches + "/" + string(id) + ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ErrSkillChanged says that the file of a skill is not what the patch was made for.
var ErrSkillChanged = errors.New("the file was changed since; the next background run looks at it again")

// DecideSkillPatch applies a patch that waits, or rejects it. The file is read again and must
// have the bytes that the patch was made for (ErrSkillChanged); it is written beside its place
// and renamed there, with its mode. What it said is kept in the patch first, so a run that is
// killed loses nothing. The error is fs.ErrNotExist when none of that id waits.
func DecideSkillPatch(s *store.Store, id note.ID, apply bool) (p SkillPatch, err error) {
	if p, err = findPatch(s, id, PatchWaits); err != nil {
		return p, err
	}
	if !apply {
		p.State = PatchRejected
		return p, putPatch(s, &p)
	}
	data, target, err := readSkill(p.Path)
	if err == nil && store.Digest(data) != p.Old && string(data) != p.Text {
		err = ErrSkillChanged
	}
	if err == nil && string(data) != p.Text {
		p.Former = string(data)
		if err = putPatch(s, &p); err == nil {
			err = writeSkill(target, data, []byte(p.Text))
		}
	}
	if err != nil {
		return p, fmt.Errorf("change the skill %s: %w", p.Path, err)
	}
	p.State = PatchApplied
	return p, putPatch(s, &p)
}

// UndoSkillPatch gives the file of a skill back what it said before a patch was applied, if
// nobody changed it since. The rules of the patch are not proposed for it again.
func UndoSkillPatch(s *store.Store, id note.ID) (p SkillPatch, err error) {
	if p, err = findPatch(s, id, PatchApplied); err != nil {
		return p, err
	}
	data, target, err := readSkill(p.Path)
	if err == nil && string(data) != p.Text && string(data) != p.Former {
		err = errors.New("somebody changed the file since; change it by hand")
	}
	if err == nil && string(data) != p.Former {
		err = writeSkill(target, data, []byte(p.Former))
	}
	if err != nil {
		return p, fmt.Errorf("give the skill %s back what it said: %w", p.Path, err)
	}
	p.State = PatchRejected
	return p, putPatch(s, &p)
}

func findPatch(s *store.Store, id note.ID, state string) (SkillPatch, error) {
	all, err := SkillPatches(s)
	for _, p := range all {
		if p.ID == id && p.State == state {
			return p, nil
		}
	}
	if err == nil {
		how := map[string]string{PatchWaits: "waits", PatchApplied: "was applied"}[state]
		err = fmt.Errorf("there is no patch %s that %s: %w", id, how, fs.ErrNotExist)
	}
	return SkillPatch{}, err
}

// ReadSkillFor returns what the file of a patch says, if that is what the patch was made for.
func ReadSkillFor(p *SkillPatch) (string, error) {
	data, _, err := readSkill(p.Path)
	if err == nil && store.Digest(data) != p.Old {
		err = ErrSkillChanged
	}
	return string(data), err
}

// readSkill reads the file of a skill whole; target is where it really stands, behind links.
func readSkill(name string) (data []byte, target string, err error) {
	if target, err = filepath.EvalSymlinks(name); err != nil {
		return nil, "", err
	}
	fi, err := os.Lstat(target)
	if err == nil && (!fi.Mode().IsRegular() || fi.Size() > maxSkillFile) {
		err = errors.New("it is no regular file of at most 1 MB")
	}
	if err == nil {
		data, err = os.ReadFile(target)
	}
	if err == nil && (!utf8.Valid(data) || strings.ContainsRune(string(data), 0)) {
		err = errors.New("it is no text")
	}
	return data, target, err
}

// writeSkill writes a file beside its place, and renames it there when the file still has the
// bytes was. Nobody can tell a writer between the look and the renaming; it is microseconds.
func writeSkill(target string, was, now []byte) error {
	fi, err := os.Lstat(target)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".anamnesis-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone, once it is renamed
	_, err = f.Write(now)
	err = errors.Join(err, f.Chmod(fi.Mode().Perm()), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if data, rerr := os.ReadFile(target); rerr != nil || string(data) != string(was) {
		return errors.Join(rerr, ErrSkillChanged)
	}
	return os.Rename(f.Name(), target)
}
