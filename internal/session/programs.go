package session

import (
	"encoding/json"
	"slices"

	"anamnesis/internal/agent"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/text/shell"
)

// Programs counts the kept sessions in which a program ran. It is derived from the catalogue.
type Programs struct {
	Sessions int            `json:"sessions"` // in which some program ran
	Ran      map[string]int `json:"ran"`
}

const (
	programsName = layout.SessionIndex + "/programs.json"

	maxPrograms     = 100     // of one session
	maxProgramsFile = 1 << 20 // bytes
)

// programsOf lists the programs that ran in a session, and did not fail. The history of a tool in a repository tells of
// none: whoever may commit wrote it.
func programsOf(h *Head, all []Exchange) (programs []string) {
	if slices.Contains(agent.ProjectTools(), h.Agent) {
		return nil
	}
	for i := range all {
		for j := range all[i].Steps {
			s := &all[i].Steps[j]
			if s.Run == "" || s.Refused || s.Outcome == Failed || all[i].TakenBack {
				continue
			}
			for _, c := range shell.Commands(s.Run) {
				for _, form := range c.Forms {
					if p := shell.Program(form[0]); !slices.Contains(programs, p) && len(programs) < maxPrograms {
						programs = append(programs, p)
					}
				}
			}
		}
	}
	slices.Sort(programs)
	return programs
}

// savePrograms writes the counts of a catalogue.
func (k *Kept) savePrograms(c *catalogueFile) error {
	p := Programs{Ran: make(map[string]int)}
	for i := range c.Sessions {
		s := &c.Sessions[i]
		if len(s.Programs) > 0 {
			p.Sessions++
		}
		for _, name := range s.Programs {
			p.Ran[name]++
		}
	}
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return k.store.Replace(programsName, data)
}

// Programs returns which programs ran in the kept sessions, as the last Sync counted them. Nothing is counted where the file is
// missing or damaged.
func (k *Kept) Programs() (p Programs) {
	data, err := k.store.ReadFile(programsName, maxProgramsFile)
	if err != nil || json.Unmarshal(data, &p) != nil {
		return Programs{}
	}
	return p
}
