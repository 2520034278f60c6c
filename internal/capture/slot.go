package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/ingest"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
	"anamnesis/internal/store/project"
)

// Bounds of the slots that a session fills (A1).
const (
	maxSlotLines = 20
	maxSlotLine  = 160 // characters
	leastFails   = 2   // in one session, of one command that never passed
)

// An entry is a line of a slot: what is said, and the session that said it.
type entry struct{ text, session string }

// slots brings the automatic slots of a project into step with a session that ended. A
// session that is captured again replaces what it said before.
func (r *Recorder) slots(ctx context.Context, q Request, s *agent.Session, f *facts, key string) error {
	if !r.opts.Slots || key == project.Unknown {
		return nil
	}
	id := note.CutRunes(f.session(q), 8)
	known := r.cleaner(f.folder(q))
	clean := func(text string) string {
		return note.CutRunes(known(strings.Join(strings.Fields(text), " ")), maxSlotLine)
	}
	var errs []error
	for name, merge := range map[string]func([]entry) []entry{
		"pending_items":    func(old []entry) []entry { return mergeItems(old, s.Turns, id, clean) },
		"session_patterns": func(old []entry) []entry { return mergeFailing(old, s.Turns, id, clean) },
		"files_in_work":    func(old []entry) []entry { return mergeFiles(old, f.files, id, clean) },
	} {
		errs = append(errs, r.fillSlot(ctx, key, name, id, merge))
	}
	return errors.Join(errs...)
}

// automaticSlots are the slots that sessions fill.
var automaticSlots = []string{"pending_items", "session_patterns", "files_in_work"}

// ForgetInSlots erases lines of the automatic slots of a project, and the former forms of those slots. gone is given the first
// characters of a session's id, "" for a line of the user, and the line.
func (r *Recorder) ForgetInSlots(ctx context.Context, key string, gone func(session, line string) bool) error {
	is := func(e entry) bool { return gone(e.session, e.text) }
	var errs []error
	for _, name := range automaticSlots {
		text, err := ingest.SlotsOf(r.ingester).Text(ctx, key, name)
		if err != nil || !slices.ContainsFunc(parseEntries(text), is) {
			errs = append(errs, err)
			continue
		}
		err = r.fillSlot(ctx, key, name, "", func(old []entry) []entry {
			left := slices.DeleteFunc(old, is)
			if len(left) == 0 { // a slot that is cleared keeps its text
				left = []entry{{text: "nothing"}}
			}
			return left
		})
		if text, terr := ingest.SlotsOf(r.ingester).Text(ctx, key, name); terr == nil && text == "- nothing" {
			err = errors.Join(err, r.fillSlot(ctx, key, name, "", func([]entry) []entry { return nil }))
		}
		errs = append(errs, err, ingest.SlotsOf(r.ingester).EraseFormer(ctx, key, name))
	}
	return errors.Join(errs...)
}

// fillSlot writes what merge makes of the lines of a slot, when it differs.
func (r *Recorder) fillSlot(ctx context.Context, key, name, session string, merge func([]entry) []entry) error {
	was, err := ingest.SlotsOf(r.ingester).Text(ctx, key, name)
	if err != nil {
		return err
	}
	text := formatEntries(merge(parseEntries(was)), note.SlotOf(name).Limit)
	e := ingest.SlotEdit{Change: ingest.ReplaceSlot, Name: name, Project: key, Text: text, By: ingest.Model, Here: key, Session: session}
	switch {
	case text == was:
		return nil
	case text == "":
		e.Change = ingest.ClearSlot
	}
	_, err = ingest.SlotsOf(r.ingester).Edit(ctx, e)
	var refused *ingest.SlotError
	if errors.As(err, &refused) { // its owner pinned it
		return nil
	}
	return err
}

// entryEnd begins the end of a line that says which session it is from.
const entryEnd = " (session "

