package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/index/sqlite"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// The teams of the soak: a word that only their notes hold, and their workspaces.
var soakTeams = map[string]string{
	"kumquat": "6b0c1b1e-0000-4000-8000-0000000000a1",
	"durian":  "6b0c1b1e-0000-4000-8000-0000000000b2",
}

const soakClients = 16 // in turns of both teams

// A soakRun is a server with two teams, and what clients and the server did.
type soakRun struct {
	t       *testing.T
	work    string
	cluster *postgrestest.Cluster
	dsn     string // of its administrator
	clients []*soakClient
	ends    atomic.Int64 // of the server
	kills   atomic.Int64 // of clients and their background runs
}

// A soakClient is a machine: processes of the program on a separate store.
type soakClient struct {
	*soakRun
	name, tag, home, dsn string
	dice                 *rand.Rand

	notes  map[string]*soakNote // by id, that were acknowledged
	titles map[string]bool      // that it tried to write
	done   atomic.Int64         // commands that were acknowledged
}

// A soakNote is what is known of a note that was acknowledged.
type soakNote struct {
	bodies    []string // the last one that was acknowledged, and those that were tried since
	gone      bool     // that it was forgotten was acknowledged
	maybeGone bool     // somebody tried to forget it
}

// TestTeamSoak lets sixteen machines of two teams write and ask while processes of theirs
// and the server are killed. Nothing that was acknowledged is lost, by the program or by
// the server, nothing gets from one team to the other, no machine takes itself for a copy
// of another one, and in the end every mirror is what the server has.
func TestTeamSoak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found by /proc")
	}
	last := 20 * time.Second
	switch {
	case testing.Short():
		last = 8 * time.Second
	case os.Getenv("ANAMNESIS_CI") != "" || os.Getenv("ANAMNESIS_SOAK") != "":
		last = time.Minute
	}
	cluster := postgrestest.Own(t)
	s := newSoak(t, cluster, cluster.Database(t), soakClients)
	stop := make(chan struct{})
	var clients, killers sync.WaitGroup
	for _, c := range s.clients {
		clients.Go(func() { c.write(stop) })
	}
	killers.Go(func() { s.killRuns(stop) })
	killers.Go(func() { s.endServer(stop) })
	s.waitUntilBusy(last)
	close(stop)
	clients.Wait()
	killers.Wait()
	if left := waitForChildren(s.work, idleTime); len(left) > 0 {
		t.Fatalf("background runs do not end: %v", left)
	}
	for range 2 { // all send, then all take in
		for _, c := range s.clients {
			c.drain()
		}
	}
	if left := waitForChildren(s.work, idleTime); len(left) > 0 {
		t.Fatalf("background runs do not end: %v", left)
	}
	s.check()
}

// TestTeamFullDisk fills the disk of the server under machines that share: a command says
// so, nothing is lost here, questions are answered, and what waits goes when there is room.
func TestTeamFullDisk(t *testing.T) {
	cluster := postgrestest.Tiny(t)
	s := newSoak(t, cluster, cluster.TinyDatabase(t), 3)
	writer, reader := s.clients[0], s.clients[2] // of one team
	must := func(c *soakClient, args ...string) string {
		t.Helper()
		out, ok := c.command(time.Minute, args...)
		if !ok {
			t.Fatalf("%v: %s", args, out)
		}
		return out
	}
	must(writer, "add", "--project", "shop", "--title", "The first "+writer.tag, "--body", "There was room.")
	writer.drain()
	reader.drain()
	must(reader, "search", "--project", "shop", "the first "+writer.tag)
	waitForChildren(s.work, idleTime)
	cluster.Fill(t)
	noise := make([]byte, 10_000)
	r := rand.NewChaCha8([32]byte{1})
	for i := range 10 {
		_, _ = r.Read(noise)
		title := fmt.Sprintf("The %s number %d", writer.tag, i)
		must(writer, "add", "--project", "shop", "--title", title, "--body", hex.EncodeToString(noise))
	}
	waitForChildren(s.work, idleTime)
	out, ok := writer.command(time.Minute, "share", "--again")
	if ok || !strings.Contains(out, "the disk of the database server is full") || strings.Contains(out, "postgres://") {
		t.Errorf("a full disk: %v, %s", ok, out)
	}
	if out := must(writer, "search", "--project", "shop", fmt.Sprintf("the %s number 7", writer.tag)); !strings.Contains(out, "number 7") {
		t.Errorf("the machine itself does not find it: %s", out)
	}
	if out := must(reader, "search", "--project", "shop", "the first "+writer.tag); !strings.Contains(out, "shared by") {
		t.Errorf("others do not find what was there: %s", out)
	}
	cluster.Room(t)
	writer.drain()
	reader.drain()
	got, shared := reader.mirror(), 0
	for place := range got {
		if strings.HasPrefix(place, writer.name+"/") {
			shared++
		}
	}
	if shared != 11 {
		t.Errorf("others know %d notes, want 11", shared)
	}
}

