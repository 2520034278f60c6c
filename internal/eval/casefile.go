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
	"slices"

	"anamnesis/internal/store"
)

// Bounds of a file of cases, in bytes.
const (
	maxCaseFile = 64 << 20
	maxCaseLine = 256 << 10
)

// A caseFile is a file of cases as it was read.
type caseFile struct {
	name     string
	data     []byte
	cases    []Case
	problems []string // the lines that are no case, and why
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
	n := 0
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if n == 0 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		n++
		var c Case
		var err error
		switch {
		case len(line) == 0:
			continue
		case len(line) > maxCaseLine:
			err = fmt.Errorf("it has more than %d KB", maxCaseLine>>10)
		default:
			if err = json.Unmarshal(line, &c); err == nil {
				err = c.check()
			}
		}
		if err != nil {
			f.problems = append(f.problems, fmt.Sprintf("%s: line %d is no case and was skipped: %.200s", name, n, err))
			continue
		}
		f.cases = append(f.cases, c)
	}
	return f
}

// with returns the text of the file with the cases behind it whose query it does not have, and
// how many these are. The lines that are there stay byte for byte.
func (f *caseFile) with(cases []Case) (data []byte, added int, err error) {
	seen := make(map[string]bool)
	for _, c := range f.cases {
		seen[key(c.Query)] = true
	}
	b := bytes.NewBuffer(slices.Clone(f.data))
	if len(f.data) > 0 && !bytes.HasSuffix(f.data, []byte("\n")) {
		b.WriteByte('\n')
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for _, c := range cases {
		if seen[key(c.Query)] {
			continue
		}
		seen[key(c.Query)] = true
		if err := enc.Encode(c); err != nil {
			return nil, 0, err
		}
		added++
	}
	return b.Bytes(), added, nil
}

// tries is how often a change is begun again because somebody else wrote who
// knows no lock, such as an editor.
const tries = 5

// Append adds cases to a file, which is made when it is not there, and returns
// how many were added. A case whose query stands in the file already is passed
// over, as is the second of two. The file is replaced at once or not at all, under
// the lock of that file: of two processes the second sees what the first wrote. A
// file that was written since all the same is read again.
func Append(file string, cases []Case) (added int, err error) {
	for i := range cases {
		if err := cases[i].check(); err != nil {
			return 0, fmt.Errorf("add a case to %s: query %.60q: %w", file, cases[i].Query, err)
		}
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a link stays a link
	}
	if err := (store.OS{}).MkdirAll(filepath.Dir(file)); err != nil {
		return 0, fmt.Errorf("write eval set %s: %w", file, err)
	}
	unlock, err := store.LockFile(context.Background(), file)
	if err != nil {
		return 0, fmt.Errorf("write eval set %s: %w", file, err)
	}
	defer unlock()
	for range tries {
		f, err := readCases(file)
		if errors.Is(err, fs.ErrNotExist) {
			f, err = parseCases(file, nil), nil
		}
		if err != nil {
			return 0, err
		}
		data, added, err := f.with(cases)
		if added == 0 || err != nil {
			return 0, err
		}
		done, err := f.replace(data)
		if err != nil {
			return 0, fmt.Errorf("write eval set %s: %w", file, err)
		}
		if done {
			return added, nil
		}
	}
	return 0, fmt.Errorf("write eval set %s: somebody else keeps changing it; try again", file)
}

// replace writes data to the file, unless that is not any more what was read.
func (f *caseFile) replace(data []byte) (done bool, err error) {
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
