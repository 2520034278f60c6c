package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
)

// MaintainOptions say how a plan over the whole store is carried out.
type MaintainOptions struct {
	Apply  bool // do it
	NoSync bool // commit on this machine only
}

// An Ended is how a change of many notes ended.
type Ended struct {
	Undo string      `json:"undo,omitempty"`
	Sync *SyncResult `json:"sync,omitempty"`
}

// CarryOut does a change of many notes, and commits or syncs it. what names the run by which it
// is taken back; "" for a change that removes notes, which is taken back by its time.
func CarryOut(
	ctx context.Context, r *Rooms, noSync bool, what string, change func(context.Context) (int, error),
) (n int, end Ended, err error) {
	running, c := ctx, BeginChange(r)
	if what != "" {
		running, c = BeginRun(ctx, r, what)
	}
	if n, err = change(running); err != nil {
		return n, end, err
	}
	s, err := c.Finish(ctx, noSync)
	if err != nil {
		return n, end, err
	}
	end.Sync = &s
	if n > 0 {
		end.Undo = c.Undo()
	}
	return n, end, nil
}

// DedupAnswer is what removing duplicates did, or would do.
type DedupAnswer struct {
	Applied    bool        `json:"applied"`
	Duplicates []Duplicate `json:"duplicates"`
	Removed    int         `json:"removed"`
	Ended
}

// A Duplicate is a note that says the same as another, word for word.
type Duplicate struct {
	ID      note.ID `json:"id"`
	Project string  `json:"project"`
	Title   string  `json:"title"`
	Of      note.ID `json:"duplicate_of"`
}

// Dedup removes notes that say the same, of one project or with everywhere of all.
func Dedup(ctx context.Context, r *Rooms, o MaintainOptions, everywhere bool) (a DedupAnswer, err error) {
	plan, err := r.Ingester.PlanDedup(ctx, everywhere)
	if err != nil {
		return a, err
	}
	a.Applied = o.Apply
	for _, d := range plan {
		a.Duplicates = append(a.Duplicates, Duplicate{d.Drop.ID, d.Drop.Project, d.Drop.Title, d.Keep.ID})
	}
	if o.Apply {
		a.Removed, a.Ended, err = CarryOut(ctx, r, o.NoSync, "", func(ctx context.Context) (int, error) {
			return r.Ingester.Dedup(Deciding(ctx, r, "merge"), plan)
		})
	}
	return a, err
}

// RepairAnswer is what a plan that changes one line of notes did, or would do.
type RepairAnswer struct {
	Applied bool         `json:"applied"`
	Plan    []RepairLine `json:"plan"`
	Changed int          `json:"changed"`
	Ended
}

// A RepairLine is the change of one line of a note.
type RepairLine struct {
	ID   note.ID `json:"id"`
	Key  string  `json:"key"`
	From string  `json:"from"`
	To   string  `json:"to"`

	Repair ingest.Repair `json:"-"`
}

// repair shows a plan of repairs, and carries it out with apply.
func repair(ctx context.Context, r *Rooms, o MaintainOptions, plan []ingest.Repair) (a RepairAnswer, err error) {
	a.Applied = o.Apply
	for _, p := range plan {
		a.Plan = append(a.Plan, RepairLine{p.ID, p.Key, p.From, p.To, p})
	}
	if o.Apply {
		a.Changed, a.Ended, err = CarryOut(ctx, r, o.NoSync, "repair", func(ctx context.Context) (int, error) {
			return r.Ingester.Repair(ctx, plan)
		})
	}
	return a, err
}

// Migrate gives the notes of projects other keys.
func Migrate(ctx context.Context, r *Rooms, o MaintainOptions, m ingest.Moving) (RepairAnswer, error) {
	plan, err := r.Ingester.PlanMove(ctx, m)
	if err != nil {
		return RepairAnswer{}, err
	}
	return repair(ctx, r, o, plan)
}

// BackfillProvenance says who wrote notes that an old program marked as written
// by a person.
func BackfillProvenance(ctx context.Context, r *Rooms, o MaintainOptions) (RepairAnswer, error) {
	plan, err := r.Ingester.PlanProvenance(ctx)
	if err != nil {
		return RepairAnswer{}, err
	}
	return repair(ctx, r, o, plan)
}

// maxMap is how many bytes of a map of renamings are read.
const maxMap = 64 << 20

// ReadMoving reads renamings: the pair of args, or the file ("-" is stdin), a JSON
// object with the members projects and notes. The error is of kind Usage.
func ReadMoving(stdin io.Reader, file string, args []string) (ingest.Moving, error) {
	m := ingest.Moving{Projects: map[string]string{}, Notes: map[note.ID]string{}}
	switch {
	case file == "" && len(args) == 2:
		m.Projects[args[0]] = args[1]
		return m, checkMoving(m)
	case file == "" || len(args) > 0:
		return m, Usagef("migrate: give OLD and NEW, or --map FILE")
	}
	in := stdin
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return m, fmt.Errorf("read the map: %w", err)
		}
		defer f.Close()
		in = f
	}
	var doc struct {
		Projects map[string]string `json:"projects"`
		Notes    map[string]string `json:"notes"`
	}
	dec := json.NewDecoder(io.LimitReader(in, maxMap))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return m, Usagef("migrate: read the map %s: %w; it is {\"projects\": {\"OLD\": \"NEW\"}, \"notes\": {\"ID\": \"NEW\"}}", file, err)
	}
	for from, to := range doc.Projects {
		m.Projects[from] = to
	}
	for name, to := range doc.Notes {
		id, err := note.ParseID(name)
		if err != nil {
			return m, Usagef("migrate: the map %s: %w", file, err)
		}
		m.Notes[id] = to
	}
	return m, checkMoving(m)
}

func checkMoving(m ingest.Moving) error {
	for from, to := range m.Projects {
		if from == "" || to == "" {
			return Usagef("migrate: a project key is empty: %q to %q", from, to)
		}
	}
	for id, to := range m.Notes {
		if to == "" {
			return Usagef("migrate: the new project key of %s is empty", id)
		}
	}
	return nil
}
