package main

import (
	"context"
	"flag"
	"io"

	"anamnesis/internal/app"
	"anamnesis/lab/house"
)

// houseCounts measures what the program costs to change and to run, and compares it with docs/house.json.
func houseCounts(f *flag.FlagSet) action {
	root := f.String("root", "..", "`folder` of the repository")
	check := f.Bool("check", false, "fail if a count is more than 5 % above docs/house.json")
	update := f.Bool("update", false, "write the counts to docs/house.json")
	return func(ctx context.Context, _ app.Host, args []string) (any, func(io.Writer), error) {
		if len(args) > 0 {
			return nil, nil, app.Errorf(app.Usage, "house takes no argument")
		}
		figures, err := house.Take(ctx, *root)
		if err != nil {
			return nil, nil, err
		}
		book, err := house.ReadBook(*root)
		if err != nil {
			return nil, nil, err
		}
		rows := book.Rows(figures)
		switch {
		case *update:
			err = book.Update(*root, figures)
		case *check:
			err = book.Check(*root, figures)
		}
		if err != nil {
			house.Print(f.Output(), rows)
			return nil, nil, err
		}
		return rows, func(w io.Writer) { house.Print(w, rows) }, nil
	}
}
