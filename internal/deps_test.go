// Package internal_test holds the house rules as tests: which way imports run,
// who may read the environment, how long a file may be, what a start may cost.
package internal_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// rule says which room may import which, in the notation of deps_test.go of
// go/build: "a < b" means that b may import a, and what a may import too. Rooms
// that are not built yet stand in it already; no room exists without it.
//
// From the bottom: the ground knows nothing of us. The files (store) stand on
// what a note is. The index can be made again from the files. One door leads in
// (ingest), one way leads out (recall), and the two wings above them do not know
// each other; imports, the write wing's gate to other memories, stands on capture.
// The fuse box (config) binds settings to the rooms' options, so it stands above
// them. The faces come last, and with them the doctor, who may look at every room.
// Above them all is the laboratory, a separate module, which nothing here may import.
const rule = `
	NONE                                         < store/layout, redact, embed, agent/foreigndb, text/smalltalk, text/shell, policy, anchor, text, embed/mapped, upgrade;
	text                                         < note;
	embed/mapped                                 < embed/transformer;
	agent/foreigndb, text                        < agent;
	NONE                                         < replica/seal;
	store/layout, replica/seal                   < replica;
	redact                                       < llm;
	note                                         < claim;
	claim, text/shell                            < risk;
	NONE                                         < risk/tree;
	note, store/layout                           < store;
	store                                        < store/tombstone, store/project, store/queue;
	agent, store                                 < connect;
	note, redact, replica                        < team/repo;
	store                                        < store/lifecycle;
	store, embed, embed/transformer              < embed/models;
	store/tombstone, store/project               < store/bundle;
	store, embed, llm, redact, claim             < index;
	index                                        < team;
	index, embed/mapped                          < index/flat;
	index/flat                                   < index/sqlite;
	NONE                                         < index/postgres/schema;
	index/flat, index/postgres/schema            < index/postgres;
	index, store/bundle, risk                    < ingest;
	index, llm, store/project, text/smalltalk, text/shell < recall;
	agent, index/flat, text, text/smalltalk, text/shell < session;
	session, store/queue, ingest                 < learn;
	learn, text/smalltalk                        < unread;
	unread, anchor                               < capture;
	capture, replica                             < imports;
	learn                                        < reflection;
	recall, anchor, risk                         < inject;
	recall, reflection, inject, learn            < eval;
	capture, reflection, inject, replica, store/lifecycle, team, team/repo < config;
	agent, connect, policy, store/queue, recall, replica, store/tombstone < doctor;
	config, imports, doctor, embed/models, upgrade, index/sqlite, index/postgres, risk/tree < app;
	app                                          < app/hooks, app/setup, app/workspace;
	app/hooks                                    < app/history;
	app/history, eval                            < app/curate;
	app/history, app/setup                       < app/diagnose;
	app/curate, app/setup                        < app/background;
	app/background, app/diagnose, app/workspace  < mcp, web, cli/demo, cli/hook;
	mcp, web, cli/demo, cli/hook                 < cli;
	cli                                          < lab;
`

// An order holds, for each room, the rooms that it may import.
type order map[string]map[string]bool

// parseRule reads a rule and works out what follows from it.
func parseRule(text string) (order, error) {
	below := make(order)
	for statement := range strings.SplitSeq(text, ";") {
		if statement = strings.TrimSpace(statement); statement == "" {
			continue
		}
		lists := strings.Split(statement, "<")
		if len(lists) < 2 {
			return nil, fmt.Errorf("%q: there is no <", statement)
		}
		var left []string
		for i, list := range lists {
			right, err := names(list)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", statement, err)
			}
			for _, name := range right {
				switch {
				case name == "NONE" && i > 0:
					return nil, fmt.Errorf("%q: NONE stands on the left", statement)
				case i == 0 && name != "NONE" && below[name] == nil:
					return nil, fmt.Errorf("%q: %s is used before its own rule", statement, name)
				case i > 0 && below[name] == nil:
					below[name] = make(map[string]bool)
				}
			}
			if i > 0 {
				for _, name := range right {
					for _, l := range left {
						below[name][l] = true
					}
				}
			}
			left = slices.DeleteFunc(right, func(name string) bool { return name == "NONE" })
		}
	}
	return below, below.close()
}

// names reads a list of names with commas.
func names(list string) ([]string, error) {
	var all []string
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "" || strings.ContainsAny(name, " \t\n") {
			return nil, fmt.Errorf("%q is no name", name)
		}
		all = append(all, name)
	}
	return all, nil
}

