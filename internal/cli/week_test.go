package cli

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/config"
	"anamnesis/internal/store"
	"anamnesis/internal/store/storetest"
)

// Variables of a program that lives in a simulated week.
const (
	weekClock = "ANAMNESIS_TEST_CLOCK" // how far its clock is from the right one, a duration
	weekKill  = "ANAMNESIS_TEST_KILL"  // it is killed before this step on the disk
	weekRoom  = "ANAMNESIS_TEST_ROOM"  // the disk has room for so many writes
)

// weekMain is the program on the clock and the disk of a simulated week.
func weekMain() int {
	ahead, _ := time.ParseDuration(os.Getenv(weekClock))
	p := &program{
		screen: screen{stdout: os.Stdout, stderr: os.Stderr, plain: true}, stdin: os.Stdin, environ: config.Process,
		now: func() time.Time { return time.Now().Add(ahead) },
	}
	if at, err := strconv.Atoi(os.Getenv(weekKill)); err == nil {
		p.disk = &crashDisk{at: at, files: make(map[string]*crashFile)}
	}
	if room, err := strconv.Atoi(os.Getenv(weekRoom)); err == nil {
		p.disk = fullDisk{left: &room}
	}
	return p.run(os.Args[1:])
}

// A week is three machines with a remote between them, and what was acknowledged on them.
type week struct {
	t        *testing.T
	dice     *rand.Rand
	work     string
	hub      string
	machines []*weekMachine
	words    map[string]*weekWord
	secrets  []string
	log      []string // what was done, for the one who reads a failure
	serial   int
}

// A weekMachine is one machine: a home folder and a clock.
type weekMachine struct {
	*week
	name, home string
	ahead      time.Duration
}

// A weekWord is a word that stands in one note only, and was acknowledged.
type weekWord struct {
	how       string
	note      string // the word by which the note was made; the word itself but for edits
	settled   bool   // all machines have it
	forgotten bool
	unsure    bool // what became of it is not known: whoever forgot its note was killed
}

