package cli

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	"sync"
	"time"
	"unicode"
	"unicode/utf16"

	"anamnesis/internal/app"
	"anamnesis/internal/recall"
	"anamnesis/internal/upgrade/upgradetest"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tailscale/hujson"
)

// scriptCommands are the commands of scripts besides testscript's own.
var scriptCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"exits":      cmdExits,
	"json":       cmdJSON,
	"release":    cmdRelease,
	"clean":      cmdClean,
	"ids":        cmdIDs,
	"count":      cmdCount,
	"bytes":      cmdBytes,
	"expand":     cmdExpand,
	"event":      cmdEvent,
	"session":    cmdSession,
	"waitspool":  cmdWaitSpool,
	"waitidle":   cmdWaitIdle,
	"lock":       cmdLock,
	"unlock":     cmdUnlock,
	"deadlock":   cmdDeadLock,
	"mkdb":       cmdMakeDB,
	"fill":       cmdFill,
	"cut":        cmdCut,
	"append":     cmdAppend,
	"mode":       cmdMode,
	"readonly":   cmdReadOnly,
	"onlylines":  cmdOnlyLines,
	"units":      cmdUnits,
	"within":     cmdWithin,
	"eventually": cmdEventually,
	"openpipe":   cmdOpenPipe,
	"notes":      cmdNotes,
	"log":        cmdLog,
	"together":   cmdTogether,
	"gathered":   cmdGathered,
	"interrupt":  cmdInterrupt,
	"busyindex":  cmdBusyIndex,
	"idleindex":  cmdIdleIndex,
	"soleindex":  cmdSoleIndex,
	"torn":       cmdTorn,
	"oldindex":   cmdOldIndex,
	"edit":       cmdEdit,
	"islink":     cmdIsLink,
	"refused":    cmdRefused,
	"roundtrip":  cmdRoundTrip,
	"dropindex":  cmdDropIndex,
	"install":    cmdInstall,
	"echoed":     cmdEchoed,
	"model":      cmdModel,
	"localmodel": cmdLocalModel,
	"serveplain": cmdServePlain,
	"undo":       cmdUndo,
	"onlytext":   cmdOnlyText,
	"bounded":    cmdBounded,
	"keep":       cmdKeep,
	"unreadable": cmdUnreadable,
}

