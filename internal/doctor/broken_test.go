package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/connect"
	"anamnesis/internal/doctor"
	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/note"
	"anamnesis/internal/replica"
	"anamnesis/internal/store"
	"anamnesis/internal/store/queue"
	"anamnesis/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
)

// secret looks like a token of GitHub.
var secret = "ghp_" + strings.Repeat("Zx81Qw", 6)

// A disease is one thing that is wrong.
type disease struct {
	name  string
	check string
	do    func(t *testing.T, b *body)
	want  doctor.State
	says  string // part of the evidence or of the next step
}

func diseases() []disease {
	return []disease{
		{"not on the path", "binary", func(_ *testing.T, b *body) { b.Path = b.dir }, doctor.Info, "no folder of the PATH"},
		{"a relative path", "binary", func(_ *testing.T, b *body) { b.Path = "bin" }, doctor.Info, "no folder of the PATH"},
		{"a newer client", "clients", installed("99.0.1"), doctor.Info, "99.0.1 is newer than"},
		{"an older client", "clients", installed("0.0.1"), doctor.OK, "0.0.1: tested up to"},
		{"a client without a version", "clients", installed("canary"), doctor.Skipped, "no agent is here"},
		{"another comes first", "binary", otherFirst, doctor.Warn, "anamnesis 0.9"},
		{"another does not answer", "binary", func(t *testing.T, b *body) {
			otherFirst(t, b)
			b.VersionOf = func(context.Context, string) (string, error) { return "", errors.New("killed") }
		}, doctor.Warn, "killed"},
		{"a second program", "duplicates", otherFirst, doctor.Warn, "keep one"},

		{"notes in quarantine", "orders", func(t *testing.T, b *body) {
			for id, status := range map[string]string{"q": "", "r": "status: active\n", "s": "status: archived\n"} { // only the last one ended
				b.put(t, "memory/semantic/"+id+".md", "---\nid: "+id+"\ntype: semantic\ntitle: Obey\nproject: shop\nmachine_id: box\n"+status+
					"quarantine: true\n---\nAlways.\n")
			}
			b.sync(t)
		}, doctor.Info, "2 notes in quarantine"},
		{"a note that another program changed", "authors", func(t *testing.T, b *body) {
			b.put(t, "memory/semantic/x.md", "---\nid: x\ntype: semantic\ntitle: Obey\nproject: shop\nmachine_id: box\nprov_source: human\n---\nAlways.\n")
			b.sync(t)
		}, doctor.Warn, "1 note changed outside this program"},
		{"entities without a note", "graph", func(t *testing.T, b *body) {
			b.put(t, "memory/semantic/x.entities.yaml", "entities: []")
		}, doctor.Warn, "its note is gone"},
		{"entities that nobody can read", "graph", func(t *testing.T, b *body) {
			id := b.addNote(t, b.Store, "New", "Something new.")
			b.put(t, "memory/semantic/"+string(id)+".entities.yaml", "entities: [")
		}, doctor.Warn, "1 file that cannot be read"},
		{"entities that an index lost", "graph", func(t *testing.T, b *body) {
			id := b.addNote(t, b.Store, "New", "Something new.")
			b.put(t, "memory/semantic/"+string(id)+".entities.yaml", "entities:\n- {name: pool}\n")
			b.sync(t)
			forget(t, b, "mentions")
		}, doctor.Warn, "has others of 1 than"},

		{"no settings", "hooks", func(t *testing.T, b *body) { remove(t, b.settings) }, doctor.Bad, "does not exist"},
		{"empty settings", "hooks", func(t *testing.T, b *body) { b.write(t, b.settings, "", 0o600) }, doctor.Bad, "holds no hook"},
		{"broken settings", "hooks", func(t *testing.T, b *body) { b.write(t, b.settings, `{"hooks": {`, 0o600) }, doctor.Bad, "cannot be read"},
		{"settings of another shape", "hooks", func(t *testing.T, b *body) { b.write(t, b.settings, `{"hooks": [1, "x"]}`, 0o600) }, doctor.Bad, "cannot be read"},
		{"settings without end", "hooks", func(t *testing.T, b *body) { huge(t, b.settings) }, doctor.Bad, "too large"},
		{"settings are a folder", "hooks", func(t *testing.T, b *body) { remove(t, b.settings); mkdir(t, b.settings) }, doctor.Bad, "not a regular file"},
		{"hooks switched off", "hooks", replaceIn(`"hooks"`, `"disableAllHooks": true, "hooks"`), doctor.Bad, "disableAllHooks"},
		{"a hook is missing", "hooks", replaceIn("SessionEnd", "SomethingElse"), doctor.Warn, "missing: SessionEnd"},
		{"a changed time limit", "hooks", replaceIn(`180`, `1`), doctor.Info, "SessionEnd"},
		{"a program that is gone", "hook-program", func(t *testing.T, b *body) { remove(t, b.bin) }, doctor.Bad, "does not exist"},
		{"a program that cannot run", "hook-program", func(t *testing.T, b *body) { chmod(t, b.bin, 0o600) }, doctor.Bad, "cannot be started"},
		{"a program that passes", "hook-program", func(_ *testing.T, b *body) { b.TempDirs = []string{filepath.Dir(b.bin)} }, doctor.Bad, "gets emptied"},
		{"a program of the home folder", "hook-program", func(t *testing.T, b *body) {
			replaceIn(" "+filepath.ToSlash(b.bin)+" ", " ~/bin/anamnesis ")(t, b)
		}, doctor.Info, "the shell completes"},
		{"hooks of another store", "hook-program", replaceIn("ANAMNESIS_HOOK=1", "ANAMNESIS_HOOK=1 ANAMNESIS_HOME=/else"), doctor.Warn, "/else"},
		{"hooks without the key", "hook-program", func(t *testing.T, b *body) {
			c := b.Harnesses[0].Client
			plain := c.Settings.PlainHooks(connect.CommandPrefix(connect.Env{MachineID: "box"}, b.bin))
			hooks, err := c.Settings.Install(nil, c.ServerHooks.Over(plain, "anamnesis", "OTHER"), connect.Own)
			if err != nil {
				t.Fatal(err)
			}
			b.write(t, b.settings, string(hooks), 0o600)
		}, doctor.Warn, "lack the key of this store"},
		{"hooks of another program", "hook-program", func(t *testing.T, b *body) {
			b.Self = filepath.Join(b.dir, "two", filepath.Base(b.bin))
			b.write(t, b.Self, "", 0o700)
		}, doctor.Warn, "another file"},
		{"hooks of another version", "hook-program", func(t *testing.T, b *body) {
			b.Self, b.Version = filepath.Join(b.dir, "two", filepath.Base(b.bin)), "2.0.0"
			b.write(t, b.Self, "", 0o700)
			b.VersionOf = func(context.Context, string) (string, error) { return "anamnesis 1.0.0", nil }
		}, doctor.Warn, "of version 2.0.0: anamnesis 1.0.0"},
		{"hooks of a copy", "hook-program", func(t *testing.T, b *body) {
			b.Self, b.Version = filepath.Join(b.dir, "two", filepath.Base(b.bin)), "2.0.0"
			b.write(t, b.Self, "", 0o700)
			b.VersionOf = func(context.Context, string) (string, error) { return "anamnesis 2.0.0", nil }
		}, doctor.Info, "of the same version"},
		{"a plugin instead", "hooks", func(t *testing.T, b *body) {
			b.Harnesses[0].Plugin = "anamnesis@anamnesis"
			remove(t, b.settings)
			b.Harnesses[0].Install = func(context.Context) error { return nil }
		}, doctor.OK, "brings the hooks"},
		{"a plugin beside hooks", "hooks", func(_ *testing.T, b *body) { b.Harnesses[0].Plugin = "anamnesis@anamnesis" }, doctor.Info, "those do the work"},
		{"a plugin's server", "mcp-registered", func(t *testing.T, b *body) {
			b.Harnesses[0].Plugin = "anamnesis@anamnesis"
			b.write(t, b.servers, `{}`, 0o600)
		}, doctor.OK, "brings the server"},
		{"hooks in the project", "hooks-twice", func(t *testing.T, b *body) {
			data, err := os.ReadFile(b.settings)
			if err != nil {
				t.Fatal(err)
			}
			b.write(t, b.Harnesses[0].Also[0], string(data), 0o600)
		}, doctor.Warn, "holds 10 hooks"},
		{"hooks switched off in the project", "hooks-twice", func(t *testing.T, b *body) {
			b.write(t, b.Harnesses[0].Also[0], `{"disableAllHooks": true}`, 0o600)
		}, doctor.Warn, "remove `disableAllHooks`"},
		{"disabled", "firing", func(_ *testing.T, b *body) { b.Disabled = true }, doctor.Warn, "ANAMNESIS_DISABLED"},
		{"never fired", "firing", func(t *testing.T, b *body) { remove(t, b.Store.Path("events")) }, doctor.Info, "not seen yet"},
		{"never fired in many sessions", "firing", func(t *testing.T, b *body) {
			remove(t, b.Store.Path("events"))
			b.log(t, store.Record{Kind: store.Drained})
			later(b, 48*time.Hour)
			b.sessions(t, 2, 24*time.Hour)
		}, doctor.Warn, "2 sessions began since"},
		{"fires into the spool", "firing", func(t *testing.T, b *body) { remove(t, b.Store.Path("events")); b.enqueue(t) }, doctor.OK, "never"},
		{"fires no more", "firing", func(t *testing.T, b *body) { later(b, 48*time.Hour); b.sessions(t, 3, 24*time.Hour) }, doctor.Warn, "3 sessions began since"},
		{"hooks that nobody approved", "trust", func(_ *testing.T, b *body) {
			b.Harnesses[0].Trust = func(context.Context) ([]connect.Approval, error) {
				return []connect.Approval{{Event: "start", Runs: true}, {Event: "prompt"}}, nil
			}
		}, doctor.Warn, "passes over 1 of 2 hooks"},
		{"hooks that nobody approved, of an agent that is not there", "trust", func(t *testing.T, b *body) {
			c := connect.ByName("codex")
			hooks, err := c.Settings.Install(nil, c.Settings.PlainHooks(connect.CommandPrefix(connect.Env{MachineID: "box"}, b.bin)), connect.Own)
			if err != nil {
				t.Fatal(err)
			}
			home := filepath.Join(b.dir, "codex")
			b.write(t, c.Settings.SettingsPath(home), string(hooks), 0o600)
			b.Harnesses = []doctor.Harness{{Client: c, Home: home, Trust: func(context.Context) ([]connect.Approval, error) {
				return nil, doctor.ErrNotAsked
			}}}
		}, doctor.Warn, "approved none of our hooks"},
		{"an agent that does not say what it trusts", "trust", func(_ *testing.T, b *body) {
			b.Harnesses[0].Trust = func(context.Context) ([]connect.Approval, error) { return nil, errors.New("no answer") }
		}, doctor.Info, "not known: no answer"},
		{"told and not captured", "firing", func(t *testing.T, b *body) {
			remove(t, b.Store.Path("events"))
			for range 12 {
				b.log(t, store.Record{Kind: store.Injected})
			}
		}, doctor.Warn, "none was captured"},
		{"no hook of an agent ran", "told", func(t *testing.T, b *body) { later(b, 48*time.Hour); b.sessions(t, 3, 24*time.Hour) }, doctor.Warn, "no hook ran"},
		{"a session with damaged lines", "damaged-sessions", func(t *testing.T, b *body) {
			b.damaged(t, store.Record{Count: 3})
		}, doctor.Warn, "s.jsonl: 3 lines cannot be read"},
		{"a session that cannot be read", "damaged-sessions", func(t *testing.T, b *body) {
			b.damaged(t, store.Record{Error: "unexpected EOF"})
		}, doctor.Warn, "s.jsonl: unexpected EOF"},
		{"a damaged session that is gone", "damaged-sessions", func(t *testing.T, b *body) {
			b.damaged(t, store.Record{Count: 3})
			remove(t, filepath.Join(b.dir, "s.jsonl"))
		}, doctor.OK, "none"},
		{"hooks fail", "hook-errors", func(t *testing.T, b *body) {
			for range 3 {
				b.log(t, store.Record{Kind: store.HookFailure, Text: "inject", Error: "disk \x1b[1mon fire " + secret})
			}
			b.log(t, store.Record{Kind: store.HookFailure, Text: "capture", Error: "once"})
		}, doctor.Warn, "3 times: inject: disk"},

		{"a note that nobody uses", "follow-up", func(t *testing.T, b *body) {
			id := note.ID(strings.TrimSuffix(filepath.Base(b.first(t)), ".md"))
			for range 5 {
				b.log(t, store.Record{Kind: store.FollowedUp, Text: string(store.Unused), Notes: []note.ID{id, "gone"}})
			}
		}, doctor.Info, "shown to 5 sessions and used in none"},
		{"a note that users contradict", "follow-up", func(t *testing.T, b *body) {
			id := note.ID(strings.TrimSuffix(filepath.Base(b.first(t)), ".md"))
			for _, v := range []store.Verdict{store.Opposed, store.Used, store.Opposed} {
				b.log(t, store.Record{Kind: store.FollowedUp, Text: string(v), Notes: []note.ID{id}})
			}
		}, doctor.Info, "contradicted in 2 sessions, used in 1"},

		{"no server", "mcp-registered", func(t *testing.T, b *body) {
			b.write(t, b.servers, `{"mcpServers": {"other": {"command": "x"}}}`, 0o600)
		}, doctor.Info, "not registered"},
		{"no list of servers", "mcp-registered", func(t *testing.T, b *body) { remove(t, b.servers) }, doctor.Info, "not registered"},
		{"a list that is none", "mcp-registered", func(t *testing.T, b *body) { b.write(t, b.servers, `nonsense`, 0o600) }, doctor.Info, "cannot be read"},
		{"a list of another shape", "mcp-registered", func(t *testing.T, b *body) {
			b.write(t, b.servers, `{"mcpServers": [1], "projects": {"/x": 3}}`, 0o600)
		}, doctor.Info, "not registered"},
		{"a server that is gone", "mcp-registered", func(t *testing.T, b *body) { remove(t, b.bin) }, doctor.Bad, "cannot be started"},
		{"a server that is silent", "mcp-handshake", func(_ *testing.T, b *body) {
			b.Handshake = func(context.Context) error { return errors.New("end of file") }
		}, doctor.Bad, "end of file"},
		{"a model that was changed", "local-models", func(_ *testing.T, b *body) {
			b.Models = func(context.Context) []doctor.LocalModel {
				return []doctor.LocalModel{{Name: "mini\x1blm", Setting: "recall.embed.model", Err: errors.New("its checksum is another")}}
			}
		}, doctor.Bad, "its checksum is another"},
		{"a model that is slow", "local-models", func(_ *testing.T, b *body) {
			b.Models = func(context.Context) []doctor.LocalModel {
				return []doctor.LocalModel{{Name: "large", Setting: "recall.rerank.model", Took: time.Second}}
			}
		}, doctor.Warn, "a short text takes 1000.0 ms"},

		{"open to others", "permissions", func(t *testing.T, b *body) { chmod(t, b.root, 0o755) }, doctor.Bad, "read by others"},
		{"open settings", "permissions", func(t *testing.T, b *body) {
			b.put(t, "config.json", "{}")
			chmod(t, b.Store.Path("config.json"), 0o644)
		}, doctor.Warn, "config.json"},
		{"a full disk", "disk", roomOf(5 << 20), doctor.Bad, "5120 KB free"},
		{"a disk that fills up", "disk", roomOf(500 << 20), doctor.Info, "500 MB free"},
		{"links", "links", func(t *testing.T, b *body) { symlink(t, "/etc", b.Store.Path("memory/semantic/etc")) }, doctor.Warn, "semantic/etc"},
		{"a name that does not travel", "unseen", func(t *testing.T, b *body) {
			b.put(t, "memory/semantic/a\x1bb.md", "x")
			b.sync(t)
		}, doctor.Warn, "semantic/a%1Bb.md"},
		{"remains of a crash", "leftovers", func(t *testing.T, b *body) { b.put(t, "memory/semantic/.tmp-anamnesis-1", "x"); later(b, 2*time.Hour) }, doctor.Info, ".tmp-anamnesis-1"},
		{"a stuck spool", "spool", func(t *testing.T, b *body) { b.enqueue(t); later(b, 3*time.Hour) }, doctor.Warn, "3 hours ago"},
		{"a broken job", "spool", func(t *testing.T, b *body) { b.put(t, "spool/x.0.json", "{"); huge(t, b.Store.Path("spool/y.0.json")) }, doctor.Info, "2 files that cannot be read"},
		{"a poisoned job", "poisoned", func(t *testing.T, b *body) { b.put(t, "spool/poisoned/x.json", "{") }, doctor.Warn, "poisoned/x.json"},
		{"a clone of an earlier project", "project", func(_ *testing.T, b *body) {
			b.Project = func(context.Context) (string, error) { return "acme/shop (3 notes): the same first commit", nil }
		}, doctor.Info, "acme/shop"},
		{"a project that cannot be looked up", "project", func(_ *testing.T, b *body) {
			b.Project = func(context.Context) (string, error) { return "", errors.New("the index is away") }
		}, doctor.Bad, "is away"},
		{"a draft that waits", "held", func(_ *testing.T, b *body) {
			b.Waiting = func(context.Context) ([]string, error) {
				return []string{"1 draft", "2 conflicts between machines"}, nil
			}
		}, doctor.Info, "2 conflicts between machines"},
		{"what cannot be counted", "held", func(_ *testing.T, b *body) {
			b.Waiting = func(context.Context) ([]string, error) { return nil, errors.New("the disk is gone") }
		}, doctor.Bad, "the disk is gone"},
		{"a log that is a folder", "events", func(t *testing.T, b *body) { remove(t, b.Store.Path("events")); b.put(t, "events", "") }, doctor.Bad, "who owns"},

		{"a held lock", "locks", func(t *testing.T, b *body) {
			unlock, ok, err := b.Store.TryLock("drain")
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			t.Cleanup(unlock)
		}, doctor.Info, "the background run"},
		{"a lock that is a folder", "locks", func(t *testing.T, b *body) { mkdir(t, b.Store.Path("sync.lock")) }, doctor.Bad, "no plain file"},
		{"a clock that is slow", "clock", func(_ *testing.T, b *body) { later(b, -time.Hour) }, doctor.Warn, "time of the future"},
		{"another clock that is fast", "clock", func(t *testing.T, b *body) {
			b.edit(t, func(n *note.Note) { n.UpdatedAt = note.At(time.Now().Add(24 * time.Hour)); n.MachineID = "laptop" })
			b.sync(t)
		}, doctor.Warn, "laptop"},

		{"a damaged index", "index", damage, doctor.Bad, "page 7"},
		{"new files", "drift", func(t *testing.T, b *body) { b.addNote(t, b.Store, "New", "Something new.") }, doctor.Info, "1 new, 0 changed, 0 gone"},
		{"old drift", "drift", func(t *testing.T, b *body) { remove(t, b.first(t)); later(b, 48*time.Hour) }, doctor.Warn, "1 gone"},
		{"a file that is no note", "problems", func(t *testing.T, b *body) { b.put(t, "memory/semantic/x.md", "no front matter"); b.sync(t) }, doctor.Warn, "semantic/x.md"},
		{"an index set aside", "set-aside", func(t *testing.T, b *body) { b.put(t, "index.db.foreign-20260101T000000", "x") }, doctor.Info, "foreign"},

		{"no model", "model", func(_ *testing.T, b *body) { b.Index = index.New(b.Index.Backend, b.Store, index.Embedding{}) }, doctor.Warn, "no model"},
		{"another model", "model", func(_ *testing.T, b *body) {
			b.Index = index.New(b.Index.Backend, b.Store, index.Embedding{Local: newer{}})
		}, doctor.Info, "2 of 2 passages have no vector"},
		{"a reader", "reader", func(_ *testing.T, b *body) {
			b.Reader = func() (string, error) { return "model claude/haiku", nil }
		}, doctor.OK, "model claude/haiku"},
		{"a reader that cannot be asked", "reader", func(_ *testing.T, b *body) {
			b.Reader = func() (string, error) { return "model files/m", errors.New("not configured") }
		}, doctor.Warn, "model files/m cannot be asked: not configured"},
		{"memory of the agent", "native-memory", func(t *testing.T, b *body) {
			b.write(t, filepath.Join(b.Harnesses[0].Home, "projects", "shop", "memory", "MEMORY.md"), "x", 0o600)
		}, doctor.Info, "1 memory file"},

		{"no git", "git", func(_ *testing.T, b *body) {
			b.GitVersion = func(context.Context) (string, error) { return "", errors.New("not found") }
		}, doctor.Warn, "not found"},
		{"an old git", "git", gitSays("git version 2.17.1"), doctor.Warn, "too old"},
		{"a git of a vendor", "git", gitSays("git version 2.39.5 (Apple Git-154)"), doctor.OK, "2.39.5"},
		{"no version", "git", gitSays("?"), doctor.Info, "says ?"},
		{"two machines of one name", "machine-name", func(_ *testing.T, b *body) {
			b.Namesakes = func(context.Context) ([]string, error) { return []string{"vm (4X2A), with 3 commits"}, nil }
		}, doctor.Warn, "vm (4X2A)"},
		{"sync is off", "sync", stateOf(func(s *replica.SyncState) { s.Off = true }), doctor.Info, "switched off"},
		{"offline", "sync", stateOf(func(s *replica.SyncState) { s.Failures = 3 }), doctor.Info, "3 attempts"},
		{"long offline", "sync", stateOf(func(s *replica.SyncState) { s.Failures = 9; s.LastSync = "" }), doctor.Warn, "never reached"},
		{"an old sync", "sync", stateOf(func(s *replica.SyncState) {
			s.LastSync = time.Now().Add(-30 * 24 * time.Hour).Format(time.RFC3339)
			s.Ahead = 4
		}), doctor.Warn, "4 commits to send"},
		{"a password in the remote", "sync", stateOf(func(s *replica.SyncState) { s.Remote = "https://me:" + secret + "@host/x.git"; s.Failures = 1 }), doctor.Info, "host"},
		{"a pull that is held", "sync", standing("held", "the remote would delete 20 of 20 files"), doctor.Warn, "sync held: the remote would delete 20 of 20 files"},
		{"what to do about it", "sync", standing("held", "x"), doctor.Warn, "`anamnesis sync --allow-delete`, if it is meant"},
		{"the repository of a stranger", "sync", standing("foreign", "the remote holds no notes"), doctor.Warn, "`anamnesis config set remote ADDRESS`"},
		{"a push that is refused", "sync", standing("refused", "no notes here\x1b[2J"), doctor.Warn, "sync refused: no notes here"},
		{"a merge in progress", "sync", standing("blocked", "a merge is in progress"), doctor.Warn, "do what the line says, then `anamnesis sync`"},
		{"a machine that was revoked", "sync", stateOf(func(s *replica.SyncState) {
			s.Repelled = []replica.Repelled{{Machine: "laptop"}}
		}), doctor.Warn, "laptop was revoked and wrote to the remote since"},
		{"a sync that fails", "sync", standing("failed", "the disk is full"), doctor.Warn, "sync failed: the disk is full"},
		{"a note held back", "not-sent", stateOf(func(s *replica.SyncState) { s.Held = []replica.WithheldFile{{Path: "semantic/a.md", Why: "a secret"}} }), doctor.Warn, "semantic/a.md: a secret"},
		{"a conflict", "conflicts", func(t *testing.T, b *body) { b.conflict(t) }, doctor.Warn, "body"},

		{"a misspelt rule of the policy", "policy", func(t *testing.T, b *body) {
			b.write(t, filepath.Join(b.root, "policy-rules.jsonl"), `{"patern":"x","decision":"deny"}`, 0o600)
		}, doctor.Warn, "line 1: unknown field"},
		{"a policy that is a folder", "policy", func(t *testing.T, b *body) {
			if err := os.Mkdir(filepath.Join(b.root, "policy-rules.jsonl"), 0o700); err != nil {
				t.Fatal(err)
			}
		}, doctor.Bad, "no regular file"},
		{"a rule for a tool that nobody tells of", "policy", func(t *testing.T, b *body) {
			b.write(t, filepath.Join(b.root, "policy-rules.jsonl"), `{"tool":"WebFetch","decision":"deny"}`, 0o600)
		}, doctor.Warn, "no hook runs for WebFetch"},
		{"an index on a server that is away", "server", func(_ *testing.T, b *body) {
			b.Server = func(context.Context) ([]string, error) { return nil, errors.New("connect: refused") }
		}, doctor.Warn, "connect: refused"},
		{"half a team", "team", func(_ *testing.T, b *body) {
			b.Team = func(context.Context) (doctor.Team, error) { return doctor.Team{Half: true}, nil }
		}, doctor.Warn, "only one of"},
		{"a team's database that is away", "team", func(_ *testing.T, b *body) {
			b.Team = func(context.Context) (doctor.Team, error) {
				return doctor.Team{Err: errors.New("connect: refused"), Age: time.Hour}, nil
			}
		}, doctor.Info, "connect: refused"},
		{"a team's database that was never asked", "team", func(_ *testing.T, b *body) {
			b.Team = func(context.Context) (doctor.Team, error) {
				return doctor.Team{Err: errors.New("connect: refused")}, nil
			}
		}, doctor.Warn, "connect: refused"},
		{"an old mirror", "team", func(_ *testing.T, b *body) {
			b.Team = func(context.Context) (doctor.Team, error) {
				return doctor.Team{Age: 90 * time.Hour, Mirrored: 1, Held: 2}, nil
			}
		}, doctor.Warn, "2 notes of shared projects stay here"},
		{"a copy of this machine", "team", func(_ *testing.T, b *body) {
			b.Team = func(context.Context) (doctor.Team, error) {
				return doctor.Team{Age: time.Hour, Copied: errors.New("a copy")}, nil
			}
		}, doctor.Warn, "nothing of this machine is shared: a copy"},
		{"a mirror that cannot be read", "team", func(_ *testing.T, b *body) {
			b.Team = func(context.Context) (doctor.Team, error) { return doctor.Team{}, errors.New("read the mirror") }
		}, doctor.Bad, "read the mirror"},
		{"broken rules", "rules", func(_ *testing.T, b *body) { b.RulesErr = errors.New("redact.toml: line 3") }, doctor.Bad, "line 3"},
		{"a secret in a note", "secrets", func(t *testing.T, b *body) { b.addNote(t, b.Store, "Login", "The token is "+secret) }, doctor.Warn, "what looks like a secret stands in 1 file"},
		{"a secret in a sidecar", "secrets", func(t *testing.T, b *body) {
			b.write(t, strings.TrimSuffix(b.first(t), ".md")+".entities.yaml", "token: "+secret+"\n", 0o600)
		}, doctor.Warn, ".entities.yaml"},
		{"a secret that was let go", "secrets", func(t *testing.T, b *body) {
			b.addNote(t, b.Store, "Login", "The token is "+secret)
			b.Allowed = func(path string, _ []byte) bool { return strings.HasPrefix(path, "semantic/") }
		}, doctor.OK, "1 that you let go"},

		{"a value that is not used", "settings", func(_ *testing.T, b *body) { b.Warnings = []string{"recall.k: \"many\" is no number"} }, doctor.Warn, "no number"},
		{"a setting without effect", "settings", func(_ *testing.T, b *body) {
			b.Settings = append(b.Settings, doctor.Setting{Name: "colour", Source: "file", Why: "no such setting"})
		}, doctor.Info, "colour (file) has no effect: no such setting"},
		{"settings of others", "other-settings", func(_ *testing.T, b *body) { b.Foreign = []string{"REFLECT_DB_PATH"} }, doctor.Info, "REFLECT_DB_PATH"},
	}
}

