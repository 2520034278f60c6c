package replica

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"anamnesis/internal/replica/seal"
)

// sealedName is the file of a remote that says what the others are. It is the only name
// there that is the same for everybody, so that a machine that seals nothing knows it.
const sealedName = "anamnesis.sealed"

// Sealed is the git backend with a remote that cannot read, as Options.Seal asks for. The
// repository of the notes is the same, and so is the cycle; what travels is a second repository of sealed files, which
// is fetched and pushed in its place. What comes is opened into the first one and becomes
// the branch of the remote there.
//
// Everything in the second repository comes from the remote and can be made again. What
// is written down about it is written last: a run that dies before opens once more.
type Sealed struct {
	*git
	hub      *git
	keys     keys
	as       *seal.Identity // the recovery key, while one comes back with it
	over     string         // the commit of plain notes whose place is taken
	at       sealedState
	messages []string
}

// sealedState is what is known of the remote, after its files were opened.
type sealedState struct {
	Remote   string        `json:"remote"`
	Tip      string        `json:"tip"` // the newest commit there
	Manifest seal.Manifest `json:"manifest"`
}

var _ Plumbing = (*Sealed)(nil)

// openTree opens the git backend, plain or sealed.
func openTree(o Options) (Backend, error) {
	b, err := openGit(o)
	if err != nil || o.Seal == "" {
		return b, err
	}
	g := b.(*git) //nolint:forcetypeassert // it makes no other
	o = g.o
	if path, ok := LocalPath(o.Remote); ok && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~") {
		o.Remote = filepath.Join(g.dir, path) // git runs in another folder there
	}
	b, err = openGit(Options{
		Dir: filepath.Join(g.dir, ".git", "anamnesis-sealed"), Remote: o.Remote, Env: o.Env, Git: o.Git, Timeout: o.Timeout, Now: o.Now,
	})
	if err != nil {
		return nil, err
	}
	hub := b.(*git) //nolint:forcetypeassert // it makes no other
	hub.opaque = true
	return &Sealed{git: g, hub: hub}, nil
}

// Sync implements Backend.
func (s *Sealed) Sync(ctx context.Context) (Outcome, error) {
	s.turns.sync.Lock()
	defer s.turns.sync.Unlock()
	return Exchange(ctx, s, s.o, &s.turns.mu)
}

// tell returns what there is to say to the user about a fetch, once.
func (s *Sealed) tell() []string {
	messages := s.messages
	s.messages = nil
	return messages
}

func (s *Sealed) stateFile() string { return filepath.Join(s.hub.dir, ".git", "anamnesis-state.json") }

// load reads the keys, and what is known of the remote; what cannot be read is not known.
func (s *Sealed) load() (err error) {
	if s.keys, err = readKeys(s.o.Seal); err != nil {
		return err
	}
	s.at = sealedState{}
	if data, err := os.ReadFile(s.stateFile()); err != nil || json.Unmarshal(data, &s.at) != nil || s.at.Remote != s.o.Remote {
		s.at = sealedState{Remote: s.o.Remote}
	}
	return nil
}

// save writes down what was taken or sent. What it says is there already.
func (s *Sealed) save(tip string, m seal.Manifest, id string) error {
	s.at.Tip, s.at.Manifest = tip, m
	s.keys.Group = m.Group
	s.keys.Seen[s.o.Remote] = seen{m.N, id}
	data, err := json.Marshal(s.at)
	if err != nil {
		return err
	}
	return firstOf(s.keys.write(s.o.Seal), replaceFile(s.stateFile(), data))
}

// Fetch implements Plumbing: what comes is opened.
func (s *Sealed) Fetch(ctx context.Context) (found bool, err error) {
	if err := s.git.prepare(ctx); err != nil {
		return false, err
	}
	if err := s.load(); err != nil {
		return false, err
	}
	for try := 1; ; try++ {
		found, err = s.fetchOnce(ctx)
		var link *LinkError
		if try == tries || !errors.As(err, &link) || link.Kind != LinkMoved {
			return found, err
		}
		s.messages = nil // another machine was faster, and what it sent counts
	}
}

