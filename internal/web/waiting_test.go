package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/app/curate"
	"anamnesis/internal/app/diagnose"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
)

// Whoever says how much waits says the same: the page Review and its badge, `review`, `status`, its line, `doctor` and the
// start of a session. What was decided waits nowhere.
func TestWaitingIsCountedOnce(t *testing.T) {
	s, _, _ := waitingSite(t)
	// A draft that was rejected is kept, so that it does not come back.
	draftAgainst(t, s, "01JZZZZZZZZZZZZZZZZZZZZZD2", s.add("Commit often", "Commit often."))
	r := synced(t, s)
	if _, err := curate.DecideReview(t.Context(), r, "01JZZZZZZZZZZZZZZZZZZZZZD2", app.Reject, app.Edit{}); err != nil {
		t.Fatal(err)
	}
	if n := len(r.Store.Spool().Held()); n != 2 {
		t.Fatalf("%d drafts are kept", n)
	}
	unsure := s.add("Too unsure for the team", "Ask before.")
	over := "---\nid: 01JZZZZZZZZZZZZZZZZZZZZZE1\ntype: semantic\ntitle: Over\nproject: global\nscope: portable\nmachine_id: testbox\n" +
		"prov_source: human\nprov_confidence: 1\nforget_after: '2026-01-02T00:00:00Z'\ncreated_at: '2026-01-01T00:00:00Z'\n" +
		"updated_at: '2026-01-01T00:00:00Z'\ntags: [reviewed]\n---\nIt was for last year.\n"
	if err := os.WriteFile(r.Store.Path("memory/semantic/01JZZZZZZZZZZZZZZZZZZZZZE1.md"), []byte(over), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, r, "cache/team/queue.json", map[string]any{"notes": []string{unsure}})
	skill := filepath.Join(t.TempDir(), "release", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(skill), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(skill, []byte("---\nname: release\n---\nTag it.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	patch := reflection.SkillPatch{
		Name: "release", Path: skill, Old: store.Digest([]byte("---\nname: release\n---\nTag it.\n")), Text: "---\nname: release\n---\nTest it, then tag it.\n",
		State: reflection.PatchWaits,
	}
	patch.ID = note.ID("patch-" + store.Digest([]byte(patch.Path + "\x00" + patch.Old + "\x00" + store.Digest([]byte(patch.Text))))[:16])
	put(t, r, "skills/"+string(patch.ID)+".json", patch)
	for _, session := range []string{"s1", "s2"} {
		err := r.Store.Events().Log(store.Record{
			Kind: store.Gap, Session: session, Project: "elsewhere", Query: "which port has the kraken", Text: "kraken port",
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r = synced(t, s)
	want := app.Waits{
		app.WaitingDraft: 1, app.WaitingQuarantine: 1, app.WaitingUnread: 2, app.WaitingShare: 1, app.WaitingSkill: 1, app.WaitingConflict: 2,
		app.WaitingWithheld: 1,
	}
	counted, err := app.CountWaiting(t.Context(), r)
	if diff := cmp.Diff(want, counted); err != nil || diff != "" {
		t.Fatalf("CountWaiting: %v\n%s", err, diff)
	}

	listed := app.Waits{app.WaitingSkill: 1}
	items, err := app.Inbox(t.Context(), r)
	for _, it := range items {
		listed[it.Kind]++
	}
	if diff := cmp.Diff(want, listed); err != nil || diff != "" {
		t.Errorf("Inbox: %v\n%s", err, diff)
	}

	reviewed := app.Waits{}
	review, err := curate.ReviewAll(t.Context(), r)
	for _, it := range review.Notes {
		reviewed[it.Kind]++
	}
	other := map[string]int{}
	for _, o := range review.Others {
		other[o.Command] = o.Count
	}
	reviewed[app.WaitingConflict], reviewed[app.WaitingWithheld] = other["anamnesis review conflicts"], other["anamnesis review held"]
	if diff := cmp.Diff(want, reviewed); err != nil || diff != "" {
		t.Errorf("review: %v\n%s", err, diff)
	}
	gaps, err := curate.Gaps(t.Context(), r, curate.GapOptions{Question: app.Question{Global: true}, MinSessions: app.GapSessions})
	if err != nil || len(gaps.Gaps) != 1 || other["anamnesis review gaps --global"] != 1 || other["anamnesis review expired"] != 1 {
		t.Errorf("review says %v, of %d open questions, %v", other, len(gaps.Gaps), err)
	}

	status, err := diagnose.Status(t.Context(), r)
	if diff := cmp.Diff(want, status.Waiting); err != nil || diff != "" || status.Held != 1 || status.Review != 6 || status.Sync.Conflicts != 2 ||
		len(status.Sync.Held) != 1 {
		t.Errorf("status: %d drafts, %d to review, %+v, %v\n%s", status.Held, status.Review, status.Sync, err, diff)
	}
	glance, err := diagnose.TakeGlance(t.Context(), s.host, "")
	if err != nil || glance.Held != 1 || glance.Conflicts != 2 {
		t.Errorf("status --line: %+v, %v", glance, err)
	}

	doctor, end, err := diagnose.Diagnose(t.Context(), s.host, []string{"held"}, "test")
	t.Cleanup(end)
	var lines []string
	for _, k := range want.List() {
		lines = append(lines, k.What)
	}
	if len(doctor.Checks) != 1 || !slices.Equal(doctor.Checks[0].Evidence, lines) {
		t.Errorf("doctor: %+v, %v; want %q", doctor.Checks, err, lines)
	}

	block, _, err := hooks.SessionStart(t.Context(), r, agent.Event{SessionID: "new", Dir: t.TempDir()}, hooks.StartOptions{})
	if err != nil || !strings.Contains(block.Text, "2 conflicts between machines wait") || !strings.Contains(block.Text, "1 note is not synced") {
		t.Errorf("a session starts with %q, %v", block.Text, err)
	}

	s.stop() // its badge may be seconds old
	s = serveHost(t, s.host, nil)
	s.enter()
	page := s.page("/review")
	if badge := regexp.MustCompile(`<span class="badge">(\d+)</span>`).FindStringSubmatch(page); badge == nil || badge[1] != fmt.Sprint(want.Sum()) {
		t.Errorf("the badge says %v, want %d", badge, want.Sum())
	}
	shown := app.Waits{}
	for _, one := range item.FindAllString(page, -1) {
		shown[app.Waiting(regexp.MustCompile(`action="/review/([a-z]+)/`).FindStringSubmatch(one)[1])]++
	}
	if strings.Contains(page, "1 change of skills") {
		shown[app.WaitingSkill]++
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("the page Review shows\n%s", diff)
	}
	overview := s.page("/")
	if !strings.Contains(overview, fmt.Sprintf("<b>%d</b><span>wait for you</span>", want.Sum())) ||
		!strings.Contains(overview, `Questions without an answer <span class="quiet">1</span>`) {
		t.Errorf("the overview says something else than %d, or than 1 question:\n%s", want.Sum(), overview)
	}
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if n := len((app.Waits{k: 3}).List()); n != 1 {
			t.Errorf("%d lines say that %s waits", n, k)
		}
	}
}

func put(t *testing.T, r *app.Rooms, name string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(r.Store.Path(name)), 0o700)
	}
	if err == nil {
		err = os.WriteFile(r.Store.Path(name), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