// close adds what a room may import because a room that it imports may.
func (o order) close() error {
	const visiting, done = 1, 2
	state := make(map[string]int)
	var visit func(string) error
	visit = func(name string) error {
		switch state[name] {
		case visiting:
			return fmt.Errorf("%s stands below itself", name)
		case done:
			return nil
		}
		state[name] = visiting
		for _, below := range slices.Sorted(maps.Keys(o[name])) {
			if err := visit(below); err != nil {
				return err
			}
			maps.Copy(o[name], o[below])
		}
		state[name] = done
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

// suiteOf returns the room whose contract suite pkg is: index for
// index/indextest. A suite may import what its room may, and the room.
func suiteOf(pkg string) (room string, ok bool) {
	room = path.Dir(pkg)
	return room, room != "." && path.Base(pkg) == path.Base(room)+"test"
}

// check returns what is wrong with the import of one of our packages, or nil.
// Both are named by their paths below internal; "main" is the program itself.
func (o order) check(pkg, imported string) error {
	switch room, suite := suiteOf(pkg); {
	case suite && (imported == room || o[room][imported]):
		return nil
	case pkg == "main" && imported == "cli", o[pkg][imported]:
		return nil
	case pkg == "main":
		return errors.New("main is one line: it calls cli")
	case o[pkg] == nil && !suite:
		return fmt.Errorf("the rule knows no room %s", pkg)
	default:
		may := strings.Join(slices.Sorted(maps.Keys(o[cmp.Or(map[bool]string{true: room}[suite], pkg)])), ", ")
		return fmt.Errorf("%s may import only: %s", pkg, cmp.Or(may, "nothing of ours"))
	}
}

func TestRuleParser(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"NONE < a; a < b < c; NONE < d; c, d < e", ""},
		{"a < b", "a is used before its own rule"},
		{"NONE < a; a < b; b < a", "stands below itself"},
		{"NONE < a b", "is no name"},
		{"NONE", "there is no <"},
		{"NONE < a; a < NONE", "NONE stands on the left"},
	} {
		got, err := parseRule(tt.text)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("parseRule(%q): error %v, want %q", tt.text, err, tt.want)
		}
		if err == nil && !(got["e"]["a"] && got["e"]["d"] && got["c"]["b"] && !got["c"]["d"] && len(got["a"]) == 0) {
			t.Errorf("parseRule(%q) = %v", tt.text, got)
		}
	}
}

// TestArrows checks every import of ours against the rule, on every platform.
func TestArrows(t *testing.T) {
	o, err := parseRule(rule)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sources(t) {
		if _, suite := suiteOf(f.pkg); o[f.pkg] == nil && !suite && f.pkg != "main" {
			t.Errorf("%s: the rule knows no room %s; add it to the rule, and to a page of docs/decisions", f.path, f.pkg)
			continue
		}
		for _, imported := range f.imports {
			if imported == f.pkg {
				continue // packages of the laboratory
			}
			if _, suite := suiteOf(imported); suite {
				t.Errorf("%s imports %s, which is for tests", f.path, imported)
			} else if err := o.check(f.pkg, imported); err != nil {
				t.Errorf("%s imports %s: %v", f.path, imported, err)
			}
		}
	}
}

// TestArrowsCatch makes sure that a wrong arrow would be seen.
func TestArrowsCatch(t *testing.T) {
	o, err := parseRule(rule)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range [][2]string{
		{"note", "store"},
		{"store", "llm"},
		{"store", "redact"},
		{"store", "store/tombstone"},
		{"store/project", "store/tombstone"},
		{"store", "store/queue"},
		{"ingest", "store/queue"},
		{"store/layout", "note"},
		{"index", "store/tombstone"},
		{"llm", "embed"},
		{"redact", "llm"},
		{"index", "index/sqlite"},
		{"ingest", "recall"},
		{"capture", "recall"},
		{"inject", "capture"},
		{"recall", "config"},
		{"app", "mcp"},
		{"app", "app/hooks"},
		{"app/history", "app/diagnose"},
		{"web", "mcp"},
		{"mcp", "cli/hook"},
		{"main", "store"},
		{"main", "lab"},
		{"cli", "lab"},
		{"eval", "lab"},
		{"index/indextest", "ingest"},
		{"somewhere", "note"},
	} {
		if o.check(wrong[0], wrong[1]) == nil {
			t.Errorf("%s may import %s, and should not", wrong[0], wrong[1])
		}
	}
	for _, right := range [][2]string{
		{"cli", "note"},
		{"web", "app"},
		{"main", "cli"},
		{"lab", "recall"},
		{"index/sqlite", "store"},
		{"replica", "store/layout"},
		{"ingest", "store/bundle"},
		{"store/bundle", "store/tombstone"},
		{"index/indextest", "index"},
		{"index/indextest", "note"},
		{"config", "ingest"},
	} {
		if err := o.check(right[0], right[1]); err != nil {
			t.Errorf("%s imports %s: %v", right[0], right[1], err)
		}
	}
}
