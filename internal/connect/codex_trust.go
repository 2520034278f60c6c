package connect

import (
	"encoding/json"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
)

// A TrustReporter is an optional ability of a SettingsEditor: the agent passes over hooks
// that its user has not approved, and tells which those are when its own program is asked.
type TrustReporter interface {
	// TrustQuestion returns the command that is asked, what it reads, and reports of a line
	// that it prints whether that is the answer. The command goes on until it is ended. dir
	// is the folder whose project is asked about.
	TrustQuestion(dir string) (command []string, input []byte, answer func(line []byte) bool)

	// Trust reads the answer: the events of our hooks that run, and of those that wait for
	// an approval.
	Trust(answer []byte, own func(command string) bool) (runs, waits []string)
}

// TrustQuestion implements TrustReporter, by the protocol that editors speak with Codex.
func (codexSettings) TrustQuestion(dir string) (command []string, input []byte, answer func([]byte) bool) {
	input = []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"anamnesis","version":"1"}}}
{"jsonrpc":"2.0","method":"initialized"}
{"jsonrpc":"2.0","id":1,"method":"hooks/list","params":{"cwds":[` + agent.QuoteJSON(dir) + `]}}
`)
	return []string{codexName, "app-server"}, input, func(line []byte) bool {
		var reply struct{ ID json.Number }
		return json.Unmarshal(line, &reply) == nil && reply.ID == "1"
	}
}

// Trust implements TrustReporter.
func (codexSettings) Trust(answer []byte, own func(string) bool) (runs, waits []string) {
	var reply struct {
		Result struct {
			Data []struct {
				Hooks []struct {
					EventName, Command, TrustStatus string
					Enabled                         bool
				}
			}
		}
	}
	if json.Unmarshal(answer, &reply) != nil {
		return nil, nil
	}
	for _, folder := range reply.Result.Data {
		for _, h := range folder.Hooks {
			name := note.Line(h.EventName, 64)
			switch {
			case !own(h.Command):
			case h.Enabled && (h.TrustStatus == "trusted" || h.TrustStatus == "managed"):
				runs = append(runs, name)
			default:
				waits = append(waits, name)
			}
		}
	}
	return runs, waits
}