// TestDiseases makes a healthy installation ill in one way at a time.
func TestDiseases(t *testing.T) {
	for _, tt := range diseases() {
		t.Run(strings.ReplaceAll(tt.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			b := healthy(t, 2)
			if r := b.one(t, tt.check); r.State != doctor.OK {
				t.Fatalf("healthy: %+v", r)
			}
			tt.do(t, b)
			before := tree(t, b.dir)
			r := b.one(t, tt.check)
			all := strings.Join(append(r.Evidence, r.Next), "\n")
			if r.State != tt.want || !strings.Contains(all, tt.says) || (r.Next == "") != (r.State == doctor.OK) {
				t.Errorf("got %s, want %s with %q:\n%s", r.State, tt.want, tt.says, all)
			}
			if strings.Contains(all, secret) || strings.Contains(all, "\x1b") {
				t.Errorf("it tells the secret, or commands the terminal: %q", all)
			}
			if diff := cmp.Diff(before, tree(t, b.dir)); diff != "" {
				t.Errorf("it changed something (-before +after):\n%s", diff)
			}
		})
	}
}

// TestEveryCheckFails wants a disease for every check.
func TestEveryCheckFails(t *testing.T) {
	ill := map[string]bool{"gate": true} // TestGate
	for _, d := range diseases() {
		ill[d.check] = ill[d.check] || d.want != doctor.OK
	}
	for _, id := range doctor.IDs() {
		if !ill[id] {
			t.Errorf("no test makes the check %s fail", id)
		}
	}
}

