package session_test

import (
	"maps"
	"testing"
	"time"

	"anamnesis/internal/session"
)

// Each kept session counts a program once. What failed, was refused or taken back, and what a history in a repository tells,
// counts for nothing.
func TestPrograms(t *testing.T) {
	k := newRoom(t, session.Options{})
	put := func(agent, id string, all ...session.Exchange) {
		t.Helper()
		for i := range all {
			all[i].N, all[i].Ask = i+1, "Build it"
		}
		h := session.Head{Session: id, Agent: agent, Project: "shop", Started: time.Unix(1, 0), Ended: time.Unix(2, 0)}
		if err := k.Put(t.Context(), h, all, nil); err != nil {
			t.Fatal(err)
		}
	}
	run := func(line string, v session.Verdict) session.Step { return session.Step{Run: line, Outcome: v} }
	put("claude", "a", session.Exchange{Steps: []session.Step{
		run("cd x && npx tsc --noEmit", session.Passed), run("make build", session.Unclear), run("zzbad --all", session.Failed),
		{Run: "zzno", Refused: true},
	}})
	put("claude", "b", session.Exchange{Steps: []session.Step{run("make test; make lint", session.Passed)}},
		session.Exchange{TakenBack: true, Steps: []session.Step{run("zzgone", session.Passed)}})
	put("specstory", "c", session.Exchange{Steps: []session.Step{run("zzhistory", session.Passed)}})
	k.sync()
	got := k.Programs()
	if want := map[string]int{"cd": 1, "npx": 1, "tsc": 1, "make": 2}; got.Sessions != 2 || !maps.Equal(got.Ran, want) {
		t.Errorf("%+v, want %v", got, want)
	}
}
