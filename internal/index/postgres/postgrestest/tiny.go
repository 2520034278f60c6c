package postgrestest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mountTiny mounts the disk that $0 names, and runs what follows. It runs in a name space
// of separate mounts, so that nobody else sees the disk and nothing is left of it.
const mountTiny = `mkdir -p "$0" && mount -t tmpfs -o size=48m none "$0" && exec "$@"`

// apart runs a script of the shell in such a name space, in which its user may mount.
var apart = []string{"unshare", "-Um", "--map-user=1000", "--map-group=1000", "--keep-caps", "sh", "-c"}

// Tiny starts a cluster for one test, whose databases stand on a disk of 48 MB. Its log
// does not, as on a server whose tables have a disk of their own. A test is skipped where
// the system makes no name spaces for users.
func Tiny(t testing.TB) *Cluster {
	t.Helper()
	programs(t) // first of all says that there is no server
	check := exec.Command(apart[0], slices.Concat(apart[1:], []string{"mount -t tmpfs -o size=64k none /mnt"})...)
	lower(check)
	check.Dir = "/"
	if out, err := check.CombinedOutput(); err != nil {
		t.Skipf("needs a name space for mounts: %v, %s", err, out)
	}
	c := own(t, true)
	if err := c.command("CREATE TABLESPACE tiny LOCATION '" + c.disk() + "'"); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Cluster) disk() string { return filepath.Join(c.dir, "disk") }

// TinyDatabase makes a database on the small disk, and returns its address.
func (c *Cluster) TinyDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d", c.names.Add(1))
	if err := c.command("CREATE DATABASE " + name + " TABLESPACE tiny"); err != nil {
		t.Fatal(err)
	}
	return c.Address(name)
}

// Fill fills the small disk, by a file of the server's user.
func (c *Cluster) Fill(t testing.TB) {
	t.Helper()
	err := c.command("COPY (SELECT repeat('x', 1000) FROM generate_series(1, 100000)) TO '" + c.disk() + "/filler'")
	if err == nil || !strings.Contains(err.Error(), "No space left on device") {
		t.Fatalf("fill the disk: %v", err)
	}
}

// Room removes the file of Fill. The server writes its row to the program, which must read it first.
func (c *Cluster) Room(t testing.TB) {
	t.Helper()
	if err := c.command("COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; rm " + c.disk() + "/filler'"); err != nil {
		t.Fatal(err)
	}
}