func otherFirst(t *testing.T, b *body) {
	t.Helper()
	b.write(t, filepath.Join(b.dir, "old", filepath.Base(b.bin)), "old", 0o755)
	b.Path = filepath.Join(b.dir, "old") + string(filepath.ListSeparator) + b.Path
}

// later moves the clock.
func later(b *body, d time.Duration) { b.Now = func() time.Time { return time.Now().Add(d) } }

func roomOf(free int64) func(*testing.T, *body) {
	return func(_ *testing.T, b *body) { b.Room = func(string) (int64, error) { return free, nil } }
}

func gitSays(s string) func(*testing.T, *body) {
	return func(_ *testing.T, b *body) { b.GitVersion = func(context.Context) (string, error) { return s, nil } }
}

func stateOf(change func(*replica.SyncState)) func(*testing.T, *body) {
	return func(t *testing.T, b *body) {
		s, err := b.Sync(t.Context())
		change(&s)
		b.Sync = func(context.Context) (replica.SyncState, error) { return s, err }
	}
}

// standing is a sync that reached the remote an hour ago, and stands still.
func standing(state, text string) func(*testing.T, *body) {
	return stateOf(func(s *replica.SyncState) { s.State, s.StateText = replica.SyncResult(state), text })
}

// installed puts another version of a client on the search path.
func installed(version string) func(*testing.T, *body) {
	return func(t *testing.T, b *body) { b.installs(t, b.Path, b.Harnesses[0].Release, version) }
}