// TestWeek plays days of work on three machines: five agents, a person who edits files,
// syncs, forgotten notes, killed processes, full disks, clocks that jump, damaged
// files. After each day no word is lost that was acknowledged, none is back that was
// forgotten, no secret is in the remote or in what a hook printed, and nothing panicked.
//
// ANAMNESIS_TEST_WEEK plays for so long (1h), ANAMNESIS_TEST_SEED plays that week again.
func TestWeek(t *testing.T) {
	storetest.SkipQuick(t)
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("it needs git, and a process that can kill itself at once")
	}
	days, steps := 2, 12
	if testing.Short() {
		days, steps = 1, 8
	}
	seed := uint64(1)
	if s, err := strconv.ParseUint(os.Getenv("ANAMNESIS_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	until := time.Time{}
	if long, err := time.ParseDuration(os.Getenv("ANAMNESIS_TEST_WEEK")); err == nil {
		days, steps, until = 7, 40, time.Now().Add(long)
		if os.Getenv("ANAMNESIS_TEST_SEED") == "" {
			seed = uint64(time.Now().UnixNano()) % 1_000_000
		}
	}
	for played := false; !played || time.Now().Before(until); seed, played = seed+1, true {
		t.Run(fmt.Sprintf("seed-%d", seed), func(t *testing.T) {
			w := newWeek(t, seed)
			for day := range days {
				w.note("day %d", day+1)
				for range steps {
					w.step()
				}
				w.night()
				if t.Failed() {
					t.Fatalf("seed %d:\n%s", seed, strings.Join(w.log, "\n"))
				}
			}
		})
		if t.Failed() {
			return
		}
	}
}

func newWeek(t *testing.T, seed uint64) *week {
	w := &week{t: t, dice: rand.New(rand.NewPCG(seed, 7)), work: t.TempDir(), words: make(map[string]*weekWord)}
	w.hub = filepath.Join(w.work, "hub.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", "-b", "main", w.hub).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	for _, name := range []string{"anna", "bert", "cleo"} {
		m := &weekMachine{week: w, name: name, home: filepath.Join(w.work, name)}
		if err := os.MkdirAll(filepath.Join(m.home, "src", "app"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.machines = append(w.machines, m)
	}
	return w
}

func (w *week) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *week) pick(n int) bool { return w.dice.IntN(n) == 0 }

// word makes a word that stands nowhere else. It is no hexadecimal and no random string.
func (w *week) word() string {
	w.serial++
	const syllables = "balodumekiparosutawenofi"
	word := "zor"
	for n := w.serial + 12; n > 0; n /= 12 {
		word += syllables[n%12*2 : n%12*2+2]
	}
	return word + "x"
}

func (m *weekMachine) store() string { return filepath.Join(m.home, ".anamnesis") }

// command is one process of the program.
func (m *weekMachine) command(stdin string, env []string, args ...string) (out string, ok bool) {
	m.t.Helper()
	cmd := exec.Command("anamnesis", args...)
	cmd.Dir = filepath.Join(m.home, "src", "app")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "ANAMNESIS_") || strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "CLAUDE_")
	}), "HOME="+m.home, "USERPROFILE="+m.home, "ANAMNESIS_MACHINE_ID="+m.name, "ANAMNESIS_PATIENCE="+patience,
		"ANAMNESIS_GIT_REMOTE="+m.hub, weekClock+"="+m.ahead.String())
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	err := cmd.Run()
	out = both.String()
	m.note("%s: %v %s: %v", m.name, env, strings.Join(args, " "), err)
	if strings.Contains(out, "panic: ") || strings.Contains(out, "goroutine ") || strings.Contains(out, "SIGSEGV") {
		m.t.Errorf("%s: %s panics:\n%s", m.name, strings.Join(args, " "), out)
	}
	for _, s := range m.secrets {
		if strings.Contains(out, s) {
			m.t.Errorf("%s: %s prints a secret:\n%s", m.name, strings.Join(args, " "), out)
		}
	}
	return out, err == nil
}

// trouble is what the disk does to a process: mostly nothing.
func (w *week) trouble() []string {
	switch w.dice.IntN(6) {
	case 0:
		return []string{weekKill + "=" + strconv.Itoa(1+w.dice.IntN(40))}
	case 1:
		return []string{weekRoom + "=" + strconv.Itoa(w.dice.IntN(30))}
	}
	return nil
}

// step is one thing that happens on one machine.
func (w *week) step() {
	m := w.machines[w.dice.IntN(len(w.machines))]
	switch k := w.dice.IntN(20); {
	case k < 6:
		m.add()
	case k < 10:
		m.session()
	case k < 13:
		m.edit()
	case k < 15:
		m.forget()
	case k < 17:
		m.command("", w.trouble(), "sync")
	case k < 18:
		m.ahead = []time.Duration{0, time.Hour, -26 * time.Hour, 40 * 24 * time.Hour}[w.dice.IntN(4)]
		m.note("%s: the clock is %v ahead", m.name, m.ahead)
	case k < 19:
		m.damage()
	default:
		m.command("", w.trouble(), "drain")
	}
}

func (m *weekMachine) add() {
	word := m.word()
	if _, ok := m.command("", m.trouble(), "add", "--global", "--title", "The port of "+word, "--body", "The program "+word+" listens there."); ok {
		m.words[word] = &weekWord{how: "added on " + m.name, note: word}
	}
}

