package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
)

// A TrustReporter tells which hooks an agent passes over because its user has not approved
// them: its own program is asked.
type TrustReporter struct {
	// Question returns the command that is asked, what it reads, and reports of a line
	// that it prints whether that is the answer. The command goes on until it is ended. dir
	// is the folder whose project is asked about.
	Question func(dir string) (command []string, input []byte, answer func(line []byte) bool)

	// Read reads the answer: our hooks, and which of them run.
	Read func(answer []byte, own func(command string) bool) []Approval

	// Any reports of the file of Path whether it approves a hook of a settings file.
	Any func(approvals []byte, settings string) bool

	// Path returns the file in which the agent keeps approvals. Approve returns that file
	// with approvals in it, and Disapprove without those that Approve wrote.
	Path       func(home string) string
	Approve    func(old []byte, all []Approval) ([]byte, error)
	Disapprove func(old []byte) ([]byte, error)
}

// An Approval is what an agent says of a hook of ours.
type Approval struct {
	Event string
	Key   string // by which the agent knows the hook
	Hash  string // of the hook as it is now
	Runs  bool   // it was approved as it is now
}

// codexQuestion asks by the protocol that editors speak with Codex.
func codexQuestion(dir string) (command []string, input []byte, answer func([]byte) bool) {
	input = []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"anamnesis","version":"1"}}}
{"jsonrpc":"2.0","method":"initialized"}
{"jsonrpc":"2.0","id":1,"method":"hooks/list","params":{"cwds":[` + agent.QuoteJSON(dir) + `]}}
`)
	return []string{codexName, "app-server"}, input, func(line []byte) bool {
		var reply struct{ ID json.Number }
		return json.Unmarshal(line, &reply) == nil && reply.ID == "1"
	}
}

func codexTrust(answer []byte, own func(string) bool) (all []Approval) {
	var reply struct {
		Result struct {
			Data []struct {
				Hooks []struct {
					Key, CurrentHash, EventName, Command, TrustStatus string
					Enabled                                           bool
				}
			}
		}
	}
	if json.Unmarshal(answer, &reply) != nil {
		return nil
	}
	for _, folder := range reply.Result.Data {
		for _, h := range folder.Hooks {
			if own(h.Command) {
				all = append(all, Approval{
					Event: note.Line(h.EventName, 64), Key: h.Key, Hash: h.CurrentHash,
					Runs: h.Enabled && (h.TrustStatus == "trusted" || h.TrustStatus == "managed"),
				})
			}
		}
	}
	return all
}

func codexTrustPath(home string) string { return filepath.Join(home, "config.toml") }

// approvedMark stands behind the tables that Approve writes; Codex keeps comments.
const approvedMark = "# approved with anamnesis init"

// approvedHash is the form of the hash of a hook.
var approvedHash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// codexApprove writes a table [hooks.state."KEY"] for each hook.
func codexApprove(old []byte, all []Approval) (data []byte, err error) {
	data = old
	for _, a := range all {
		if a.Runs {
			continue
		}
		if !approvedHash().MatchString(a.Hash) || a.Key == "" || strings.ContainsFunc(a.Key, unicode.IsControl) {
			return nil, errors.New("it names a hook in a form that is not known; approve our hooks in the agent itself")
		}
		text := "[hooks.state." + agent.QuoteJSON(a.Key) + "] " + approvedMark + "\ntrusted_hash = " + tomlString(a.Hash) + "\n"
		if data, err = setTable(data, []string{"hooks", "state", a.Key}, text); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func codexDisapprove(old []byte) (data []byte, err error) {
	var file struct {
		Hooks struct{ State map[string]any }
	}
	if !bytes.Contains(old, []byte(approvedMark)) {
		return old, nil
	}
	if err := readTOML(old, &file); err != nil {
		return nil, err
	}
	data = old
	for _, key := range slices.Sorted(maps.Keys(file.Hooks.State)) {
		path := []string{"hooks", "state", key}
		spans, err := tables(data, path)
		if err != nil {
			return nil, err
		}
		if len(spans) == 1 && bytes.Contains(data[spans[0][0]:spans[0][1]], []byte(approvedMark)) {
			if data, err = setTable(data, path, ""); err != nil {
				return nil, err
			}
		}
	}
	return data, nil
}