func replaceIn(old, repl string) func(*testing.T, *body) {
	return func(t *testing.T, b *body) {
		data, err := os.ReadFile(b.settings)
		if err != nil || !strings.Contains(string(data), old) {
			t.Fatalf("no %q in %s (%v)", old, data, err)
		}
		b.write(t, b.settings, strings.ReplaceAll(string(data), old, repl), 0o600)
	}
}

// sick is an index that a look at finds damaged.
type sick struct{ index.Backend }

func (sick) Check(context.Context) error { return errors.New("page 7 is torn") }

func damage(_ *testing.T, b *body) {
	b.Index = index.New(sick{b.Index.Backend}, b.Store, index.Embedding{})
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("permissions of Unix")
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skip("no symbolic links:", err)
	}
}

// huge makes a file that is larger than anything that is read, and takes no room.
func huge(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		err = errors.Join(f.Truncate(9<<20), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (b *body) log(t *testing.T, r store.Record) {
	t.Helper()
	if err := b.Store.Events().Log(r); err != nil {
		t.Fatal(err)
	}
}

func (b *body) enqueue(t *testing.T) {
	t.Helper()
	if _, err := queue.Of(b.Store).Enqueue(queue.Capture, "", map[string]string{"session": "s"}, time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// first returns the path of the first note.
func (b *body) first(t *testing.T) string {
	t.Helper()
	for ref := range b.Store.Walk() {
		return b.Store.Path(ref.Path)
	}
	t.Fatal("no note")
	return ""
}

// edit changes the first note.
func (b *body) edit(t *testing.T, change func(*note.Note)) {
	t.Helper()
	for ref := range b.Store.Walk() {
		n, _, ref, err := b.Store.Read(ref.Path)
		if err == nil {
			change(n)
			_, _, err = storetest.Put(b.Store, n, ref, store.Update)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
}

func (b *body) conflict(t *testing.T) {
	t.Helper()
	winner, err := os.ReadFile(b.first(t))
	if err != nil {
		t.Fatal(err)
	}
	rel, _ := filepath.Rel(b.Store.Path("memory"), b.first(t))
	if _, _, err := storetest.Writer(b.Store).AddConflict(filepath.ToSlash(rel), winner, []byte(strings.Replace(string(winner), "wants", "needs", 1))); err != nil {
		t.Fatal(err)
	}
}

// sessions writes transcripts that began so long after now.
func (b *body) sessions(t *testing.T, n int, after time.Duration) {
	t.Helper()
	at := time.Now().Add(after)
	for i := range n {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
		path := filepath.Join(b.Harnesses[0].Home, "projects", "shop", id+".jsonl")
		line := fmt.Sprintf(`{"type":"user","sessionId":"%s","uuid":"u%d","timestamp":"%s","cwd":"/w","message":{"role":"user","content":"Do it"}}`,
			id, i, at.UTC().Format(time.RFC3339))
		b.write(t, path, line+"\n", 0o600)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// newer is a model that was not asked yet.
type newer struct{ embed.Embedder }

func (newer) Name() string         { return "newer" }
func (newer) Traits() embed.Traits { return embed.Traits{} }

// damaged leaves a record of a session that could not be read whole.
func (b *body) damaged(t *testing.T, r store.Record) {
	t.Helper()
	b.write(t, filepath.Join(b.dir, "s.jsonl"), "{", 0o600)
	r.Kind, r.Session, r.Text = store.Damaged, "s1", filepath.Join(b.dir, "s.jsonl")
	if err := b.Store.Events().Log(r); err != nil {
		t.Fatal(err)
	}
}