func (s *Sealed) fetchOnce(ctx context.Context) (found bool, err error) {
	if found, err = s.get(ctx); err != nil {
		return false, err
	}
	if !found {
		s.at = sealedState{Remote: s.o.Remote}
		return false, s.locked(ctx, "", "update-ref", "-d", theirRef)
	}
	r, err := s.hub.Refs(ctx)
	if err != nil {
		return false, err
	}
	if r.Theirs == s.at.Tip {
		return s.at.Manifest.Head() != "", nil
	}
	return s.take(ctx, r.Theirs)
}

// get fetches the sealed files. A repository of them that cannot be used is made again.
func (s *Sealed) get(ctx context.Context) (found bool, err error) {
	fresh := !isDir(s.hub.dir)
	if at := filepath.Join(s.hub.dir, ".git"); !fresh && !(isDir(filepath.Join(at, "objects")) && readGit(filepath.Join(at, "HEAD")) != "") {
		if err := os.RemoveAll(s.hub.dir); err != nil {
			return false, err
		}
		s.at, fresh = sealedState{Remote: s.o.Remote}, true
	}
	_ = os.Remove(filepath.Join(s.hub.dir, ".git", "shallow.lock")) // whoever had it is dead: the caller is the only one
	found, err = s.hub.Fetch(ctx)
	var link *LinkError
	if err == nil || fresh || ctx.Err() != nil || errors.As(err, &link) && link.Kind != LinkDamaged {
		return found, err
	}
	if rerr := os.RemoveAll(s.hub.dir); rerr != nil {
		return false, errors.Join(err, rerr)
	}
	s.at = sealedState{Remote: s.o.Remote}
	return s.hub.Fetch(ctx)
}

// take opens what the remote has in its commit tip.
func (s *Sealed) take(ctx context.Context, tip string) (found bool, err error) {
	files, err := s.hub.List(ctx, tip)
	if err != nil {
		return false, err
	}
	e, ok := files[sealedName]
	if !ok {
		if s.over == tip {
			return false, nil
		}
		if name, other := strange(files); other {
			return false, fmt.Errorf("%w: the remote holds files that are not sealed, such as %q; what it has it keeps, so use a new empty "+
				"repository (`anamnesis config set remote ADDRESS`), or `anamnesis sync --seal --replace`", ErrSealed, name)
		}
		s.at = sealedState{Remote: s.o.Remote, Tip: tip}
		return false, s.locked(ctx, "", "update-ref", "-d", theirRef)
	}
	blobs, err := s.hub.Blobs(ctx, []string{e.ID})
	if err != nil {
		return false, err
	}
	last := s.keys.Seen[s.o.Remote]
	o, err := seal.Open(blobs[e.ID], s.by(), s.keys.Group, s.o.Now())
	var revoked *seal.RevokedError
	switch {
	case errors.As(err, &revoked) && len(s.keys.Group) > 0:
		return s.repel(ctx, tip, revoked.Machine)
	case err == nil && last.N > 0 && o.N-last.N > maxAhead:
		err = fmt.Errorf("%w: its number leaves none for others", seal.ErrForged)
	}
	if err != nil {
		return false, s.unread(err)
	}
	m := o.Manifest
	back := m.N < last.N || m.N == last.N && e.ID != last.ID
	if len(s.keys.Group) == 0 {
		s.say("this machine may read what the remote holds, sealed for %s: `anamnesis log machines` on the others shows the same name",
			m.Group.Name())
	}
	if err := s.openAll(ctx, m, files); err != nil {
		return false, err
	}
	if head := m.Head(); head == "" {
		err = s.locked(ctx, "", "update-ref", "-d", theirRef)
	} else if err = s.locked(ctx, "", "update-ref", theirRef, head); err == nil {
		err = s.bounded(ctx)
	}
	if err != nil {
		return false, err
	}
	if !back && !o.Stale {
		return m.Head() != "", s.save(tip, m, e.ID)
	}
	// What it holds is genuine and old. Sent again under a new number, it is no older state any more.
	if back {
		s.say("the remote was set back: it holds state %d, and this machine has seen %d; both were kept, and the newer list of machines counts",
			m.N, last.N)
	}
	if len(o.Out) > 0 {
		s.say("what it held was sealed for %s too, revoked since: it was sealed again without", names(o.Out))
	}
	s.at.Tip, s.at.Manifest = tip, m
	return m.Head() != "", s.send(ctx, m.Group, m.Head(), 0)
}

