package recall_test

import (
	"fmt"
	"testing"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// A store that is about one thing knows no word of most questions. That its
// notes are far from all of them makes none relevant: what is none of its
// business stays unanswered, however small it is, and its own questions are.
func TestNarrowStores(t *testing.T) {
	verbs := []string{"build", "stop", "inspect", "push", "prune", "tag", "restart", "copy", "attach", "export", "pause", "rename"}
	things := []string{"container", "image", "volume", "network", "registry", "compose file", "layer", "build cache", "health check", "entrypoint"}
	where := []string{"in CI", "on the staging host", "without root"}
	outOfDomainProbes := []string{
		"how do I debug my relationship with my mother", "what should we cook for eight guests on Sunday",
		"when does the last train to the coast leave", "which vaccine does a kitten need first",
		"who painted the ceiling of the chapel", "how long does a mortgage application take",
		"what is a good opening against the Sicilian", "why do my tomatoes have yellow leaves",
		"where did grandfather serve in the war", "how to fold a fitted sheet",
		"what did the coach say after the match", "is the museum open on Mondays",
		"how do I build trust with a new team", "which countries have a network of night trains",
		"how to tag along without being a burden", "can I copy the key of my bicycle lock",
		"what is the image of the town in the novel", "how do I stop biting my nails",
		"how much volume does this suitcase have", "where can I attach a child seat",
	}
	for _, size := range []int{60, 200} {
		var notes []note.Note
		var own []string
		for i := range size {
			verb, thing, place := verbs[i%len(verbs)], things[i/len(verbs)%len(things)], where[i/(len(verbs)*len(things))]
			title := fmt.Sprintf("How to %s a docker %s %s", verb, thing, place)
			notes = append(notes, note.Note{
				ID: note.ID(fmt.Sprintf("n%03d", i)), Title: title,
				Body: fmt.Sprintf("Run docker %s --force on the %s, then look at its logs. It was tried %s.", verb, thing, place),
			})
			if i%6 == 0 {
				own = append(own, fmt.Sprintf("%s docker %s %s", verb, thing, place))
			}
		}
		gated := product
		gated.CalibratedGate = true
		e, _ := openWith(t, gated, notes...)
		c, err := e.Calibrate(t.Context(), "")
		if err != nil || c.Notes != size {
			t.Fatalf("%+v, %v", c, err)
		}
		answered, kept := 0, 0
		for _, q := range outOfDomainProbes {
			if len(ask(t, e, recall.Query{Text: q, Gate: true}).Hits) > 0 {
				answered++
				t.Logf("%d notes, threshold %.1f: answers %q", size, c.Threshold, q)
			}
		}
		for _, q := range own {
			if len(ask(t, e, recall.Query{Text: q, Gate: true}).Hits) > 0 {
				kept++
			}
		}
		if answered > len(outOfDomainProbes)/10 || kept < len(own) {
			t.Errorf("%d notes, threshold %.1f: %d of %d strangers are answered, %d of %d own questions", size, c.Threshold, answered, len(outOfDomainProbes), kept, len(own))
		}
	}
}
