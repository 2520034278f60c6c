package house

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Book holds the recorded counts of each figure by its key, the oldest first. The last one is
// in force. A count that is larger than the one before it needs a reason in the changelog.
type Book map[string][]int

// bookPath is the file of the book, from the root of the repository.
const bookPath = "docs/house.json"

// ReadBook reads the book of a checkout. A missing file is an empty book.
func ReadBook(root string) (Book, error) {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(bookPath)))
	if errors.Is(err, fs.ErrNotExist) {
		return Book{}, nil
	}
	if err != nil {
		return nil, err
	}
	var b Book
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("read %s: %w", bookPath, err)
	}
	for key, counts := range b {
		if len(counts) == 0 || slices.Min(counts) < 0 {
			return nil, fmt.Errorf("read %s: %s has no valid count", bookPath, key)
		}
	}
	return b, nil
}

// Rows pairs each figure with its count in force.
func (b Book) Rows(figures []Figure) []Row {
	var rows []Row
	for _, f := range figures {
		r := Row{Figure: f, New: true}
		if counts := b[f.Key]; len(counts) > 0 {
			r.Recorded, r.New = counts[len(counts)-1], false
		}
		rows = append(rows, r)
	}
	return rows
}

// A step is a recorded count that is larger than the one before it.
type step struct {
	key           string
	before, after int
}

// reason is the line of the changelog that explains a step, without the reason.
func (s step) reason() string { return fmt.Sprintf("House: %s %d -> %d:", s.key, s.before, s.after) }

// Check returns an error for each figure that is worse than the book allows or that the book does
// not hold, and for each step without a reason in the changelog.
func (b Book) Check(root string, figures []Figure) error {
	var all []error
	known := make(map[string]bool)
	for _, r := range b.Rows(figures) {
		known[r.Key] = true
		switch {
		case r.New:
			all = append(all, fmt.Errorf("%s: %s has no count in %s: run go run -C lab ./measure house -update", r.Key, r.Name, bookPath))
		case r.Worse():
			all = append(all, fmt.Errorf("%s: %s went from %d to %d, more than 5 %% up: bring it down, or write the line %q with your reason "+
				"into a file in changelog/unreleased and run go run -C lab ./measure house -update",
				r.Key, r.Name, r.Recorded, r.Count, step{r.Key, r.Recorded, r.Count}.reason()))
		}
	}
	for key := range b {
		if !known[key] {
			all = append(all, fmt.Errorf("%s in %s is no measure", key, bookPath))
		}
	}
	return errors.Join(append(all, b.explained(root))...)
}

// explained returns an error for each step that the changelog does not explain.
func (b Book) explained(root string) error {
	given, err := reasons(root)
	if err != nil {
		return err
	}
	var all []error
	for key, counts := range b {
		for i := 1; i < len(counts); i++ {
			s := step{key, counts[i-1], counts[i]}
			if s.after > s.before && !slices.Contains(given, s) {
				all = append(all, fmt.Errorf("%s: no file in changelog gives the reason: write the line %q and your reason", key, s.reason()))
			}
		}
	}
	return errors.Join(all...)
}

var reasonLine = regexp.MustCompile(`(?m)^(?:- )?House: ([a-z0-9-]+) (\d+) -> (\d+): *\S`)

// reasons lists the steps that the changelog explains. A release moves the lines from
// changelog/unreleased into CHANGELOG.md, so both are read.
func reasons(root string) (all []step, _ error) {
	files, err := filepath.Glob(filepath.Join(root, "changelog", "unreleased", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, name := range append(files, filepath.Join(root, "CHANGELOG.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the reasons: %w", err)
		}
		for _, m := range reasonLine.FindAllStringSubmatch(string(text), -1) {
			before, err1 := strconv.Atoi(m[2])
			after, err2 := strconv.Atoi(m[3])
			if err := errors.Join(err1, err2); err != nil {
				return nil, fmt.Errorf("read %s: %w", name, err)
			}
			all = append(all, step{m[1], before, after})
		}
	}
	return all, nil
}

// Update records each figure that is new, more than 1 % better or more than 5 % worse, and writes the
// book. A background run may do a little more or less, so smaller changes are not recorded. Update writes
// nothing if a step has no reason in the changelog.
func (b Book) Update(root string, figures []Figure) error {
	next := make(Book)
	for _, r := range b.Rows(figures) {
		next[r.Key] = slices.Clone(b[r.Key])
		if r.New || r.Worse() || r.Count*100 < r.Recorded*99 {
			next[r.Key] = append(next[r.Key], r.Count)
		}
	}
	if err := next.explained(root); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, filepath.FromSlash(bookPath)), next.text(figures), 0o644)
}

// text is the book as JSON, one line for each figure in their order.
func (b Book) text(figures []Figure) []byte {
	var lines []string
	for _, f := range figures {
		counts := strings.ReplaceAll(fmt.Sprint(b[f.Key]), " ", ", ")
		lines = append(lines, fmt.Sprintf("  %q: %s", f.Key, counts))
	}
	return []byte("{\n" + strings.Join(lines, ",\n") + "\n}\n")
}
