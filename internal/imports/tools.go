package imports

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/capture"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/session"
	"anamnesis/internal/store/project"
)

// Sessions that other tools keep in the folder of a project are kept word for word, and no more: whoever
// may commit to the repository may have written them, so no note is made of them and nothing is learnt.
// They are looked for in one folder, when their tool is named.

// inProject plans what becomes of the sessions that a tool keeps in a project.
func (im *Importer) inProject(ctx context.Context, o TranscriptOptions, snap *snapshot, p *Plan) (all []past, err error) {
	if o.Folder == "" {
		return nil, nil
	}
	folder := o.Folder
	if top := project.Top(folder); top != "" {
		folder = top
	}
	r := projectReader{im: im, folder: folder, key: project.Identify(im.store, folder).Key, snap: snap, options: o}
	if o.Project != "" && r.key != project.Canonical(im.store, o.Project) {
		return nil, nil
	}
	for _, h := range agent.InProjects {
		if o.Agent != h.Name {
			continue
		}
		tree, err := openTree(folder)
		if err != nil || tree == nil {
			return nil, err
		}
		defer tree.close()
		for _, pattern := range h.Sessions.SessionFiles() {
			for _, f := range tree.match(ctx, pattern) {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				p.files++
				all = append(all, r.file(tree, h, f, nil)...)
			}
		}
	}
	if o.Agent == agent.Entire.Name {
		return r.checkpoints(ctx, p)
	}
	return all, nil
}

// A projectReader plans what becomes of the sessions in the folder of one project.
type projectReader struct {
	im      *Importer
	folder  string
	key     string
	snap    *snapshot
	options TranscriptOptions
}

// file plans what becomes of the sessions in one file.
func (r *projectReader) file(t *tree, h *agent.Harness, f found, commits []session.CommitAt) (all []past) {
	s := past{item: Item{Source: r.options.Agent + ":" + f.name, Type: note.Episodic, Project: r.key}}
	refuse := func(err error) []past {
		s.item.Action, s.item.Why = Refused, err.Error()
		return []past{s}
	}
	if f.err != nil {
		return refuse(f.err)
	}
	s.ended, s.item.Bytes = f.info.ModTime(), f.info.Size()
	ids, err := t.sessionsIn(h.Sessions, f.name)
	if err != nil {
		return refuse(err)
	}
	s.item.Bytes /= int64(max(len(ids), 1))
	for _, id := range ids {
		g, err := t.peek(h.Sessions, f.name, id)
		if err != nil {
			return refuse(err)
		}
		one := s
		if id != "" {
			one.item.Source += "#" + id
		}
		if !g.Ended.IsZero() {
			one.ended = g.Ended
		}
		if one.ended.Before(r.options.Since) || !r.options.Until.IsZero() && one.ended.After(r.options.Until) {
			continue
		}
		name := id
		if name == "" {
			name = sessionID(t, g, f)
		}
		if g.ID != "" { // the client's own, by which the same session is known that was kept of its transcript
			name = g.ID
		}
		r.judge(&one, h, g, name)
		if one.item.Action == Keeps {
			one.item.session = &capture.Request{
				Harness: h, Transcript: filepath.Join(t.dir, filepath.FromSlash(f.name)), Session: name,
				Source: capture.PastSource, Project: r.key, Whole: true, Dir: r.folder, Commits: commits, History: true,
			}
		}
		all = append(all, one)
	}
	return all
}

// judge decides about a session.
func (r *projectReader) judge(s *past, h *agent.Harness, g *agent.PeekResult, id string) {
	it := &s.item
	it.ID = note.EpisodicID(g.Started, h.Name, id)
	title, _, keep := r.im.recorder.Judge(g)
	it.Title = line(title, 80)
	client := func(other *agent.Harness) bool { // that was kept from its transcript
		return other != h && !r.im.recorder.Unkept(other.Name, id, s.ended)
	}
	switch {
	case r.snap.forgotten(it.ID, nil):
		it.Action, it.Why = Skipped, "it was forgotten here"
	case !keep:
		it.Action, it.Why = Skipped, "nothing was asked or done in it"
	case !r.im.recorder.Unkept(h.Name, id, s.ended):
		it.Action, it.Why = Unchanged, "it is kept already, or is older than sessions are kept"
	case slices.ContainsFunc(agent.All, client):
		it.Action, it.Why = Unchanged, "it is kept already, from its client's own transcript"
	case r.snap.taken[it.ID] != "":
		it.Action, it.Why = Skipped, "it is the session of "+r.snap.taken[it.ID]
	default:
		it.Action = Keeps
		r.snap.taken[it.ID] = it.Source
	}
}