// files lists the notes that hold a word, conflicts and former forms left out.
func (m *weekMachine) files(word string) (all []string) {
	for path, text := range m.read("memory", "local") {
		if strings.HasSuffix(path, ".md") && strings.Contains(text, word) {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return all
}

// read reads what stands in folders of the store.
func (m *weekMachine) read(folders ...string) map[string]string {
	all := make(map[string]string)
	for _, folder := range folders {
		_ = filepath.WalkDir(filepath.Join(m.store(), folder), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == ".git" {
				return filepath.SkipDir
			}
			if d.Type().IsRegular() {
				if data, err := os.ReadFile(path); err == nil {
					all[path] = string(data)
				}
			}
			return nil
		})
	}
	return all
}

// known picks a word in a note of this machine, "" when there is none.
func (m *weekMachine) known(fit func(*weekWord) bool) string {
	words := slices.Sorted(maps.Keys(m.words))
	for _, i := range m.dice.Perm(len(words)) {
		if w := m.words[words[i]]; words[i] == w.note && !w.forgotten && !w.unsure && fit(w) && len(m.files(words[i])) > 0 {
			return words[i]
		}
	}
	return ""
}

// edit is a person who writes a line into a note, in place or by rename.
func (m *weekMachine) edit() {
	of := m.known(func(w *weekWord) bool { return !strings.HasPrefix(w.how, "session") })
	if of == "" {
		return
	}
	path := m.files(of)[0]
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte("<<<<<<<")) {
		return
	}
	word := m.word()
	data = append(bytes.TrimRight(data, "\n"), "\n\nSince then "+word+" too.\n"...)
	if m.pick(2) {
		err = os.WriteFile(path, data, 0o600)
	} else {
		err = errors.Join(os.WriteFile(path+"~", data, 0o600), os.Rename(path+"~", path))
	}
	m.note("%s: a person writes %s into %s: %v", m.name, word, filepath.Base(path), err)
	if err == nil {
		m.words[word] = &weekWord{how: "edited on " + m.name, note: of}
		m.words[of].settled = false
	}
}

// forget forgets a note that is the same on all machines: of others it is not known what
// of them must go.
func (m *weekMachine) forget() {
	of := m.known(func(w *weekWord) bool { return w.settled })
	if of == "" {
		return
	}
	id := strings.TrimSuffix(filepath.Base(m.files(of)[0]), ".md")
	_, ok := m.command("", m.trouble(), "forget", id, "--now")
	m.note("%s: %s is forgotten: %v", m.name, of, ok)
	for _, w := range m.words {
		if w.note == of {
			w.forgotten, w.unsure = ok, !ok
		}
	}
}

// damage damages a file that can be made again: of a note only one that others have too.
func (m *weekMachine) damage() {
	files := []string{"index.db", "index-postings.bin", "events/checkpoint.json", "memory/.git/index"}
	name := filepath.Join(m.store(), files[m.dice.IntN(len(files))])
	if m.pick(3) {
		if of := m.known(func(w *weekWord) bool { return w.settled }); of != "" {
			name = m.files(of)[0]
		}
	}
	waitForChildren(m.home, idleTime)
	fi, err := os.Stat(name)
	if err != nil {
		return
	}
	if m.pick(2) {
		err = os.Truncate(name, fi.Size()/2)
	} else {
		err = os.WriteFile(name, bytes.Repeat([]byte("\x00junk"), 40), 0o600)
	}
	m.note("%s: %s is damaged: %v", m.name, name, err)
}

// night lets all machines come to rest and to the same notes, and looks at them.
func (w *week) night() {
	w.note("night")
	for range 3 {
		for _, m := range w.machines {
			m.ahead = 0
			waitForChildren(m.home, idleTime)
			m.command("", nil, "restore", "--damaged", "--apply")
			m.command("", nil, "drain")
			waitForChildren(m.home, idleTime)
			if out, ok := m.command("", nil, "sync"); !ok {
				w.note("sync says %s", out)
			}
		}
	}
	for _, m := range w.machines {
		if left := waitForChildren(m.home, idleTime); len(left) > 0 {
			w.t.Fatalf("%s: background runs do not end: %v", m.name, left)
		}
	}
	w.check()
}

