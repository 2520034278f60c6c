package replica_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"anamnesis/internal/replica"
	"anamnesis/internal/replica/replicatest"
	"anamnesis/internal/store/storetest"
)

// missing skips a test for want of a program, and fails it where everything has to be there.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("ANAMNESIS_CI") != "" || os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing: this way to a remote is not tested", what)
}

// roundTrip sends notes of one machine through a remote to another and back.
func roundTrip(t *testing.T, address string, change func(*replica.Options)) {
	t.Helper()
	at := func(name string) (string, replica.Backend) {
		dir := filepath.Join(t.TempDir(), name)
		o := options(t, dir)
		o.MachineID, o.Remote = name, address
		if change != nil {
			change(&o)
		}
		return dir, open(t, o)
	}
	dirA, a := at("a")
	dirB, b := at("b")
	sync := func(b replica.Backend) replica.Outcome {
		t.Helper()
		out, err := b.Sync(t.Context())
		if err != nil || out.Offline {
			t.Fatalf("Sync = %+v, %v", out, err)
		}
		return out
	}
	sync(a) // nothing there, nothing here
	replicatest.Write(t, dirA, map[string]string{"semantic/a.md": "a\n"})
	if out := sync(a); !out.Pushed {
		t.Errorf("got %+v", out)
	}
	sync(b)
	replicatest.Write(t, dirB, map[string]string{"semantic/b.md": "b\n"})
	replicatest.Write(t, dirA, map[string]string{"semantic/c.md": "c\n"})
	sync(b)
	sync(a)
	sync(b)
	if ta, tb := tree(t, dirA), tree(t, dirB); len(ta) != 3 || fmt.Sprint(ta) != fmt.Sprint(tb) {
		t.Errorf("the trees are %v and %v", ta, tb)
	}
}

func TestByPath(t *testing.T) {
	t.Parallel()
	remote := bare(t)
	roundTrip(t, remote, nil)
	roundTrip(t, "file://"+filepath.ToSlash(bare(t)), nil)
}

