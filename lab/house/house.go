// Package house measures how costly the program is to change and to run: how many
// functions a command executes (executed.go), how complex the source is (source.go), and
// how many files a first change touches (recipe.go). docs/house.json records the counts, and
// Book (book.go) compares a measurement with it.
//
// The package reads a checkout of the repository. It writes only below temporary folders, and Book
// writes docs/house.json.
//
// Failure policy: a count that cannot be taken is an error, never a zero.
package house

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
)

// A Figure is one count.
type Figure struct {
	Key   string `json:"key"`  // in docs/house.json
	Name  string `json:"name"` // for people
	Count int    `json:"count"`
}

// Take takes all counts of the checkout in root. Less is better for each of them.
func Take(ctx context.Context, root string) ([]Figure, error) {
	all, err := executed(ctx, root)
	if err != nil {
		return nil, err
	}
	source, err := readSource(root)
	if err != nil {
		return nil, err
	}
	all = append(all, source...)
	for _, r := range []struct{ section, key, name string }{
		{Setting, "setting-files", "files touched to add a setting"},
		{Command, "command-files", "files touched to add a command"},
	} {
		n, err := touched(ctx, root, r.section)
		if err != nil {
			return nil, err
		}
		all = append(all, Figure{r.key, r.name, n})
	}
	return all, nil
}

// A Row is a Figure with its recorded count.
type Row struct {
	Figure
	Recorded int  `json:"recorded"`
	New      bool `json:"new"` // no count is recorded
}

// Worse reports whether a count is more than 5 % above the recorded one.
func (r Row) Worse() bool { return !r.New && r.Count*100 > r.Recorded*105 }

// Print writes rows as a table. A count that is worse is marked.
func Print(w io.Writer, rows []Row) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "recorded\tnow\tchange\t  measure")
	for _, r := range rows {
		recorded, change, mark := fmt.Sprint(r.Recorded), "", " "
		switch {
		case r.New:
			recorded, change = "-", "new"
		case r.Recorded > 0:
			change = fmt.Sprintf("%+.1f %%", 100*(float64(r.Count)/float64(r.Recorded)-1))
		}
		if r.Worse() {
			mark = "!"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%s %-14s %s\n", recorded, r.Count, change, mark, r.Key, r.Name)
	}
	_ = t.Flush() // what is printed to a closed pipe is lost
}
