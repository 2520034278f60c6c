package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/recall"
)

func checkModel(ctx context.Context, p *Target) Result {
	if p.Index == nil {
		return skip("there is no index")
	}
	model := p.Index.Model()
	if model == "" {
		return warn("install a release: this program was built without its table of word vectors",
			"no model: only notes that share words with a question are found")
	}
	_, missing, all, err := p.Index.Unembedded(ctx, model, 0)
	if err != nil {
		return bad(remake, err.Error())
	}
	dims, err := p.Index.Dimensions(ctx, model)
	if err != nil {
		return bad(remake, err.Error())
	}
	if len(dims) > 1 {
		lines := []string{"model " + model}
		for _, dim := range slices.Sorted(maps.Keys(dims)) {
			lines = append(lines, fmt.Sprintf("%s with a vector of %d dimensions", plural(dims[dim], "passage"), dim))
		}
		return warn("the model server changed its vectors under one name, and only some notes are found by their meaning: "+
			"`anamnesis doctor reindex`, "+
			"then `anamnesis doctor drain`", lines...)
	}
	if missing > 0 {
		return info("`anamnesis doctor drain` makes them; with a model server, look that it answers", "model "+model,
			fmt.Sprintf("%d of %d passages have no vector yet; they are found by their words only", missing, all))
	}
	return ok("model "+model, plural(all, "passage")+", all with a vector")
}

// wrongOften is the share of wrong decisions from which on the gate is doubtful.
const wrongOften = 0.1

func checkGate(ctx context.Context, p *Target) Result {
	if p.Engine == nil {
		return skip("there is nothing that answers questions")
	}
	return judgeGate(p.Engine.Calibration(ctx, ""))
}

func judgeGate(c recall.Calibration) Result {
	if c.Own == 0 {
		return ok(fmt.Sprintf("threshold %.1f, as shipped: it is measured when there are enough notes", c.Threshold))
	}
	lines := []string{
		fmt.Sprintf("threshold %.1f, measured on %s", c.Threshold, plural(c.Notes, "note")),
		fmt.Sprintf("%.1f %% of %s that no note answers were answered (false injection)", 100*c.FalseInjection, plural(c.Probes, "question")),
		fmt.Sprintf("%.1f %% of %s that a note answers were not (false silence)", 100*c.FalseSilence, plural(c.Own, "question")),
	}
	if c.FalseInjection > wrongOften || c.FalseSilence > wrongOften {
		return info("`anamnesis config calibrate` measures again; few notes, or notes that say much the same, make it hard to tell", lines...)
	}
	return info("nothing to do", lines...) // not ok: how often it is wrong is for people to judge
}

// memoryFiles lists the files of memories of an agent. One with a fixed name may be the user's own file with nothing of the
// agent in it.
func (h Harness) memoryFiles() (paths []string) {
	for _, pattern := range h.Memory.MemoryFiles() {
		for _, path := range h.files([]string{pattern}) {
			if !strings.Contains(pattern, "*") {
				data, err := readBounded(path, maxSettings)
				if _, rerr := h.Memory.ReadMemory(pattern, data); err != nil || rerr != nil {
					continue
				}
			}
			paths = append(paths, path)
		}
	}
	return paths
}

func checkNative(_ context.Context, p *Target) Result {
	var lines []string
	looked := false
	for _, h := range p.Harnesses {
		if h.Home == "" || h.Memory == nil {
			continue
		}
		looked = true
		if h.Own.Off != "" {
			lines = append(lines, fmt.Sprintf("%s: %s switches its own memory off", h.Name, h.Own.Off))
		} else if h.Own.Dir != "" {
			lines = append(lines, fmt.Sprintf("%s keeps its own memory in %s", h.Name, h.Own.Dir))
		}
		if paths := h.memoryFiles(); len(paths) > 0 {
			lines = append(lines, fmt.Sprintf("%s also keeps %s, such as %s", h.Name, plural(len(paths), "memory file"), paths[0]))
		}
	}
	switch {
	case !looked:
		return skip("where agents keep memory of their own is not known")
	case len(lines) == 0:
		return ok("none")
	}
	return info("nothing breaks, but the same may be shown twice; import them (`anamnesis import --help`) and let one of the two do the "+
		"remembering", lines...)
}

// From so many sessions on that were shown a note it is said that none of them used it.
const seldom = 5

// checkFollowUp names the notes that are shown and never used, and those that users
// contradict more often than agents use them.
func checkFollowUp(_ context.Context, p *Target) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	l, err := p.shared.log()
	if err != nil {
		return bad("check who owns the folder events in the store", err.Error())
	}
	var lines []string
	judged := 0
	for _, id := range slices.Sorted(maps.Keys(l.became)) {
		t := l.became[id]
		judged++
		_, err := p.Store.Find(id)
		switch {
		case err != nil: // it is gone by now
		case t.Opposed > max(0, t.Used):
			lines = append(lines, fmt.Sprintf("%s: contradicted in %s, used in %d", clean(string(id), maxLine),
				plural(t.Opposed, "session"), max(0, t.Used)))
		case t.Used <= 0 && t.Unused >= seldom:
			lines = append(lines, fmt.Sprintf("%s: shown to %s and used in none", clean(string(id), maxLine), plural(t.Unused, "session")))
		}
	}
	if len(lines) > 0 {
		return info("`anamnesis why ID` shows the sessions; `anamnesis edit ID` corrects a note", lines...)
	}
	return ok(plural(judged, "note") + " that were shown lately showed whether they help")
}

// A LocalModel is a model of this machine that a setting names.
type LocalModel struct {
	Name, Setting string
	Took          time.Duration // for a short text
	Err           error         // why it cannot be used
}

// promptTime is what a model may take for a prompt (package recall).
const promptTime = 400 * time.Millisecond

func checkLocalModels(ctx context.Context, p *Target) Result {
	if p.Models == nil {
		return skip("where models stand is not known")
	}
	var lines []string
	slow := false
	for _, m := range p.Models(ctx) {
		if m.Err != nil {
			return bad("until then the built-in model answers; `anamnesis config models` lists those of this machine, and checks them",
				fmt.Sprintf("%s names %s: %s", m.Setting, clean(m.Name, maxLine), clean(m.Err.Error(), 3*maxLine)))
		}
		ms := float64(m.Took.Microseconds()) / 1000
		lines = append(lines, fmt.Sprintf("%s, for %s: a short text takes %.1f ms", clean(m.Name, maxLine), m.Setting, ms))
		slow = slow || m.Took > promptTime
	}
	if len(lines) == 0 {
		return ok("no setting names one")
	}
	if slow {
		return warn("choose a smaller model, or none: prompts are answered without it", lines...)
	}
	return ok(lines...)
}
