package app

import (
	"cmp"
	"context"
	"fmt"

	"anamnesis/internal/imports"
)

// Importer wires the room of imports. claude is the folder of Claude Code, ""
// for the configured one.
func (r *Rooms) Importer(claude string) *imports.Importer {
	c := r.Config
	homes := imports.Homes{Claude: cmp.Or(claude, c.ClaudeHome), Codex: c.Others.Codex, Learnings: c.Others.Learnings, Reflect: c.Others.Reflect}
	return imports.New(r.Store, r.Index, r.Ingester, r.Recorder, r.Redactor, imports.Options{
		MachineID: c.MachineID, Homes: homes, Database: c.Others.Database,
	})
}

// importNative lets a sync take in what agents remember by themselves. It never
// stops the sync: what went wrong is told.
func (r *Rooms) importNative(ctx context.Context) {
	if !r.Config.Others.Native || r.MayRedact() != nil || r.Store.ReadOnly() {
		return
	}
	im := r.Importer("")
	plan, err := im.Native(ctx, imports.NativeOptions{})
	if err == nil {
		if plan.Idle() {
			return
		}
		var rep *imports.Report
		if rep, err = im.Apply(ctx, plan, nil); err == nil && rep.Totals[imports.Failed] > 0 {
			err = fmt.Errorf("%d memories of agents could not be taken in; `anamnesis import native` says why", rep.Totals[imports.Failed])
		}
	}
	if err != nil {
		r.Notify("%v", err)
	}
}