// The bounds of what is taken out of a repository.
const (
	maxTranscript  = 64 << 20 // bytes of one transcript
	maxTranscripts = 1 << 30  // of all
	metadataAtOnce = 1000
	maxMetadata    = 256 << 10 // of one file
)

// A kept session is the longest transcript of a session in a repository, with its commits.
type inRepository struct {
	agent.Checkpoint
	file    replica.BranchFile
	commits []session.CommitAt
}

// checkpoints plans what becomes of the sessions on the branch of a repository: their transcripts are
// taken out into a folder of the plan. A session stands in every checkpoint that it had a part in; the
// longest transcript holds the others.
func (r *projectReader) checkpoints(ctx context.Context, p *Plan) ([]past, error) {
	if r.im.opts.Checkpoints == nil {
		return nil, nil
	}
	repo := r.im.opts.Checkpoints(r.folder)
	if repo == nil {
		return nil, nil
	}
	found, err := r.sessionsOf(ctx, repo)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if p.temp, err = os.MkdirTemp("", "anamnesis-sessions-"); err != nil {
		return nil, fmt.Errorf("take sessions out of %s: %w", r.folder, err)
	}
	tree, err := openTree(p.temp)
	if err != nil {
		return nil, err
	}
	defer tree.close()
	var all []past
	left := int64(maxTranscripts)
	for i := range found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := &found[i]
		if left -= s.file.Size; s.file.Size > maxTranscript || left < 0 {
			p.problem(fmt.Errorf("%s: its transcript is too large, or those of all sessions are", s.file.Name))
			continue
		}
		data, ok := repo.Read(ctx, []string{s.file.ID}, maxTranscript+4096)[s.file.ID]
		if !ok {
			p.problem(fmt.Errorf("%s: git does not give it; `git fsck` says why", s.file.Name))
			continue
		}
		p.files++
		name := s.Session + ".jsonl"
		if err := os.WriteFile(filepath.Join(p.temp, name), data, 0o600); err != nil {
			return nil, fmt.Errorf("take sessions out of %s: %w", r.folder, err)
		}
		all = append(all, r.file(tree, s.Harness, tree.look(name), s.commits)...)
	}
	return all, nil
}

// sessionsOf lists the sessions of a repository by their ids.
func (r *projectReader) sessionsOf(ctx context.Context, repo *replica.Branch) ([]inRepository, error) {
	files, ok := repo.Files(ctx)
	if !ok {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("git does not list the branch %s of %s", agent.Entire.Branch, r.folder))
	}
	byName := make(map[string]replica.BranchFile, len(files))
	var metadata []replica.BranchFile
	for _, f := range files {
		byName[f.Name] = f
		if agent.Entire.TranscriptOf(f.Name) != "" && f.Size <= maxMetadata {
			metadata = append(metadata, f)
		}
	}
	commits := make(map[string][]session.CommitAt)
	for _, c := range repo.Trailers(ctx, agent.Entire.Trailer) {
		commits[c.Value] = append(commits[c.Value], session.CommitAt{ID: c.Commit, At: c.At})
	}
	sessions := make(map[string]*inRepository)
	for chunk := range slices.Chunk(metadata, metadataAtOnce) {
		var ids []string
		for _, f := range chunk {
			ids = append(ids, f.ID)
		}
		data := repo.Read(ctx, ids, metadataAtOnce*maxMetadata)
		for _, f := range chunk {
			c, ok := agent.Entire.Read(data[f.ID])
			file, there := byName[agent.Entire.TranscriptOf(f.Name)]
			if !ok || !there || c.Harness == nil {
				continue
			}
			s := sessions[c.Session]
			if s == nil {
				s = &inRepository{Checkpoint: c}
				sessions[c.Session] = s
			}
			if file.Size > s.file.Size {
				s.file, s.At = file, latest(s.At, c.At)
			}
			s.commits = append(s.commits, commits[c.ID]...)
		}
	}
	var all []inRepository
	for _, s := range sessions {
		if !s.At.Before(r.options.Since) && s.file.ID != "" {
			all = append(all, *s)
		}
	}
	slices.SortFunc(all, func(a, b inRepository) int { return strings.Compare(a.Session, b.Session) })
	return all, nil
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