func need(ts *testscript.TestScript, ok bool, use string) {
	if !ok {
		ts.Fatalf("usage: %s", use)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// exits CODE PROGRAM ARG... runs a program and checks its exit code, and that
// it did not crash. A program that failed says nothing on standard output and
// something on standard error; -out in front allows output.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	out := len(args) > 0 && args[0] == "-out"
	if out {
		args = args[1:]
	}
	need(ts, !neg && len(args) > 1, "exits [-out] CODE PROGRAM ARG...")
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if want := number(ts, args[0]); code != want {
		ts.Fatalf("%s exited with %d, want %d\n%s", strings.Join(args[1:], " "), code, want, stderr)
	}
	if strings.Contains(stderr, "panic:") || strings.Contains(stderr, "goroutine ") {
		ts.Fatalf("it crashed:\n%s", stderr)
	}
	if code != 0 && !out && stdout != "" {
		ts.Fatalf("it failed and wrote to standard output:\n%s", stdout)
	}
	if code != 0 && code != 3 && code != 4 && code != 5 && stderr == "" {
		ts.Fatalf("it failed and said nothing")
	}
}

// names gives ids the names ID1, ID2 … in the order in which a script meets them.
type names struct {
	work  string
	ids   []string
	begun []*begun

	release *upgradetest.Release
}

type namesKey struct{}

// a begun program is one that "together" started.
type begun struct {
	cmd       *exec.Cmd
	out, diag bytes.Buffer
}

var held sync.Map // path → *flock.Flock: the locks that scripts hold

var (
	ulidPattern = regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`)
	timePattern = regexp.MustCompile(`\b(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)?)?\b?`)
	tookPattern = regexp.MustCompile(`\b\d+(?:\.\d+)? (?:µs|ms|s)\b`)
	keyPattern  = regexp.MustCompile(`"(ms|took_ms|event_bytes|index_bytes)": [0-9.e+-]+`)
	costPattern = regexp.MustCompile(`"tokens": [1-9]\d*`) // of an answer in which the path stands
	longPattern = regexp.MustCompile(`(\d+\.\d\d)\d{4,}`)  // the last digits differ between processors
	hashPattern = regexp.MustCompile(`(import_hash: )[0-9a-f]{16}`)
	headPattern = regexp.MustCompile(`(at |"head": ")[0-9a-f]{7,40}`)
)

// normal replaces what differs from run to run: ids, times of today, durations,
// commits and the folder of the script.
func normal(ts *testscript.TestScript, text string) string {
	n := ts.Value(namesKey{}).(*names)
	text = strings.ReplaceAll(text, n.work, "$WORK")
	text = wholeIDs(ts, text)
	text = ulidPattern.ReplaceAllStringFunc(text, func(id string) string {
		at := slices.Index(n.ids, id)
		if at < 0 {
			at = len(n.ids)
			n.ids = append(n.ids, id)
		}
		return fmt.Sprintf("<ID%d>", at+1)
	})
	text = timePattern.ReplaceAllStringFunc(text, func(s string) string {
		day, err := time.Parse("2006-01-02", s[:10])
		if age := time.Since(day); err != nil || age < -24*time.Hour || age > 72*time.Hour {
			return s
		}
		if len(s) == 10 {
			return "<DAY>"
		}
		return "<TIME>"
	})
	text = tookPattern.ReplaceAllString(text, "<TOOK>")
	text = keyPattern.ReplaceAllString(text, `"$1": 0`)
	text = costPattern.ReplaceAllString(text, `"tokens": 1`)
	text = longPattern.ReplaceAllString(text, "${1}…")
	text = vouchedPattern.ReplaceAllString(text, "${1}<WORDS>")
	text = hashPattern.ReplaceAllString(text, "${1}<HASH>") // of a text in which paths stand
	return headPattern.ReplaceAllString(text, "${1}<HEAD>")
}

// vouchedPattern finds the hash of the words that a person vouches for: the id is in it.
var vouchedPattern = regexp.MustCompile(`(vouched: )'?[0-9a-f]{32}'?`)

// endPattern finds what may be the end of an id, as lists show it.
var endPattern = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{4,12}\b`)

// wholeIDs puts the whole id in the place of each end that names one note of the
// script's stores, so that outputs can be compared.
func wholeIDs(ts *testscript.TestScript, text string) string {
	ids := make(map[string]bool)
	_ = filepath.WalkDir(workOf(ts), func(path string, d fs.DirEntry, err error) error {
		if id := strings.TrimSuffix(filepath.Base(path), ".md"); err == nil && ulidPattern.MatchString(id) {
			ids[id] = true
		}
		return nil
	})
	return endPattern.ReplaceAllStringFunc(text, func(end string) string {
		whole := ""
		for id := range ids {
			if strings.HasSuffix(id, end) {
				if whole != "" {
					return end
				}
				whole = id
			}
		}
		return cmp.Or(whole, end)
	})
}

// json COMMAND FILE writes the last output to FILE, made comparable. It must be
// one JSON object of the present schema, made by COMMAND, and end in a line feed.
func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "json COMMAND FILE")
	out := ts.ReadFile("stdout")
	dec := json.NewDecoder(strings.NewReader(out))
	var v map[string]any
	ts.Check(dec.Decode(&v))
	if _, err := dec.Token(); !errors.Is(err, io.EOF) || !strings.HasSuffix(out, "}\n") {
		ts.Fatalf("more than one JSON object:\n%s", out)
	}
	if v["schema_version"] != float64(schemaVersion) || v["command"] != args[0] {
		ts.Fatalf("schema_version %v, command %v", v["schema_version"], v["command"])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(normal(ts, out)), 0o600))
}

// clean FROM TO writes a text (a file, stdout or stderr) to a file, made comparable.
func cmdClean(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "clean FROM TO")
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(normal(ts, ts.ReadFile(args[0]))), 0o600))
}

// ids [VAR [FILE]] sets ID1, ID2 … to the ids in the last output, or VAR to the first
// (or of a file). ID1_END and VAR_END are the ends that lists show.
func cmdIDs(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) < 3, "ids [VAR [FILE]]")
	from := "stdout"
	if len(args) == 2 {
		from = args[1]
	}
	found := ulidPattern.FindAllString(wholeIDs(ts, ts.ReadFile(from)), -1)
	if len(found) == 0 {
		ts.Fatalf("no id in the output")
	}
	if len(args) > 0 {
		ts.Setenv(args[0], found[0])
		ts.Setenv(args[0]+"_END", found[0][len(found[0])-app.MinPrefix:])
		return
	}
	for i, id := range slices.Compact(found) {
		ts.Setenv(fmt.Sprintf("ID%d", i+1), id)
		ts.Setenv(fmt.Sprintf("ID%d_END", i+1), id[len(id)-app.MinPrefix:])
	}
}

// count N PATTERN... checks how many files match.
func cmdCount(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "count N PATTERN...")
	var all []string
	for _, p := range args[1:] {
		found, err := filepath.Glob(ts.MkAbs(p))
		ts.Check(err)
		all = append(all, found...)
	}
	if len(all) != number(ts, args[0]) {
		ts.Fatalf("%d files, want %s: %v", len(all), args[0], all)
	}
}

// expand FILE... replaces $NAME by the variables of the script. In file names
// of shell redirections and in JSON this is what testscript does for commands.
func cmdExpand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "expand FILE...")
	for _, name := range args {
		text := os.Expand(ts.ReadFile(name), func(v string) string {
			if value := ts.Getenv(v); value != "" {
				return value
			}
			return "$" + v
		})
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

func options(ts *testscript.TestScript, args []string) map[string]string {
	o := make(map[string]string)
	for _, a := range args {
		key, value, ok := strings.Cut(a, "=")
		if !ok {
			ts.Fatalf("%q is not KEY=VALUE", a)
		}
		o[key] = value
	}
	return o
}

// event FILE NAME [KEY=VALUE]... writes the payload that Claude Code sends with
// an event. session and transcript are short for session_id and transcript_path.
func cmdEvent(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "event FILE NAME [KEY=VALUE]...")
	payload := map[string]string{"hook_event_name": args[1]}
	long := map[string]string{"session": "session_id", "transcript": "transcript_path"}
	for key, value := range options(ts, args[2:]) {
		if l := long[key]; l != "" {
			key = l
		}
		payload[key] = value
	}
	data, err := json.Marshal(payload)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// session FILE [KEY=VALUE]... writes a transcript in the shape of Claude Code's.
// Keys: id, cwd, branch, prompt, outcome, edit (files, separated by commas),
// start (a time), turns (more exchanges in between), entrypoint (sdk-cli for a
// program that asks), run (a command that passes; "make check" where nothing is edited).
func cmdSession(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "session FILE [KEY=VALUE]...")
	o := options(ts, args[1:])
	def := func(key, value string) {
		if _, ok := o[key]; !ok {
			o[key] = value
		}
	}
	def("id", "5e55105e-0000-4000-8000-000000000001")
	def("cwd", ts.Getenv("PROJECT"))
	def("prompt", "Fix the rounding of the tax in the cart")
	def("outcome", "The tax is rounded once now, at the end; the tests of the cart pass.")
	def("start", "2026-03-17T14:30:00Z")
	if o["edit"] == "" && o["entrypoint"] == "" && o["prompt"] != "" && o["outcome"] != "" { // a question and its answer alone make no note
		def("run", "make check")
	}
	at, err := time.Parse(time.RFC3339, o["start"])
	ts.Check(err)
	var out bytes.Buffer
	n := 0
	record := func(kind string, content any) {
		n++
		at = at.Add(10 * time.Second)
		r := map[string]any{
			"parentUuid": nil, "isSidechain": false, "userType": "external", "cwd": o["cwd"], "sessionId": o["id"], "version": "2.1.14",
			"gitBranch": o["branch"], "type": kind, "uuid": fmt.Sprintf("%s-%d", o["id"], n), "timestamp": at.Format("2006-01-02T15:04:05.000Z"),
			"message": map[string]any{"role": kind, "content": content},
		}
		if o["entrypoint"] != "" {
			r["entrypoint"] = o["entrypoint"]
		}
		data, err := json.Marshal(r)
		ts.Check(err)
		out.Write(append(data, '\n'))
	}
	text := func(s string) []any { return []any{map[string]any{"type": "text", "text": s}} }
	out.WriteString(`{"type":"file-history-snapshot","messageId":"c0d2","snapshot":{},"isSnapshotUpdate":false}` + "\n")
	if o["prompt"] != "" {
		record("user", o["prompt"])
	}
	for i := range number(ts, "0"+o["turns"]) {
		record("assistant", text(fmt.Sprintf("Step %d is done.", i)))
		record("user", fmt.Sprintf("Go on with step %d.", i+1))
	}
	for i, file := range strings.Split(o["edit"], ",") {
		if file == "" {
			continue
		}
		record("assistant", []any{map[string]any{
			"type": "tool_use", "id": fmt.Sprintf("toolu_%d", i), "name": "Edit",
			"input": map[string]any{"file_path": file, "old_string": "a", "new_string": "b"},
		}})
		record("user", []any{map[string]any{"type": "tool_result", "tool_use_id": fmt.Sprintf("toolu_%d", i), "content": "The file was updated."}})
	}
	if o["run"] != "" {
		record("assistant", []any{map[string]any{"type": "tool_use", "id": "toolu_run", "name": "Bash", "input": map[string]any{"command": o["run"]}}})
		record("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "toolu_run", "content": "ok"}})
	}
	if o["outcome"] != "" {
		record("assistant", text(o["outcome"]))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

func workOf(ts *testscript.TestScript) string { return ts.Value(namesKey{}).(*names).work }

// waitidle waits until no background run is left.
func cmdWaitIdle(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "waitidle")
	if left := waitForChildren(workOf(ts), idleTime); len(left) > 0 {
		ts.Fatalf("still running after %v: %v", idleTime, left)
	}
}

// waitspool waits until no background run is left, and the spool is empty.
func cmdWaitSpool(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "waitspool")
	jobs := func() []string {
		found, _ := filepath.Glob(filepath.Join(storeOf(ts), "spool", "*.json"))
		return found
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		cmdWaitIdle(ts, false, nil)
		if len(jobs()) == 0 {
			return
		}
		if time.Since(began) > 10*time.Second { // nobody is left to work on them
			ts.Fatalf("jobs wait in the spool, and nobody is at work: %v", jobs())
		}
	}
}

func storeOf(ts *testscript.TestScript) string {
	if home := ts.Getenv("ANAMNESIS_HOME"); home != "" {
		return home
	}
	return ts.Getenv("STORE")
}

// lock NAME takes a lock of the store (store, sync, drain) for the test, until
// unlock NAME or the end of the script.
func cmdLock(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "lock NAME")
	ts.Check(os.MkdirAll(storeOf(ts), 0o700))
	l := flock.New(filepath.Join(storeOf(ts), args[0]+".lock"))
	ok, err := l.TryLock()
	ts.Check(err)
	if !ok {
		ts.Fatalf("somebody holds %s", l.Path())
	}
	held.Store(l.Path(), l)
	ts.Defer(func() { _ = l.Unlock() })
}

func cmdUnlock(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "unlock NAME")
	l, ok := held.Load(filepath.Join(storeOf(ts), args[0]+".lock"))
	if !ok {
		ts.Fatalf("not locked")
	}
	ts.Check(l.(*flock.Flock).Unlock())
}

// deadlock NAME leaves a lock file whose holder was killed.
func cmdDeadLock(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "deadlock NAME")
	holder, err := exec.LookPath("lockholder")
	ts.Check(err)
	ts.Check(os.MkdirAll(storeOf(ts), 0o700))
	cmd := exec.Command(holder, filepath.Join(storeOf(ts), args[0]+".lock"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	_, err = io.ReadFull(out, make([]byte, 1)) // it has the lock
	ts.Check(errors.Join(err, cmd.Process.Kill()))
	_ = cmd.Wait()
}

// lockHolder is a program that takes a lock and never lets go.
func lockHolder() {
	if ok, err := flock.New(os.Args[1]).TryLock(); !ok || err != nil {
		fmt.Fprintln(os.Stderr, "not locked:", err)
		os.Exit(1)
	}
	fmt.Print("!")
	time.Sleep(time.Minute)
}

// mkdb KIND FILE makes an index file of somebody else: of the program before
// this one (v3), of a later version of ours (newer), with tables missing (bare).
func cmdMakeDB(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "mkdb KIND FILE")
	path := ts.MkAbs(args[1])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := sql.Open("sqlite", path)
	ts.Check(err)
	defer db.Close()
	run := func(query string) {
		_, err := db.ExecContext(context.Background(), query)
		ts.Check(err)
	}
	switch args[0] {
	case "v3":
		run(`PRAGMA journal_mode=WAL; PRAGMA user_version=3;
			CREATE TABLE memories (id TEXT PRIMARY KEY, type TEXT NOT NULL CHECK (type IN ('procedural', 'semantic', 'episodic')), title TEXT NOT NULL,
				body_path TEXT NOT NULL, project TEXT NOT NULL DEFAULT 'global', machine_id TEXT NOT NULL, scope TEXT NOT NULL DEFAULT 'portable',
				user_id TEXT NOT NULL DEFAULT 'self', workspace_id TEXT NOT NULL DEFAULT 'personal', created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
				prov_source TEXT NOT NULL DEFAULT 'human', prov_model TEXT, prov_session TEXT, confidence REAL NOT NULL DEFAULT 1.0);
			CREATE TABLE memory_tags (memory_id TEXT, tag TEXT, PRIMARY KEY (memory_id, tag));
			CREATE TABLE memory_supersedes (memory_id TEXT, superseded_id TEXT, PRIMARY KEY (memory_id, superseded_id));
			CREATE VIRTUAL TABLE memories_fts USING fts5(id UNINDEXED, title, body, tags, tokenize='porter unicode61');
			INSERT INTO memories (id, type, title, body_path, machine_id, created_at, updated_at)
				VALUES ('01OLD', 'semantic', 'Row of the old index', 'semantic/01OLD.md', 'studio', '2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00+00:00');`)
	case "newer":
		run("PRAGMA application_id=1095647565; PRAGMA user_version=99; CREATE TABLE future (x)")
	case "bare":
		run("PRAGMA application_id=1095647565; PRAGMA user_version=1")
	default:
		ts.Fatalf("unknown kind %s", args[0])
	}
}

// fill FILE BYTES [SEED] writes noise.
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "fill FILE BYTES")
	data := make([]byte, number(ts, args[1]))
	_, _ = rand.NewChaCha8([32]byte{1}).Read(data)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// cut FILE BYTES shortens a file; a negative number is taken off its end.
func cmdCut(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "cut FILE BYTES")
	size := int64(number(ts, args[1]))
	if size < 0 {
		fi, err := os.Stat(ts.MkAbs(args[0]))
		ts.Check(err)
		size += fi.Size()
	}
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// append FILE FROM [TIMES] adds one file to the end of another; a part of a line
// (FROM is named *.part) without its line feed.
func cmdAppend(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && (len(args) == 2 || len(args) == 3), "append FILE FROM [TIMES]")
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	ts.Check(err)
	times := 1
	if len(args) == 3 {
		times = number(ts, args[2])
	}
	text := ts.ReadFile(args[1])
	if strings.HasSuffix(args[1], ".part") {
		text = strings.TrimSuffix(text, "\n")
	}
	for range times {
		_, err := f.WriteString(text)
		ts.Check(err)
	}
	ts.Check(f.Close())
}

// mode OCTAL FILE checks the permissions of a file.
func cmdMode(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "mode OCTAL FILE")
	fi, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", fi.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// readonly FOLDER lets everybody read, and nobody write.
func cmdReadOnly(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "readonly FOLDER")
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o444)
		if d.IsDir() {
			mode = 0o555
		}
		return os.Chmod(path, mode)
	}))
}

// onlylines OLD NEW LINE... checks that two files differ in these lines only:
// each line that stands in one of them alone begins with one of LINE.
func cmdOnlyLines(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 2, "onlylines OLD NEW LINE...")
	before, after := strings.Split(ts.ReadFile(args[0]), "\n"), strings.Split(ts.ReadFile(args[1]), "\n")
	alone := func(from, in []string) {
		rest := slices.Clone(in)
		for _, line := range from {
			if at := slices.Index(rest, line); at >= 0 {
				rest = slices.Delete(rest, at, at+1)
				continue
			}
			if !slices.ContainsFunc(args[2:], func(p string) bool { return strings.HasPrefix(line, p) }) {
				ts.Fatalf("this line changed, too: %q", line)
			}
		}
	}
	alone(before, after)
	alone(after, before)
	if slices.Equal(before, after) {
		ts.Fatalf("nothing changed")
	}
}

// units MOST FILE checks the length of a text in UTF-16 code units.
func cmdUnits(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "units MOST FILE")
	n := 0
	for _, r := range ts.ReadFile(args[1]) {
		n += max(1, utf16.RuneLen(r))
	}
	if n > number(ts, args[0]) {
		ts.Fatalf("%d UTF-16 units, at most %s", n, args[0])
	}
}

// within DURATION PROGRAM ARG... runs a program that must succeed, and soon.
func cmdWithin(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "within DURATION PROGRAM ARG...")
	most, err := time.ParseDuration(args[0])
	ts.Check(err)
	began := time.Now()
	err = ts.Exec(args[1], args[2:]...)
	if took := time.Since(began); took > most {
		ts.Fatalf("took %v, at most %v", took, most)
	}
	ts.Check(err)
}

// eventually PATTERN PROGRAM ARG... runs a program until its output matches what
// a background run brings about.
func cmdEventually(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "eventually PATTERN PROGRAM ARG...")
	want := regexp.MustCompile("(?m)" + args[0])
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		out, err := command(ts, args[1], args[2:]...).Output()
		ts.Check(err)
		if want.Match(out) {
			_, _ = ts.Stdout().Write(out)
			return
		}
		if time.Since(began) > idleTime {
			ts.Fatalf("no match for %s in\n%s", args[0], out)
		}
	}
}

// command makes a child with the environment of the script.
func command(ts *testscript.TestScript, program string, args ...string) *exec.Cmd {
	if path, err := exec.LookPath(program); err == nil {
		program = path
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{
		"HOME", "PATH", "TMPDIR", "CLAUDE_CONFIG_DIR", "ANAMNESIS_MACHINE_ID", "ANAMNESIS_HOME", "ANAMNESIS_HOOK", "ANAMNESIS_PATIENCE", "TZ", "LC_ALL", "GORACE",
	} {
		if v := ts.Getenv(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	return cmd
}

// openpipe FILE PROGRAM ARG... runs a program with FILE on standard input, and
// leaves that open: the program must not wait for its end.
func cmdOpenPipe(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "openpipe FILE PROGRAM ARG...")
	cmd := command(ts, args[1], args[2:]...)
	in, err := cmd.StdinPipe()
	ts.Check(err)
	cmd.Stdout, cmd.Stderr = ts.Stdout(), ts.Stderr()
	ts.Check(cmd.Start())
	if args[0] != "-" {
		_, err = io.WriteString(in, ts.ReadFile(args[0]))
		ts.Check(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		in.Close()
		ts.Check(err)
	case <-time.After(idleTime):
		_ = cmd.Process.Kill()
		in.Close()
		<-done
		ts.Fatalf("it waits for the end of standard input")
	}
}

// notes N FOLDER [KEY=VALUE]... writes N notes; body and title may hold %d.
func cmdNotes(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 1, "notes N FOLDER [KEY=VALUE]...")
	o := options(ts, args[2:])
	ts.Check(os.MkdirAll(ts.MkAbs(args[1]), 0o700))
	repeat := max(1, number(ts, "0"+o["repeat"]))
	for i := range number(ts, args[0]) {
		title := strings.ReplaceAll(o["title"], "%d", strconv.Itoa(i))
		if o["titles"] != "" {
			title = strings.Repeat(title, number(ts, o["titles"]))
		}
		body := strings.Repeat(strings.ReplaceAll(o["body"], "%d", strconv.Itoa(i)), repeat)
		text := fmt.Sprintf("---\nid: note-%03d\ntype: semantic\ntitle: %s\nproject: %s\n---\n%s\n", i, title, o["project"], body)
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[1]), fmt.Sprintf("note-%03d.md", i)), []byte(text), 0o600))
	}
}

// log FILE copies the event log of all months to FILE.
func cmdLog(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "log FILE")
	months, err := filepath.Glob(filepath.Join(storeOf(ts), "events", "2*.jsonl"))
	ts.Check(err)
	var all []byte
	for _, m := range months {
		all = append(all, ts.ReadFile(m)...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o600))
}

// echoed FILE BLOCK [PROMPT OUTCOME] writes a transcript in which a block of
// ours stands wherever an agent may put it: as a reminder before the prompt, as
// an attachment, as the result of a tool, and in the model's own words.
func cmdEchoed(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && (len(args) == 2 || len(args) == 4), "echoed FILE BLOCK [PROMPT OUTCOME]")
	block, prompt, outcome := ts.ReadFile(args[1]), "", ""
	if len(args) == 4 {
		prompt, outcome = args[2], args[3]
	}
	var out bytes.Buffer
	record := func(kind string, more map[string]any) {
		r := map[string]any{"type": kind, "sessionId": "echo", "cwd": ts.Getenv("PROJECT"), "timestamp": "2026-05-01T10:00:00.000Z"}
		maps.Copy(r, more)
		data, err := json.Marshal(r)
		ts.Check(err)
		out.Write(append(data, '\n'))
	}
	said := func(kind string, content any) {
		record(kind, map[string]any{"message": map[string]any{"role": kind, "content": content}})
	}
	record("attachment", map[string]any{"attachment": map[string]any{"type": "hook_success", "hookName": "SessionStart:startup", "content": block, "stdout": block}})
	record("system", map[string]any{"subtype": "informational", "content": "SessionStart:startup hook success: " + block})
	said("user", "<system-reminder>\nSessionStart:startup hook success: "+block+"\n</system-reminder>")
	said("user", block+prompt)
	said("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": block}})
	said("assistant", []any{map[string]any{"type": "text", "text": block + outcome}})
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), out.Bytes(), 0o600))
}

// dropindex deletes what is derived.
func cmdDropIndex(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "dropindex")
	found, err := filepath.Glob(filepath.Join(storeOf(ts), "index*"))
	ts.Check(err)
	for _, f := range found {
		ts.Check(os.RemoveAll(f))
	}
}

// install FOLDER puts the program into a folder, as a link that keeps its name.
func cmdInstall(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "install FOLDER")
	exe, err := exec.LookPath("anamnesis")
	ts.Check(err)
	ts.Check(os.Symlink(exe, filepath.Join(ts.MkAbs(args[0]), "anamnesis")))
}

// edit FILE OLD NEW replaces a text in a file.
func cmdEdit(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "edit FILE OLD NEW")
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o600))
}

// islink FILE checks that a file is a symbolic link.
func cmdIsLink(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "islink FILE")
	fi, err := os.Lstat(ts.MkAbs(args[0]))
	ts.Check(err)
	if fi.Mode()&fs.ModeSymlink == 0 {
		ts.Fatalf("%s is no link any more", args[0])
	}
}

// someProgram is what init is asked to put into hooks.
const someProgram = "/opt/anamnesis/anamnesis"

// putSettings makes a file Claude Code's settings, in a separate folder.
func putSettings(ts *testscript.TestScript, name string) (path string) {
	path = filepath.Join(ts.Getenv("CLAUDE_CONFIG_DIR"), "settings.json")
	ts.Check(errors.Join(os.RemoveAll(filepath.Dir(path)), os.MkdirAll(filepath.Dir(path), 0o700)))
	ts.Check(os.WriteFile(path, []byte(ts.ReadFile(name)), 0o600))
	return path
}

// roundtrip FILE installs into a settings file and takes it back, in each way:
// at once, after a second init, and without the record of what init did.
func cmdRoundTrip(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "roundtrip FILE")
	before := ts.ReadFile(args[0])
	for _, way := range []string{"at once", "twice", "without the record"} {
		path := putSettings(ts, args[0])
		cmdExits(ts, false, []string{"0", "anamnesis", "init", "--yes", "--no-sync", "--command", someProgram})
		with := ts.ReadFile(path)
		if _, err := hujson.Standardize([]byte(with)); err != nil || strings.Count(with, "ANAMNESIS_HOOK=1") != 10 {
			ts.Fatalf("%s: our hooks are not in it:\n%s", way, with)
		}
		switch way {
		case "twice":
			cmdExits(ts, false, []string{"0", "anamnesis", "init", "--yes", "--no-sync", "--command", someProgram})
			if again := ts.ReadFile(path); again != with {
				ts.Fatalf("the second init changed it:\n%s", again)
			}
		case "without the record":
			ts.Check(os.Remove(filepath.Join(storeOf(ts), "installed.json")))
		}
		cmdExits(ts, false, []string{"0", "anamnesis", "uninstall"})
		after := ts.ReadFile(path)
		if after != before && !(strings.TrimSpace(before) == "" && way == "without the record") {
			ts.Fatalf("%s: what came back is not what was there:\n%q\n%q", way, before, after)
		}
	}
	ts.Check(os.RemoveAll(ts.Getenv("CLAUDE_CONFIG_DIR")))
	ts.Check(os.RemoveAll(storeOf(ts)))
}

// refused FILE checks that init and uninstall leave a settings file alone, that
// init names it, and that nothing else was done either.
func cmdRefused(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "refused FILE")
	path := putSettings(ts, args[0])
	cmdExits(ts, false, []string{"1", "anamnesis", "init", "--yes", "--command", someProgram})
	said := ts.ReadFile("stderr")
	if !strings.Contains(said, "refusing to run; "+path+" is not valid JSON") || !strings.Contains(said, "fix it and re-run") {
		ts.Fatalf("it does not name the file and the next step: %s", said)
	}
	if ts.ReadFile(path) != ts.ReadFile(args[0]) {
		ts.Fatalf("it was changed")
	}
	found, err := filepath.Glob(filepath.Dir(path) + "/*")
	ts.Check(err)
	if _, err := os.Stat(storeOf(ts)); err == nil || len(found) != 1 {
		ts.Fatalf("something was done: store %v, settings %v", err == nil, found)
	}
	ts.Check(os.Remove(path))
}

// oldindex prints how many notes the index holds that was set aside.
func cmdOldIndex(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "oldindex")
	found, err := filepath.Glob(filepath.Join(storeOf(ts), "index.db.foreign-*[0-9]"))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%d indexes were set aside: %v", len(found), found)
	}
	db, err := sql.Open("sqlite", found[0])
	ts.Check(err)
	defer db.Close()
	var n int
	ts.Check(db.QueryRowContext(context.Background(), "SELECT count(*) FROM memories JOIN pragma_user_version ON user_version = 3").Scan(&n))
	fmt.Fprintln(ts.Stdout(), n)
}

// together PROGRAM ARG... starts a program and goes on; gathered CODE waits for
// all of them, and checks that each exited with CODE.
func cmdTogether(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "together PROGRAM ARG...")
	b := &begun{cmd: command(ts, args[0], args[1:]...)}
	b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.diag
	ts.Check(b.cmd.Start())
	n := ts.Value(namesKey{}).(*names)
	n.begun = append(n.begun, b)
	ts.Defer(func() {
		if b.cmd.ProcessState == nil {
			_ = b.cmd.Process.Kill()
			_ = b.cmd.Wait()
		}
	})
}

// interrupt presses Control-C for them, when they have begun to wait for a lock.
func cmdInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "interrupt")
	for _, b := range ts.Value(namesKey{}).(*names).begun {
		for began := time.Now(); !hasLockOpen(b.cmd.Process.Pid); time.Sleep(100 * time.Microsecond) {
			if time.Since(began) > idleTime {
				ts.Fatalf("%v does not wait for a lock", b.cmd.Args[1:])
			}
		}
		ts.Check(b.cmd.Process.Signal(os.Interrupt))
	}
}

// hasLockOpen reports whether a process has a lock file open, which who waits
// for one opens again at every try. Where nobody
// can tell it says so after half a second.
func hasLockOpen(pid int) bool {
	if runtime.GOOS != "linux" {
		time.Sleep(500 * time.Millisecond)
		return true
	}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return slices.ContainsFunc(links, func(link string) bool {
		name, err := os.Readlink(link)
		return err == nil && strings.HasSuffix(name, ".lock")
	})
}

func cmdGathered(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "gathered CODE")
	n := ts.Value(namesKey{}).(*names)
	for _, b := range n.begun {
		_ = b.cmd.Wait()
		_, _ = ts.Stdout().Write(b.out.Bytes())
		_, _ = ts.Stderr().Write(b.diag.Bytes())
		if code := b.cmd.ProcessState.ExitCode(); code != number(ts, args[0]) {
			ts.Fatalf("%v exited with %d, want %s\n%s%s", b.cmd.Args[1:], code, args[0], b.out.String(), b.diag.String())
		}
	}
	n.begun = nil
}

// busyindex writes the index, and does not come to an end before idleindex.
func cmdBusyIndex(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "busyindex")
	db, err := sql.Open("sqlite", filepath.Join(storeOf(ts), "index.db"))
	ts.Check(err)
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(context.Background(), "BEGIN IMMEDIATE")
	ts.Check(err)
	held.Store(storeOf(ts)+"/index.db", db)
	ts.Defer(func() { _ = db.Close() })
}

// soleindex DURATION has the index for itself for so long, as the last process
// that closes it has while it folds the journal: nobody else can open it.
func cmdSoleIndex(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "soleindex DURATION")
	long, err := time.ParseDuration(args[0])
	ts.Check(err)
	db, err := sql.Open("sqlite", filepath.Join(storeOf(ts), "index.db")+"?_pragma=busy_timeout(5000)&_pragma=locking_mode(EXCLUSIVE)")
	ts.Check(err)
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(context.Background(), "BEGIN EXCLUSIVE; ROLLBACK")
	ts.Check(err)
	closed := make(chan struct{})
	time.AfterFunc(long, func() { _ = db.Close(); close(closed) })
	ts.Defer(func() { <-closed })
}

func cmdIdleIndex(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "idleindex")
	db, _ := held.Load(storeOf(ts) + "/index.db")
	_, err := db.(*sql.DB).ExecContext(context.Background(), "ROLLBACK")
	ts.Check(errors.Join(err, db.(*sql.DB).Close()))
}

// torn leaves half a line at the end of the event log, as a crash does.
func cmdTorn(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 0, "torn")
	months, _ := filepath.Glob(filepath.Join(storeOf(ts), "events", "2*.jsonl"))
	need(ts, len(months) > 0, "torn, when something was logged")
	f, err := os.OpenFile(months[len(months)-1], os.O_WRONLY|os.O_APPEND, 0o600)
	ts.Check(err)
	_, err = f.WriteString(`{"v":1,"id":"01K`)
	ts.Check(errors.Join(err, f.Close()))
}

// onlytext PROGRAM ARG... runs a command, whatever its exit code, and checks that
// nothing in what it prints could move a terminal's cursor or be obeyed by it.
func cmdOnlyText(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "onlytext PROGRAM ARG...")
	out, err := command(ts, args[0], args[1:]...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	if i := strings.IndexFunc(string(out), func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
		ts.Fatalf("%q holds a control character:\n%q", args, out[max(0, i-60):min(len(out), i+60)])
	}
}

// bounded N checks that the last output costs at most N tokens, of four characters each.
func cmdBounded(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 1, "bounded N")
	if got := recall.Tokens(ts.ReadFile("stdout")); got > number(ts, args[0]) != neg {
		ts.Fatalf("the output costs %d tokens, the bound is %s", got, args[0])
	}
}