// parseEntries reads the lines of a slot. What its owner wrote in between is an entry
// without a session, and stays.
func parseEntries(text string) (all []entry) {
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
		e := entry{text: line}
		if i := strings.LastIndex(line, entryEnd); i >= 0 && strings.HasSuffix(line, ")") {
			e = entry{line[:i], line[i+len(entryEnd) : len(line)-1]}
		}
		if e.text != "" {
			all = append(all, e)
		}
	}
	return all
}

// formatEntries writes the first lines, as many as there is room for.
func formatEntries(all []entry, limit int) string {
	var lines []string
	for _, e := range all[:min(len(all), maxSlotLines)] {
		line := "- " + e.text
		if e.session != "" {
			line += entryEnd + e.session + ")"
		}
		if limit -= utf8.RuneCountInString(line) + 1; limit < 0 {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// mergeItems puts the open items of a session before those of others, and drops what it
// finished.
func mergeItems(old []entry, turns []agent.Turn, session string, clean func(string) string) []entry {
	items := itemsOf(turns)
	if len(items) == 0 {
		return old
	}
	var all []entry
	known := make(map[string]bool)
	for _, it := range items {
		text := clean(it.text)
		if text == "" || known[text] {
			continue
		}
		known[text] = true
		if !it.done {
			all = append(all, entry{text, session})
		}
	}
	return append(all, slices.DeleteFunc(old, func(e entry) bool { return e.session == session || known[e.text] })...)
}

// mergeFailing counts the commands that failed and never passed, and drops those that
// pass now.
func mergeFailing(old []entry, turns []agent.Turn, session string, clean func(string) string) []entry {
	fails, passed := failing(turns)
	for i := range fails {
		fails[i].command = clean(fails[i].command)
	}
	for i := range passed {
		passed[i] = clean(passed[i])
	}
	var all, rest []entry
	for _, e := range old {
		command, times, ok := failingEntry(e.text)
		switch {
		case !ok:
			rest = append(rest, e)
		case e.session == session || slices.Contains(passed, command):
		default:
			if i := slices.IndexFunc(fails, func(f failure) bool { return f.command == command }); i >= 0 {
				fails[i].times += times
				continue
			}
			rest = append(rest, e)
		}
	}
	for _, f := range fails {
		if f.times >= leastFails && f.command != "" {
			all = append(all, entry{fmt.Sprintf("`%s` failed %d times", f.command, f.times), session})
		}
	}
	return append(all, rest...)
}

// failingEntry reads what mergeFailing wrote.
func failingEntry(text string) (command string, times int, ok bool) {
	i := strings.LastIndex(text, "` failed ")
	if i < 1 || text[0] != '`' {
		return "", 0, false
	}
	times, err := strconv.Atoi(strings.TrimSuffix(text[i+len("` failed "):], " times"))
	return text[1:i], times, err == nil && times > 0
}

// mergeFiles puts the files that a session edited last before those of others.
func mergeFiles(old []entry, files []string, session string, clean func(string) string) []entry {
	var all []entry
	known := make(map[string]bool)
	for _, file := range slices.Backward(files) {
		if text := clean(file); text != "" && !known[text] {
			known[text] = true
			all = append(all, entry{text, session})
		}
	}
	return append(all, slices.DeleteFunc(old, func(e entry) bool { return known[e.text] })...)
}

// failure is a command and how often it failed.
type failure struct {
	command string
	times   int
}

// failing returns the commands of a session whose last run failed, and those whose last
// run passed. Commands that only look say nothing.
func failing(turns []agent.Turn) (failed []failure, passed []string) {
	times := make(map[string]int)
	var order []string
	for i := range turns {
		for _, u := range turns[i].Tools {
			command := session.CommandOf(u)
			key := session.NormalCommand(command)
			if u.Path != "" || key == "" || session.Looks(key) || u.Denied || u.Result == "" { // a result that was never met says nothing
				continue
			}
			if _, ok := times[key]; !ok {
				order = append(order, key)
			}
			if u.Error {
				times[key]++
			} else {
				times[key] = 0
			}
		}
	}
	for _, key := range order {
		if n := times[key]; n > 0 {
			failed = append(failed, failure{key, n})
		} else {
			passed = append(passed, key)
		}
	}
	return failed, passed
}