// maxAhead is how far a number may be ahead of the last one. One that was the greatest there is would be the last.
const maxAhead = 1 << 40

// repel puts what a machine of the group last sent, as far as it is known here, in the place of what one wrote that may
// not read any more. What others sent besides they send again.
func (s *Sealed) repel(ctx context.Context, tip, machine string) (found bool, err error) {
	s.say("%q was revoked and still writes to the remote: nothing of it was taken, and the remote has again what your machines sent; "+
		"remove its access to the remote, then `anamnesis log machines revoke %s`", machine, quoted(machine))
	s.keys.repelled(machine, s.o.Now())
	if err := s.keys.write(s.o.Seal); err != nil { // the state that is written next does not say it
		return false, err
	}
	return s.putBack(ctx, tip)
}

// putBack puts what is known of the remote on top of its commit tip.
func (s *Sealed) putBack(ctx context.Context, tip string) (found bool, err error) {
	r, err := s.Refs(ctx)
	if err != nil {
		return false, err
	}
	s.at = sealedState{Remote: s.o.Remote, Tip: tip}
	return r.Theirs != "", s.send(ctx, s.keys.Group, r.Theirs, 0)
}

// names lists machines for people.
func names(list []string) string {
	all := make([]string, len(list))
	for i, name := range list {
		all[i] = strconv.Quote(name)
	}
	return strings.Join(all, ", ")
}

// strange returns a file that is none of those that a hoster puts into a new repository.
func strange(files map[string]Entry) (name string, found bool) {
	for f := range files {
		if !hosted(f) && (!found || f < name) {
			name, found = f, true
		}
	}
	return name, found
}

func (s *Sealed) say(format string, args ...any) {
	s.messages = append(s.messages, fmt.Sprintf(format, args...))
}

// unread says what to do about a list that this machine cannot read.
func (s *Sealed) unread(err error) error {
	_, met := s.keys.Seen[s.o.Remote]
	switch {
	case errors.Is(err, seal.ErrNotIn) && !met:
		return fmt.Errorf("%w: %w yet; on one that may, run `anamnesis log machines add %s`", ErrSealed, err, quoted(s.request()))
	case errors.Is(err, seal.ErrNotIn):
		return fmt.Errorf("%w: %w any more: it was revoked on another one, or somebody else wrote there; what is here stays here. "+
			"If `anamnesis log machines` on another one still lists this one, %s", ErrSealed, err, replaceHint)
	case errors.Is(err, seal.ErrOthers):
		return fmt.Errorf("%w: %w; if this machine is to change over to those, remove %s and compare the name that the next sync tells; "+
			"if not, %s", ErrSealed, err, filepath.Join(s.o.Seal, groupFile), replaceHint)
	case errors.Is(err, seal.ErrNewer):
		return fmt.Errorf("%w: %w", ErrSealed, err)
	}
	return s.unsound(err.Error())
}

const replaceHint = "`anamnesis sync --seal --replace --apply` puts what this machine has in its place"

// unsound says that the remote answers, and what it holds is not what a machine sent.
func (s *Sealed) unsound(why string) error {
	return &LinkError{LinkDamaged, fmt.Errorf("fetch from %s: %w: %s; nothing here was changed; see who may write there, then %s",
		HidePassword(s.o.Remote), ErrDamaged, why, replaceHint)}
}

// quoted writes a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Push implements Plumbing: it seals what the remote lacks.
func (s *Sealed) Push(ctx context.Context, commit string) error {
	if len(s.keys.Group) == 0 {
		return fmt.Errorf("%w: nothing is sealed for this machine yet: `anamnesis sync --seal`", ErrSealed)
	}
	return s.send(ctx, s.keys.Group, commit, kept(s.at.Manifest.Segments), "refs/remotes/origin/main", theirRef)
}

// many is from how many files on those at the end become one.
const many = 24

// kept returns how many of the files stay. When there are many, the last ones become
// one with what is new, as long as they are together as large as the one before: so each
// byte is sent few times, and the files stay few.
func kept(list []seal.Segment) int {
	k := len(list)
	if k < many {
		return k
	}
	k--
	for sum := list[k].Size; k > 0 && list[k-1].Size <= sum; sum += list[k].Size {
		k--
	}
	return k
}

