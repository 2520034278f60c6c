package cli

import (
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/note"
	"anamnesis/internal/recall"
)

// explainHit shows how the score of a hit came about.
func (p *program) explainHit(h *recall.Hit) {
	for _, r := range h.Reasons {
		p.printf("   %+8.3f  %s\n", r.Delta, printable(r.What))
	}
	for _, name := range recall.Sources() {
		if f, ok := h.Found[name]; ok {
			p.printf("   %s: rank %d, score %.3f, norm %.3f, %s\n", name, f.Rank, f.Score, f.Norm, printable(f.Why))
		}
	}
	p.printf("   coverage %.0f %% of the question by weight, %d tokens\n", 100*h.Coverage, h.Tokens)
}

// explain shows how an answer came about.
func (p *program) explain(res *recall.Result) {
	var terms []string
	for _, t := range res.Terms {
		terms = append(terms, fmt.Sprintf("%s (in %d)", t.Token, t.Frequency))
	}
	p.printf("\nlooked for: %s\n", strings.Join(terms, ", "))
	for _, a := range res.Arms {
		p.printf("arm %s: %s%s\n", a.Name, plural(a.Candidates, "candidate"), because(a.Error))
	}
	if w := res.Window; w != nil {
		p.printf("time: %q, from %s to %s (confidence %.2f)\n", w.Phrase, stamp(w.From), stamp(w.To), w.Confidence)
	} else if res.Recent {
		p.printf("time: what is so now\n")
	}
	if g := res.Gate; g != nil {
		p.printf("gate: %s, %s: %s\n", map[bool]string{true: "open", false: "closed"}[g.Open], g.Kind, g.Reason)
	}
	if res.Reranker != "" {
		p.printf("order: %s reranker\n", res.Reranker)
	}
	if res.Cached != "" {
		p.printf("cache: %s\n", res.Cached)
	}
	p.printf("%s searched in %s\n", plural(res.Searched, "note"), took(res.Took))
}

func stamp(t time.Time) string { return t.Format("2006-01-02T15:04:05.999999") }

type hitJSON struct {
	noteJSON
	Score       float64                 `json:"score"`
	Base        float64                 `json:"base"`
	Coverage    float64                 `json:"coverage"`
	Arms        map[string]recall.Found `json:"arms"`
	Sure        float64                 `json:"confidence_num"` // the same as confidence, by its other name
	KeyInsight  string                  `json:"key_insight"`
	HowToApply  string                  `json:"how_to_apply"`
	Fields      map[string]*string      `json:"fields,omitempty"` // null: the note has no such field
	Live        bool                    `json:"live"`
	By          note.ID                 `json:"superseded_by,omitempty"`
	EffectiveAt string                  `json:"effective_at"`
	Tokens      int                     `json:"tokens"`
	Path        string                  `json:"path"`
	Body        string                  `json:"body"`
	Reasons     []recall.Reason         `json:"reasons,omitempty"`
}

func (m *memory) hitJSON(h *recall.Hit, o searchOptions) hitJSON {
	j := hitJSON{
		noteJSON: describe(h.Note), Score: h.Score(), Base: h.Base(), Coverage: h.Coverage, Arms: h.Found, Live: !h.Row.Dead, By: h.Row.SupersededBy,
		Sure: h.Note.Provenance.Confidence, KeyInsight: h.Note.KeyInsight, HowToApply: h.Note.HowToApply,
		Tokens: h.Tokens, Path: m.Store.Path(h.Row.Ref.Path), Body: h.Note.Body,
	}
	if t := h.Row.Effective(); !t.IsZero() {
		j.EffectiveAt = string(note.At(t))
	}
	if len(o.fields) > 0 { // one line was wanted, not the note
		j.Fields, j.Body = make(map[string]*string), ""
		for _, name := range o.fields {
			j.Fields[name] = nil
			if v, ok := h.Fields[name]; ok {
				j.Fields[name] = &v
			}
		}
	}
	if o.explain {
		j.Reasons = h.Reasons
	}
	return j
}

// windowJSON is the time a question speaks of.
type windowJSON struct {
	Start      string  `json:"start"`
	End        string  `json:"end"`
	Confidence float64 `json:"confidence"`
	Matched    string  `json:"matched_text"`
}

func searchJSON(m *memory, res *recall.Result, scope recall.Scope, o searchOptions) any {
	hits := make([]hitJSON, 0, len(res.Hits))
	for _, h := range res.Hits {
		hits = append(hits, m.hitJSON(h, o))
	}
	var window *windowJSON
	if w := res.Window; w != nil {
		window = &windowJSON{stamp(w.From), stamp(w.To), w.Confidence, w.Phrase}
	}
	return struct {
		header
		Query    string             `json:"query"`
		Mode     string             `json:"mode"`
		Count    int                `json:"count"`
		Fields   []string           `json:"field"` // null: the passage
		Held     bool               `json:"ood_gated"`
		Scope    recall.Scope       `json:"scope"`
		Hits     []hitJSON          `json:"results"`
		Searched int                `json:"searched"`
		Stale    int                `json:"stale"`
		Tokens   int                `json:"tokens"`
		TookMS   float64            `json:"took_ms"`
		Missing  []string           `json:"missing"`
		Failed   []string           `json:"failed"`
		Gate     *recall.Gate       `json:"gate"`
		Temporal *windowJSON        `json:"temporal"`
		Recent   bool               `json:"recent"`
		Cache    string             `json:"cache"`
		Arms     []recall.ArmReport `json:"arms"`
		Reranker string             `json:"reranker"`
		Without  int                `json:"without_vector"` // passages that only their words can find yet
	}{
		head("search"), res.Query.Text, o.mode, len(hits), o.fields, res.Gate != nil && !res.Gate.Open, scope, hits, res.Searched, m.Stale, res.Tokens, float64(res.Took.Microseconds()) / 1000,
		append([]string{}, res.Missing...), append([]string{}, res.Failed...), res.Gate, window, res.Recent, res.Cached,
		append([]recall.ArmReport{}, res.Arms...), res.Reranker, res.WithoutVector,
	}
}

// noteJSON is a note without its body, in the shape that every command prints.
type noteJSON struct {
	ID          note.ID   `json:"id"`
	Type        note.Type `json:"type"`
	Title       string    `json:"title"`
	Project     string    `json:"project"`
	MachineID   string    `json:"machine_id"`
	Scope       string    `json:"scope"`
	UserID      string    `json:"user_id"`
	WorkspaceID string    `json:"workspace_id"`
	Source      string    `json:"prov_source"`
	Confidence  float64   `json:"confidence"`
	Model       string    `json:"prov_model,omitempty"`
	Session     string    `json:"prov_session,omitempty"`
	Supersedes  []note.ID `json:"supersedes,omitempty"`
	Tags        []string  `json:"tags"`
	CreatedAt   string    `json:"created_at"`
	UpdatedAt   string    `json:"updated_at"`
	Branch      string    `json:"branch"`
	Status      string    `json:"status"`
}

func describe(n *note.Note) noteJSON {
	return noteJSON{
		n.ID, n.Type, n.Title, n.Project, n.MachineID, string(n.Scope), n.UserID, n.WorkspaceID, n.Provenance.Source,
		n.Provenance.Confidence, n.Provenance.Model, n.Provenance.Session, n.Supersedes, append([]string{}, n.Tags...),
		string(n.CreatedAt), string(n.UpdatedAt), n.Branch, n.Status,
	}
}
