package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"anamnesis/internal/store"
)

// Bounds of a file of cases, in bytes.
const (
	maxCaseFile = 64 << 20
	maxCaseLine = 256 << 10
)

// A caseFile is a file of cases as it was read. Lines that nobody changed are
// written back byte for byte, those that are no case among them.
type caseFile struct {
	name  string
	data  []byte
	lines []caseLine
}

type caseLine struct {
	raw     []byte // without the line feed
	c       *Case  // nil for a blank line and for one that is no case
	problem string // why it is none
	changed bool
}

// readCases reads a file of cases.
func readCases(name string) (*caseFile, error) {
	data, err := readBounded(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &missingSet{fmt.Sprintf("no eval set at %s (run `anamnesis eval build` first)", name)}
	}
	if err != nil {
		return nil, fmt.Errorf("read eval set %s: %w", name, err)
	}
	return parseCases(name, data), nil
}

// A missingSet is the error of a file of cases that is not there.
type missingSet struct{ text string }

func (e *missingSet) Error() string { return e.text }

func (*missingSet) Unwrap() error { return fs.ErrNotExist }

// readBounded reads a regular file that is not larger than a file of ours.
func readBounded(name string) ([]byte, error) {
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCaseFile+1))
	if err == nil && len(data) > maxCaseFile {
		err = fmt.Errorf("it is larger than %d MB", maxCaseFile>>20)
	}
	return data, err
}

func parseCases(name string, data []byte) *caseFile {
	f := &caseFile{name: name, data: data}
	text := bytes.TrimSuffix(data, []byte("\n"))
	if len(text) == 0 {
		return f
	}
	for raw := range bytes.SplitSeq(text, []byte("\n")) {
		line := caseLine{raw: raw}
		content := bytes.TrimSpace(raw)
		if len(f.lines) == 0 {
			content = bytes.TrimPrefix(content, []byte("\ufeff"))
		}
		switch {
		case len(content) > maxCaseLine:
			line.problem = fmt.Sprintf("it has more than %d KB", maxCaseLine>>10)
		case len(content) > 0:
			c := new(Case)
			if err := json.Unmarshal(content, c); err != nil {
				line.problem = err.Error()
			} else {
				line.c = c
			}
		}
		f.lines = append(f.lines, line)
	}
	return f
}

// problems names the lines that are no case.
func (f *caseFile) problems() (all []string) {
	for i, line := range f.lines {
		if line.problem != "" {
			all = append(all, fmt.Sprintf("%s: line %d is no case and was skipped: %.200s", f.name, i+1, line.problem))
		}
	}
	return all
}

// queries are the keys of all queries that the file has seen.
func (f *caseFile) queries() map[string]bool {
	seen := make(map[string]bool)
	for _, line := range f.lines {
		if line.c == nil {
			continue
		}
		seen[key(line.c.Query)] = true
		if line.c.Was != "" {
			seen[key(line.c.Was)] = true
		}
	}
	return seen
}

func (f *caseFile) changed() bool {
	for _, line := range f.lines {
		if line.changed {
			return true
		}
	}
	return false
}

func (f *caseFile) format() ([]byte, error) {
	var b bytes.Buffer
	for _, line := range f.lines {
		raw := line.raw
		if line.changed {
			var err error
			if raw, err = line.c.MarshalJSON(); err != nil { // json.Marshal would escape < and >
				return nil, err
			}
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// tries is how often a change is begun again because somebody else wrote who
// knows no lock, such as an editor.
const tries = 5

// changeCases reads a file, lets it be changed and replaces it, under the lock
// of that file: of two processes the second sees what the first wrote. A file
// that was written since all the same is read again. With create a missing
// file is an empty one, and its folder is made.
func changeCases(name string, create bool, change func(*caseFile) error) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real // a link stays a link
	}
	if _, err := os.Stat(name); err != nil && !create {
		_, err := readCases(name)
		return err // which says what to do
	}
	if err := (store.OS{}).MkdirAll(filepath.Dir(name)); err != nil {
		return fmt.Errorf("write eval set %s: %w", name, err)
	}
	unlock, err := store.LockFile(context.Background(), name)
	if err != nil {
		return fmt.Errorf("write eval set %s: %w", name, err)
	}
	defer unlock()
	for range tries {
		f, err := readCases(name)
		if create && errors.Is(err, fs.ErrNotExist) {
			f, err = parseCases(name, nil), nil
		}
		if err != nil {
			return err
		}
		if err := change(f); err != nil {
			return err
		}
		if !f.changed() {
			return nil
		}
		done, err := f.replace()
		if err != nil {
			return fmt.Errorf("write eval set %s: %w", name, err)
		}
		if done {
			return nil
		}
	}
	return fmt.Errorf("write eval set %s: somebody else keeps changing it; try again", name)
}

// replace writes the file, unless it is not any more what was read.
func (f *caseFile) replace() (done bool, err error) {
	data, err := f.format()
	if err != nil {
		return false, err
	}
	if len(data) > maxCaseFile {
		return false, fmt.Errorf("it would be larger than %d MB", maxCaseFile>>20)
	}
	var disk store.OS
	dir := filepath.Dir(f.name)
	temp, err := disk.Create(dir)
	if err != nil {
		return false, err
	}
	defer func() {
		if !done {
			_ = disk.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return false, err
	}
	now, err := readBounded(f.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) || !bytes.Equal(now, f.data) {
		return false, nil // the next try says what is wrong with the file
	}
	if err := disk.Rename(temp.Name(), f.name); err != nil {
		return false, err
	}
	return true, disk.SyncDir(dir)
}