func (w *week) check() {
	hub := w.objects()
	for _, s := range w.secrets {
		if strings.Contains(hub, s) {
			w.t.Errorf("the secret %s is in the remote", s)
		}
	}
	stands := make(map[string]map[string]string)
	for _, m := range w.machines {
		stands[m.name] = m.read("memory", "local", "history", "conflicts")
	}
	for _, word := range slices.Sorted(maps.Keys(w.words)) {
		state := w.words[word]
		var at []string
		everywhere := true
		for _, m := range w.machines {
			here := false
			for path, text := range stands[m.name] {
				if strings.Contains(text, word) {
					at = append(at, path)
					here = true
				}
			}
			everywhere = everywhere && here
		}
		switch {
		case state.unsure:
		case state.forgotten && len(at) > 0:
			w.t.Errorf("%s, %s, was forgotten and stands in %v", word, state.how, at)
		case !state.forgotten && len(at) == 0:
			w.t.Errorf("%s, %s, in the note of %s, is lost\n%s", word, state.how, state.note, w.events(state.how))
		}
		state.settled = everywhere
	}
	for _, state := range w.words { // a note is settled when all that stands in it is
		if of := w.words[state.note]; of != nil && !state.settled {
			of.settled = false
		}
	}
}

// events are the records of a session in the logs of all machines.
func (w *week) events(how string) string {
	var all []string
	id := weekIDs.FindString(how)
	for _, m := range w.machines {
		for path, text := range m.read("events", "spool") {
			for line := range strings.Lines(text) {
				if id != "" && (strings.Contains(line, id) || strings.Contains(line, "-error")) {
					all = append(all, m.name+" "+filepath.Base(path)+": "+strings.TrimSpace(line))
				}
			}
		}
	}
	return strings.Join(all, "\n")
}

// objects returns all that the remote holds.
func (w *week) objects() string {
	cmd := exec.Command("git", "--git-dir="+w.hub, "cat-file", "--batch", "--batch-all-objects")
	out, err := cmd.Output()
	if err != nil {
		w.t.Errorf("read the remote: %v", err)
	}
	return string(out)
}

var weekIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}`)

// session is a session of an agent: its hooks, and the file that it leaves.
func (m *weekMachine) session() {
	agents := []weekAgent{
		{"claude", "", ".claude/projects/-src-app/ID.jsonl", "SessionStart", "UserPromptSubmit", "SessionEnd", ""},
		{"codex", "rollout-2026-11-20T10-00-00-01a0c0de-1111-7aaa-8bbb-000000000001.jsonl", ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-ID.jsonl", "SessionStart", "UserPromptSubmit", "SessionEnd", ""},
		{"gemini", "session-2026-11-20T10-00-5a5e0000.jsonl", ".gemini/tmp/app/chats/session-2026-11-20T10-00-ID.jsonl", "SessionStart", "BeforeAgent", "SessionEnd", ""},
		{"qwen", "9e9e0000-0000-4000-8000-000000000001.jsonl", ".qwen/projects/-src-app/chats/ID.jsonl", "SessionStart", "UserPromptSubmit", "SessionEnd", ""},
		{"cursor", "c0501000-0000-4000-8000-000000000001.jsonl", ".cursor/projects/app/agent-transcripts/ID/ID.jsonl", "sessionStart", "beforeSubmitPrompt", "sessionEnd", ""},
	}
	a := agents[m.dice.IntN(len(agents))]
	word := m.word()
	secret := fmt.Sprintf("sk_live_%016x%016x", m.dice.Uint64(), m.dice.Uint64())
	m.secrets = append(m.secrets, secret)
	about := make([]string, 12) // what is nearly what was forgotten is forgotten too
	for i := range about {
		about[i] = "quz" + strings.Repeat("ba", m.dice.IntN(3)) + strings.Repeat("le", m.dice.IntN(4)) + strings.Repeat("ni", m.dice.IntN(4))
	}
	ask := "Repair the upload of " + word + " for " + strings.Join(about, " ") + ", its key is export STRIPE_KEY=" + secret
	id := fmt.Sprintf("%08x-0000-4000-8000-%012x", m.dice.Uint32(), m.dice.Uint64()>>16)
	file := filepath.Join(m.home, strings.ReplaceAll(a.place, "ID", id))
	text := a.transcript(m, id, ask)
	switch a.name { // agents with the same names of events are distinguished by what else they send
	case "gemini", "qwen":
		a.mark = `,"timestamp":"2026-11-20T10:00:00.000Z"`
	case "cursor":
		a.mark = fmt.Sprintf(`,"conversation_id":%q,"generation_id":"g1","cursor_version":"2.9","workspace_roots":[%q]`, id, filepath.Join(m.home, "src", "app"))
	}
	event := func(name, more string) string {
		more += a.mark
		return fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":%q,"hook_event_name":%q%s}`, id, file, filepath.Join(m.home, "src", "app"), name, more)
	}
	m.command(event(a.start, `,"source":"startup"`), nil, "hook", a.name, a.start)
	m.command(event(a.prompt, fmt.Sprintf(`,"prompt":%q`, ask)), nil, "hook", a.name, a.prompt)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		m.t.Fatal(err)
	}
	trouble := m.trouble()
	if _, ok := m.command(event(a.end, `,"reason":"exit"`), trouble, "hook", a.name, a.end); ok && len(trouble) == 0 {
		m.words[word] = &weekWord{how: "session " + id + " of " + a.name + " on " + m.name, note: word}
	}
}

