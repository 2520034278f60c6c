// Naive is what one writes in an afternoon: notes in one FTS5 table, every word
// of a question joined by OR, ranked by bm25(), with the driver that anamnesis
// uses. It is the yardstick of package bench, and its launcher.
//
//	naive build DB STORE      index the notes of a store, print the nanoseconds
//	naive search DB WORDS...  print the eight best files
//	naive serve DB            answer a line with the nanoseconds it took
//	naive peak PROGRAM ARG... run a program, print its peak memory in bytes
package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"modernc.org/sqlite"
)

// The driver has made itself known as "sqlite".
var _ *sqlite.Driver

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "naive:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return fmt.Errorf("%d arguments; see the package comment", len(args))
	}
	if args[0] == "peak" {
		return peak(args[1:])
	}
	db, err := sql.Open("sqlite", "file:"+args[1]+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)")
	if err != nil {
		return err
	}
	defer db.Close()
	switch args[0] {
	case "build":
		began := time.Now()
		if err := build(db, args[2]); err != nil {
			return err
		}
		fmt.Println(time.Since(began).Nanoseconds())
		return nil
	case "search":
		files, err := search(db, strings.Join(args[2:], " "))
		for _, f := range files {
			fmt.Println(f)
		}
		return err
	case "serve":
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			began := time.Now()
			if _, err := search(db, lines.Text()); err != nil {
				return err
			}
			fmt.Println(time.Since(began).Nanoseconds())
		}
		return lines.Err()
	}
	return fmt.Errorf("no command %q", args[0])
}

// build reads every note and inserts title, body and tags in one transaction.
func build(db *sql.DB, store string) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec("CREATE VIRTUAL TABLE notes USING fts5(title, body, tags, path UNINDEXED, tokenize='porter unicode61')"); err != nil {
		return err
	}
	//nolint:sqlclosecheck // closed below; the closure that uses it hides that
	insert, err := tx.Prepare("INSERT INTO notes (title, body, tags, path) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	err = filepath.WalkDir(filepath.Join(store, "memory"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		title, body, tags := cut(string(data))
		_, err = insert.Exec(title, body, tags, path)
		return err
	})
	if err != nil {
		return err
	}
	return tx.Commit()
}

// cut takes a note apart without reading its front matter as what it is.
func cut(file string) (title, body, tags string) {
	front, body, _ := strings.Cut(strings.TrimPrefix(file, "---\n"), "\n---\n")
	inTags := false
	for line := range strings.Lines(front) {
		if value, ok := strings.CutPrefix(line, "title: "); ok {
			title = strings.TrimSpace(value)
		}
		if inTags = strings.HasPrefix(line, "tags:") || inTags && strings.HasPrefix(line, "- "); inTags {
			tags += strings.TrimLeft(line, "- ")
		}
	}
	return title, body, strings.TrimPrefix(tags, "tags:")
}

// search ranks all notes that hold one of the words and reads the eight best.
func search(db *sql.DB, question string) ([]string, error) {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	rows, err := db.Query("SELECT path FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT 8", `"`+strings.Join(words, `" OR "`)+`"`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var files []string
	for rows.Next() {
		var path string
		if err := rows.Scan(&path); err != nil {
			return nil, err
		}
		if _, err := os.ReadFile(path); err != nil {
			return nil, err
		}
		files = append(files, path)
	}
	return files, rows.Err()
}

// peak runs a program and prints the most memory that it had. This small
// process does it, because a child begins its life with its parent's peak.
func peak(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return err
	}
	fmt.Println(maxResident(cmd.ProcessState))
	return nil
}
