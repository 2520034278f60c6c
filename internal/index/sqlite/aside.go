package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// setAside gives what stands at the path another name, and makes a new database.
func (d *conn) setAside(ctx context.Context) error {
	aside, err := freeName(fmt.Sprintf("%s.foreign-%s", d.path, time.Now().UTC().Format("20060102T150405")))
	if err == nil {
		err = os.Rename(d.path, aside)
	}
	if err != nil {
		return fmt.Errorf("it is not an anamnesis index and cannot be set aside: %w", err)
	}
	_ = os.Rename(d.path+"-wal", aside+"-wal") // may hold what the file does not
	_ = os.Remove(d.path + "-shm")
	d.notice = fmt.Sprintf("%s was not an anamnesis index; it is kept as %s", d.path, aside)
	return d.create(ctx)
}

// freeName returns the name, or one with a number behind it where others stand
// already: what was set aside a second ago is not overwritten. It makes nothing, for
// what is going to be renamed may be a folder.
func freeName(name string) (string, error) {
	for i, try := 1, name; ; try = fmt.Sprintf("%s-%d", name, i) {
		_, err := os.Lstat(try)
		if errors.Is(err, fs.ErrNotExist) {
			return try, nil
		}
		if i++; err != nil || i > 1000 {
			return "", fmt.Errorf("%s: %w", try, cmp.Or(err, fs.ErrExist))
		}
	}
}