// A weekAgent is an agent, one of its sessions in our fixtures, where its files stand,
// its names for three events, and what marks them as its own.
type weekAgent struct{ name, fixture, place, start, prompt, end, mark string }

// transcript is the file of a session in which the user asks for something.
func (a weekAgent) transcript(m *weekMachine, id, ask string) string {
	dir := filepath.Join(m.home, "src", "app")
	if a.fixture == "" {
		return fmt.Sprintf(`{"type":"user","sessionId":%[1]q,"cwd":%[2]q,"timestamp":"2026-11-20T10:00:00Z","uuid":"u%[1]s","message":{"role":"user","content":%[3]q}}
{"type":"assistant","sessionId":%[1]q,"timestamp":"2026-11-20T10:01:00Z","uuid":"a%[1]s","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make upload"}}]}}
{"type":"user","sessionId":%[1]q,"timestamp":"2026-11-20T10:02:00Z","uuid":"b%[1]s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}
{"type":"assistant","sessionId":%[1]q,"timestamp":"2026-11-20T10:03:00Z","uuid":"c%[1]s","message":{"role":"assistant","content":[{"type":"text","text":"The upload is repaired and was tried."}]}}
{"type":"user","sessionId":%[1]q,"cwd":%[2]q,"timestamp":"2026-11-20T10:04:00Z","uuid":"d%[1]s","message":{"role":"user","content":"Now write the test for it."}}
{"type":"assistant","sessionId":%[1]q,"timestamp":"2026-11-20T10:05:00Z","uuid":"e%[1]s","message":{"role":"assistant","content":[{"type":"text","text":"The test is written and passes."}]}}
`, id, dir, ask)
	}
	data, err := os.ReadFile(filepath.Join("..", "agent", "testdata", a.name, a.fixture))
	if err != nil {
		m.t.Fatal(err)
	}
	text := weekIDs.ReplaceAllStringFunc(string(data), func(was string) string {
		if strings.Contains(a.fixture, was) || strings.HasPrefix(was, "5a5e0000") {
			return id
		}
		return id[:8] + was[8:] // records of one session do not stand in another
	})
	return strings.NewReplacer("Round the VAT per line, order 48213 is off by a cent.", ask, "/home/ada/src/storefront", dir,
		`"id": "`+id, `"id": "`+id, `"id":"`+id, `"id":"`+id, `"id": "`, `"id": "`+id[:8], `"id":"`, `"id":"`+id[:8]).Replace(text)
}

var _ store.Disk = fullDisk{}
