package app

import (
	"context"
	"fmt"

	"anamnesis/internal/agent"
	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/imports"
	"anamnesis/internal/replica"
)

// NewImporter wires the room of imports. home is the home folder of the default
// agent, "" for the configured one.
func NewImporter(r *Rooms, home string) *imports.Importer {
	c := r.Config
	homes := c.SessionHomes()
	if home != "" {
		homes[agent.Default().Name] = home
	}
	moved := make(map[string]string)
	for _, a := range connect.All() {
		if own := a.OwnMemory(c.UserHome, homes[a.Name]); own.Dir != "" {
			moved[a.Name] = own.Dir
		}
	}
	return imports.New(r.Store, r.Index, r.Ingester, r.Recorder, r.Redactor, imports.Options{
		MachineID:   c.MachineID,
		Homes:       imports.Homes{Agents: homes, Memories: moved, Learnings: c.Others.Learnings, Reflect: c.Others.Reflect},
		Checkpoints: checkpoints,
	})
}

// checkpoints opens the branch on which a tool keeps sessions in the repository that holds a folder.
func checkpoints(folder string) *replica.Branch {
	return replica.OpenBranch(folder, config.Environ(), agent.Entire.Branch)
}

// ImportNative imports the memory files of the agents, at the end of a session and at a sync with
// a remote. It stops neither: an error becomes a notice.
func ImportNative(ctx context.Context, r *Rooms) {
	if !r.Config.Others.Native || r.MayRedact() != nil || r.Store.ReadOnly() {
		return
	}
	im := NewImporter(r, "")
	plan, err := im.Native(ctx, imports.NativeOptions{})
	if err == nil {
		if plan.Idle() {
			return
		}
		var rep *imports.Report
		running, _ := BeginRun(ctx, r, "import")
		if rep, err = im.Apply(running, plan, nil); err == nil && rep.Totals[imports.Failed] > 0 {
			err = fmt.Errorf("%d memories of agents could not be taken in; `anamnesis import native` says why", rep.Totals[imports.Failed])
		}
	}
	if err != nil {
		r.Notify("%v", err)
	}
}