// send makes the commit the newest one of the remote, sealed for a group, and keeps
// some of the files that are there. With none kept everything is sealed again. The refs
// follow when it is there.
func (s *Sealed) send(ctx context.Context, group seal.Group, head string, keep int, refs ...string) error {
	members, err := group.Members()
	if err != nil {
		return err
	}
	files := make(map[string]Entry)
	if s.at.Tip != "" {
		if files, err = s.hub.List(ctx, s.at.Tip); err != nil {
			return err
		}
	}
	segments := slices.Clone(s.at.Manifest.Segments[:keep])
	next := make(map[string]Entry)
	for name, e := range files {
		if hosted(name) || slices.ContainsFunc(segments, func(g seal.Segment) bool { return g.Name == name }) {
			next[name] = e
		}
	}
	m := seal.Manifest{V: 1, N: max(s.at.Manifest.N, s.keys.Seen[s.o.Remote].N) + 1, At: s.o.Now().UTC(), Group: group, Segments: segments}
	if from := m.Head(); head != from {
		g, id, err := s.pack(ctx, from, head, members)
		if err != nil {
			return fmt.Errorf("seal what is sent: %w", err)
		}
		m.Segments = append(m.Segments, g)
		next[g.Name] = Entry{"100644", id}
	}
	data, err := m.Seal(s.by())
	if err != nil {
		return fmt.Errorf("seal what is sent: %w", err)
	}
	tip, id, err := s.record(ctx, data, next)
	if err != nil {
		return err
	}
	if err := s.hub.push(ctx, tip, s.over); err != nil {
		return err
	}
	var in strings.Builder
	for _, ref := range refs {
		fmt.Fprintf(&in, "update %s %s\n", ref, head)
	}
	if in.Len() > 0 {
		if err := s.locked(ctx, in.String(), "update-ref", "--no-deref", "--stdin"); err != nil {
			return err
		}
	}
	if m.N%many == 0 {
		s.tidy(ctx)
	}
	return s.save(tip, m, id)
}

// record writes the commit that the remote is to have. It says nothing of whose it is.
func (s *Sealed) record(ctx context.Context, manifest []byte, files map[string]Entry) (commit, id string, err error) {
	var b strings.Builder
	at := s.o.Now().Unix()
	const who = "anamnesis <anamnesis@unknown>"
	fmt.Fprintf(&b, "blob\nmark :2\ndata %d\n%s\n", len(manifest), manifest)
	fmt.Fprintf(&b, "commit refs/anamnesis/next\nmark :1\nauthor %s %d +0000\ncommitter %s %d +0000\ndata 7\nsealed\n\n", who, at, who, at)
	if s.at.Tip != "" {
		fmt.Fprintf(&b, "from %s\n", s.at.Tip)
	}
	fmt.Fprintf(&b, "deleteall\nM 100644 :2 %s\n", sealedName)
	for name, e := range files {
		fmt.Fprintf(&b, "M %s %s %s\n", e.Mode, e.ID, cquote(name))
	}
	b.WriteString("\nget-mark :1\nget-mark :2\ndone\n")
	out, err := s.hub.git(ctx, b.String(), "fast-import", "--quiet", "--force", "--done", "--date-format=raw")
	if err != nil {
		return "", "", err
	}
	ids := strings.Fields(out)
	if len(ids) != 2 {
		return "", "", fmt.Errorf("git fast-import: it prints %q", out)
	}
	return ids[0], ids[1], nil
}

// tidy throws away the sealed files that are not the remote's any more. Nobody needs it.
func (s *Sealed) tidy(ctx context.Context) {
	_, err := s.hub.git(ctx, "", "repack", "-a", "-d", "-q")
	if err == nil {
		_, _ = s.hub.git(ctx, "", "prune", "--expire=now")
	}
}

// by is the identity that opens and signs.
func (s *Sealed) by() *seal.Identity { return cmp.Or(s.as, s.keys.self) }

// request is the line with which this machine asks to be let in.
func (s *Sealed) request() string {
	return s.keys.self.Member(s.o.MachineID).Request()
}