func newSoak(t *testing.T, cluster *postgrestest.Cluster, dsn string, clients int) *soakRun {
	t.Helper()
	s := &soakRun{t: t, work: t.TempDir(), cluster: cluster, dsn: dsn}
	t.Cleanup(func() { waitForChildren(s.work, idleTime) })
	if _, err := schema.Migrate(t.Context(), s.dsn, schema.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	for tag, workspace := range soakTeams {
		if _, err := schema.CreateWorkspace(t.Context(), s.dsn, workspace, tag, "postgres"); err != nil {
			t.Fatal(err)
		}
	}
	tags := slices.Sorted(maps.Keys(soakTeams))
	for i := range clients {
		c := &soakClient{
			soakRun: s, name: fmt.Sprintf("m%02d", i), tag: tags[i%len(tags)], dice: rand.New(rand.NewPCG(uint64(i), 7)),
			notes: make(map[string]*soakNote), titles: make(map[string]bool),
		}
		c.home = filepath.Join(s.work, c.name)
		if err := os.MkdirAll(c.home, 0o755); err != nil {
			t.Fatal(err)
		}
		s.exec("CREATE ROLE " + c.name + " LOGIN PASSWORD 'pw'")
		if _, err := schema.AddMember(t.Context(), s.dsn, soakTeams[c.tag], c.name, schema.Writer); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(s.dsn)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(c.name, "pw")
		c.dsn = u.String()
		s.clients = append(s.clients, c)
	}
	return s
}

func (s *soakRun) exec(text string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.dsn)
	if err == nil {
		_, err = conn.Exec(s.t.Context(), text)
		_ = conn.Close(s.t.Context())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// waitUntilBusy returns when the time is over, everybody has done something, and the
// server was ended.
func (s *soakRun) waitUntilBusy(last time.Duration) {
	began := time.Now()
	for time.Since(began) < 10*time.Minute && !s.t.Failed() {
		least := int64(1 << 40)
		for _, c := range s.clients {
			least = min(least, c.done.Load())
		}
		if time.Since(began) > last && least >= 5 && s.ends.Load() >= 2 && s.kills.Load() >= 5 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Errorf("after %v the server was ended %d times, and %d processes were killed", time.Since(began), s.ends.Load(), s.kills.Load())
}

// command runs the program on the machine. A process that is killed has acknowledged nothing.
func (c *soakClient) command(most time.Duration, args ...string) (out string, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	cmd := exec.CommandContext(ctx, "anamnesis", args...) // ends by SIGKILL
	cmd.Dir = c.home
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "ANAMNESIS_") || strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "PG")
	}), "HOME="+c.home, "ANAMNESIS_HOME="+filepath.Join(c.home, "store"), "ANAMNESIS_MACHINE_ID="+c.name, "ANAMNESIS_SYNC=off",
		"REFLECT_PG_DSN="+c.dsn, "REFLECT_WORKSPACE_ID="+soakTeams[c.tag], "ANAMNESIS_TEAM_PROJECTS=shop", "GORACE=atexit_sleep_ms=0")
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		c.kills.Add(1)
	}
	for tag := range soakTeams {
		if tag != c.tag && strings.Contains(string(said), tag) {
			c.t.Errorf("%s of the team %s is told by %v: %s", c.name, c.tag, args, said)
		}
	}
	if strings.Contains(string(said), "copy of the other") || strings.Contains(string(said), "pw@") {
		c.t.Errorf("%s: %v: %s", c.name, args, said)
	}
	return string(said), err == nil
}