// daemon serves the repositories below a folder.
func daemon(t *testing.T, base string) (address string) {
	t.Helper()
	out, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(strings.TrimSpace(string(out)), "git-daemon")
	if _, err := exec.LookPath(program); err != nil {
		missing(t, "git daemon")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	cmd := exec.Command(program, "--reuseaddr", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1", "--port="+port, "--base-path="+base, base)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	listens(t, port)
	return "127.0.0.1:" + port
}

// long is how long something may take that takes no time on a machine with
// nothing else to do.
const long = 2 * time.Minute

// listens waits until somebody does.
func listens(t *testing.T, port string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Since(began) > long {
			t.Fatal("the server does not listen:", err)
		}
	}
}

func TestByDaemon(t *testing.T) {
	storetest.SkipQuick(t)
	t.Parallel()
	remote := bare(t)
	address := daemon(t, filepath.Dir(remote))
	roundTrip(t, "git://"+address+"/notes.git", nil)
}

// A link that breaks at any point of a push leaves nothing that the next sync
// does not heal.
func TestCutLink(t *testing.T) {
	storetest.SkipQuick(t)
	t.Parallel()
	remote := bare(t)
	address := daemon(t, filepath.Dir(remote))
	var left atomic.Int64
	left.Store(1 << 40)
	proxy := cutting(t, address, &left)
	dir := filepath.Join(t.TempDir(), "memory")
	o := options(t, dir)
	o.Remote, o.Timeout = "git://"+proxy+"/notes.git", long
	b := open(t, o)
	for i, after := range []int64{0, 100, 250, 400, 600, 1200} {
		for j := range 5 {
			replicatest.Write(t, dir, map[string]string{fmt.Sprintf("semantic/%d-%d.md", i, j): strings.Repeat(fmt.Sprint(i, j, "\n"), 200)})
		}
		left.Store(after)
		out, err := b.Sync(t.Context())
		if err != nil {
			t.Errorf("cut after %d bytes: %+v, %v", after, out, err)
		}
		left.Store(1 << 40)
		if out, err := b.Sync(t.Context()); err != nil || out.Offline || out.Ahead != 0 {
			t.Fatalf("healing after %d bytes: %+v, %v", after, out, err)
		}
		if got := run(t, remote, "rev-parse", "main"); got != run(t, dir, "rev-parse", "main") {
			t.Errorf("the remote is at %s", got)
		}
	}
	run(t, remote, "fsck", "--strict")
}

// cutting forwards connections, and cuts them when the client has sent so many bytes.
func cutting(t *testing.T, to string, left *atomic.Int64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer server.Close()
				go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
				buf := make([]byte, 64)
				for {
					n, err := client.Read(buf)
					if err != nil || left.Add(-int64(n)) < 0 {
						return
					}
					if _, err := server.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestBySSH(t *testing.T) {
	storetest.SkipQuick(t)
	if runtime.GOOS == "windows" {
		t.Skip("no sshd of our own on Windows")
	}
	t.Parallel()
	for _, program := range []string{"/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"} {
		if _, err := os.Stat(program); err != nil {
			missing(t, program)
		}
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, key := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	public, err := os.ReadFile(filepath.Join(dir, "user.pub"))
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	replicatest.Write(t, dir, map[string]string{
		"keys": string(public),
		"conf": "Port " + port + "\nListenAddress 127.0.0.1\nHostKey " + dir + "/host\nAuthorizedKeysFile " + dir + "/keys\nStrictModes no\nUsePAM no\n" +
			"PidFile none\nPasswordAuthentication no\nPermitRootLogin yes\n",
	})
	if me.Uid == "0" {
		_ = os.MkdirAll("/run/sshd", 0o755) //nolint:gosec // sshd wants it so
	}
	server := exec.Command("/usr/sbin/sshd", "-D", "-e", "-f", filepath.Join(dir, "conf"))
	var log bytes.Buffer
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	listens(t, port)
	known := "ssh -o BatchMode=yes -o UserKnownHostsFile=" + dir + "/known -o StrictHostKeyChecking=accept-new -i " + dir + "/user -F /dev/null"
	roundTrip(t, "ssh://"+me.Username+"@127.0.0.1:"+port+bare(t), func(o *replica.Options) {
		o.Env = append(o.Env, "GIT_SSH_COMMAND="+known)
	})
	// A key that is not let in is a remote that is not there, and nobody is asked.
	o := options(t, filepath.Join(t.TempDir(), "memory"))
	o.Remote = "ssh://" + me.Username + "@127.0.0.1:" + port + "/x.git"
	o.Env = append(o.Env, "GIT_SSH_COMMAND="+strings.Replace(known, dir+"/user", dir+"/host", 1))
	if out, err := open(t, o).Sync(t.Context()); err != nil || !out.Offline || !strings.Contains(out.Detail, "Permission denied") {
		t.Errorf("Sync = %+v, %v", out, err)
	}
}

// A remote that never answers is given up, with everything that was started for it.
func TestHangingRemote(t *testing.T) {
	storetest.SkipQuick(t)
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	t.Parallel()
	bin, dir := t.TempDir(), filepath.Join(t.TempDir(), "memory")
	program(t, filepath.Join(bin, "ssh"), "echo $$ >>"+bin+"/pids; sleep 300 & echo $! >>"+bin+"/pids; wait")
	o := options(t, dir)
	o.Remote, o.Timeout = "git@hangs.example:notes.git", 5*time.Second
	o.Env = append(o.Env, "GIT_SSH_COMMAND="+bin+"/ssh")
	replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
	mustCommit(t, open(t, o), true)
	start := time.Now()
	out, err := open(t, o).Sync(t.Context())
	if d := time.Since(start); err != nil || !out.Offline || !strings.Contains(out.Detail, "stopped after 5s") || d > long {
		t.Errorf("Sync = %+v, %v after %v", out, err, d)
	}
	pids, err := os.ReadFile(filepath.Join(bin, "pids"))
	if err != nil || len(strings.Fields(string(pids))) != 2 {
		t.Fatalf("started: %q, %v", pids, err)
	}
	for _, pid := range strings.Fields(string(pids)) {
		for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err != nil || bytes.Contains(stat, []byte(") Z ")) {
				break
			}
			if time.Since(began) > long {
				t.Errorf("process %s is left", pid)
				break
			}
		}
	}
	// The caller may give up sooner.
	o.Timeout = long
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start = time.Now()
	if _, err := open(t, o).Sync(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > long/2 {
		t.Errorf("got %v after %v", err, time.Since(start))
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	for _, remote := range []string{
		"/nowhere/notes.git", "git://127.0.0.1:1/notes.git", "http://127.0.0.1:1/notes.git", "https://user:geheim@127.0.0.1:1/notes.git",
		"ssh://127.0.0.1:1/notes.git", "nobody@127.0.0.1.invalid:notes.git", filepath.ToSlash(t.TempDir()),
	} {
		dir := filepath.Join(t.TempDir(), "memory")
		o := options(t, dir)
		o.Remote = remote
		replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
		out, err := open(t, o).Sync(t.Context())
		if err != nil || !out.Offline || !out.Committed || out.Ahead != 1 || strings.Contains(out.Detail, "geheim") {
			t.Errorf("%s: Sync = %+v, %v", remote, out, err)
		}
		t.Log(out.Detail)
	}
}

// A remote that is no bare repository, or that takes no branch, is a mistake to be shown.
func TestRefusedPush(t *testing.T) {
	t.Parallel()
	work, closed := t.TempDir(), bare(t)
	run(t, work, "init", "-q", "--initial-branch=main")
	run(t, work, "commit", "-q", "--allow-empty", "-m", "x")
	run(t, closed, "config", "receive.hideRefs", "refs/heads/main")
	for _, remote := range []string{work, closed} {
		dir := filepath.Join(t.TempDir(), "memory")
		o := options(t, dir)
		o.Remote = remote
		replicatest.Write(t, dir, map[string]string{"semantic/a.md": "a\n"})
		out, err := open(t, o).Sync(t.Context())
		if !errors.Is(err, replica.ErrRefused) || out.Pushed || out.Result != replica.Refused || out.Why != err.Error() || !strings.Contains(err.Error(), "bare repository") {
			t.Errorf("Sync = %+v, %v", out, err)
		}
		t.Log(err)
	}
}