var soakID = regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{26}`)

// write writes and asks, one command after the other, until it is asked to stop.
func (c *soakClient) write(stop chan struct{}) {
	for k := 0; ; k++ {
		select {
		case <-stop:
			return
		default:
		}
		most := time.Minute
		if c.dice.IntN(6) == 0 {
			most = time.Duration(c.dice.IntN(150)) * time.Millisecond
		}
		body := fmt.Sprintf("Body %d of %s.", k, c.name)
		id, n := c.pick()
		switch dice := c.dice.IntN(20); {
		case dice < 9 || n == nil:
			title := fmt.Sprintf("The %s number %d of %s is %d", c.tag, k, c.name, c.dice.Int64())
			c.titles[title] = true
			out, ok := c.command(most, "add", "--project", "shop", "--title", title, "--body", body)
			if id := soakID.FindString(out); ok && id != "" {
				c.notes[id] = &soakNote{bodies: []string{body}}
				c.done.Add(1)
			}
		case dice < 13:
			n.bodies = append(n.bodies, body)
			if _, ok := c.command(most, "edit", id, "--body", body); ok {
				n.bodies = []string{body}
				c.done.Add(1)
			}
		case dice < 15:
			n.maybeGone = true
			if _, ok := c.command(most, "forget", id, "--now"); ok {
				n.gone = true
				c.done.Add(1)
			}
		default:
			c.command(most, "search", "--project", "shop", "which number is the "+c.tag) // looks at what it is shown
		}
	}
}

// pick returns a note that it may change, nil when there is none.
func (c *soakClient) pick() (string, *soakNote) {
	for id, n := range c.notes { // in any order
		if !n.gone && !n.maybeGone {
			return id, n
		}
	}
	return "", nil
}

// drain exchanges everything with the server, which may have to recover first.
func (c *soakClient) drain() {
	c.t.Helper()
	var said string
	for until := time.Now().Add(3 * time.Minute); time.Now().Before(until) && !c.t.Failed(); time.Sleep(100 * time.Millisecond) {
		var ok bool
		if said, ok = c.command(time.Minute, "drain", "--json"); ok && !strings.Contains(said, `"busy": true`) {
			return
		}
	}
	c.t.Fatalf("%s cannot exchange notes: %s", c.name, said)
}

// killRuns kills processes of the machines now and then, background runs among them.
func (s *soakRun) killRuns(stop chan struct{}) {
	dice := rand.New(rand.NewPCG(99, 7))
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(200+dice.IntN(600)) * time.Millisecond):
		}
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		dice.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		for _, link := range links {
			dir, err := os.Readlink(link)
			pid, perr := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			if err != nil || perr != nil || !strings.HasPrefix(dir, s.work+"/") {
				continue
			}
			if p, err := os.FindProcess(pid); err == nil && p.Kill() == nil {
				s.kills.Add(1)
			}
			break
		}
	}
}

// endServer ends the server now and then, in one way after the other, and starts it again.
// What was there before is there afterwards.
func (s *soakRun) endServer(stop chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(3 * time.Second):
		}
		before := s.rows()
		var err error
		switch i % 3 {
		case 0: // as pg_ctl restart -m immediate
			s.cluster.Kill()
			err = s.cluster.Start()
		case 1:
			s.cluster.Crash()
			err = s.cluster.Start()
		case 2:
			s.cluster.KillBackend() // the server restarts on its own
		}
		if err != nil {
			s.t.Error(err)
			return
		}
		after := s.rows()
		lost := 0
		for key, was := range before {
			if now, there := after[key]; !there || now.generation < was.generation {
				lost++
			}
		}
		if lost > 0 {
			s.t.Errorf("the server has lost %d of %d rows that it had committed", lost, len(before))
		}
		s.ends.Add(1)
	}
}

// A soakRow is a file of a machine as the server has it: a note, or that it is gone.
type soakRow struct {
	generation  int64
	hash        index.Digest
	dropped     bool
	title, text string
}

// A soakKey names a file of a machine.
type soakKey struct{ workspace, origin, path string }

const soakSQL = `SELECT n.workspace::text, n.origin, n.path, n.generation, n.hash, n.title, t.text, false
	FROM anamnesis.notes n JOIN anamnesis.texts t ON t.workspace = n.workspace AND t.note = n.key
	UNION ALL SELECT workspace::text, origin, path, generation, '', '', '', true FROM anamnesis.dropped`

// rows reads all rows of the server, as its administrator.
func (s *soakRun) rows() map[soakKey]soakRow {
	s.t.Helper()
	all := make(map[soakKey]soakRow)
	var err error
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		clear(all)
		if err = s.read(all); err == nil {
			return all
		}
	}
	s.t.Errorf("the server does not answer: %v", err)
	return all
}

func (s *soakRun) read(all map[soakKey]soakRow) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	rows, err := conn.Query(ctx, soakSQL)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var k soakKey
		var r soakRow
		var hash, text []byte
		if err := rows.Scan(&k.workspace, &k.origin, &k.path, &r.generation, &hash, &r.title, &text, &r.dropped); err != nil {
			return err
		}
		copy(r.hash[:], hash)
		r.text = string(text)
		all[k] = r
	}
	return rows.Err()
}

// check compares what the clients were shown, what the server has, and the mirrors.
func (s *soakRun) check() {
	s.t.Helper()
	rows := s.rows()
	maps.DeleteFunc(rows, func(_ soakKey, r soakRow) bool { return r.dropped })
	byID := make(map[string]soakKey)
	for k, r := range rows {
		byID[strings.TrimSuffix(filepath.Base(k.path), ".md")] = k
		c := s.client(k.origin)
		if c == nil || k.workspace != soakTeams[c.tag] || !c.titles[r.title] {
			s.t.Errorf("the server has %q in %v", r.title, k)
		}
	}
	acknowledged := 0
	for _, c := range s.clients {
		for id, n := range c.notes {
			acknowledged++
			k, there := byID[id]
			switch {
			case !there && !n.maybeGone:
				s.t.Errorf("the note %s of %s was acknowledged and is gone", id, c.name)
			case there && n.gone:
				s.t.Errorf("the note %s of %s was forgotten and is there", id, c.name)
			case there && !slices.ContainsFunc(n.bodies, func(b string) bool { return strings.Contains(rows[k].text, b) }):
				s.t.Errorf("the note %s of %s says %q, want %q", id, c.name, rows[k].text, n.bodies)
			}
		}
		want, got := make(map[string]string), c.mirror()
		for k, r := range rows {
			if k.workspace == soakTeams[c.tag] {
				origin := k.origin
				if s.client(origin) == c {
					origin = ""
				}
				want[origin+" "+k.path] = fmt.Sprintf("%x", r.hash)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			s.t.Errorf("%s does not know what the server has (-want +got):\n%s", c.name, d)
		}
	}
	for tag, workspace := range soakTeams {
		db, err := postgres.Open(s.t.Context(), postgres.Options{DSN: s.dsn, Workspace: workspace, Origin: "check", ReadOnly: true})
		if err != nil {
			s.t.Fatal(err)
		}
		if err := db.Check(s.t.Context()); err != nil {
			s.t.Errorf("%s: %v", tag, err)
		}
		_ = db.Close()
	}
	s.t.Logf("%d notes acknowledged, %d rows; the server was ended %d times, %d processes killed", acknowledged, len(rows), s.ends.Load(), s.kills.Load())
}

// client returns the machine of an origin.
func (s *soakRun) client(origin string) *soakClient {
	name, _, _ := strings.Cut(origin, "/")
	at := slices.IndexFunc(s.clients, func(c *soakClient) bool { return c.name == name })
	if at < 0 {
		return nil
	}
	return s.clients[at]
}

// mirror reads what the index of the machine holds, by origin ("" is its own) and path.
func (c *soakClient) mirror() map[string]string {
	c.t.Helper()
	db, err := sqlite.Open(c.t.Context(), sqlite.Options{Path: filepath.Join(c.home, "store", "index.db"), Keep: true})
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.Select(c.t.Context(), index.Filter{Dead: true, Now: time.Now()}, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	all := make(map[string]string)
	for i := range rows {
		all[rows[i].Origin+" "+rows[i].Ref.Path] = fmt.Sprintf("%x", rows[i].Hash)
	}
	return all
}
