package capture

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent"
	textform "anamnesis/internal/text"
)

// An item is one line of the list that an agent keeps of its work.
type item struct {
	text string
	done bool

	completed bool      // it was on the list before it was done, and it was not dropped
	began     time.Time // it was in progress from here on; zero when it never was
	ended     time.Time
	files     []string // edited in between
}

// itemsOf returns the items of a session as they stand at its end. Agents write their
// list whole (TodoWrite, write_todos, todowrite, update_plan) or item by item
// (TaskCreate, TaskUpdate). A person's line that begins with TODO is one too.
func itemsOf(turns []agent.Turn) []item {
	var said []item
	list := itemList{number: make(map[string]int)}
	for i := range turns {
		t := &turns[i]
		list.now = t.At
		if t.Human() {
			for line := range strings.Lines(strings.Join(t.Typed(), "\n")) {
				if text, ok := strings.CutPrefix(strings.TrimLeft(line, "-* \t"), "TODO"); ok && len(said) < maxSlotLines {
					if text = strings.TrimSpace(strings.TrimLeft(text, ":")); text != "" {
						said = append(said, item{text: text})
					}
				}
			}
		}
		for j := range t.Tools {
			list.take(&t.Tools[j])
		}
	}
	return append(list.items, said...)
}

// finished returns what the agent finished of its list: items that stood on it before
// they were done. An item that arrives done is none, and one that was shown again is one.
func finished(turns []agent.Turn) (all []item) {
	seen := make(map[string]bool)
	for _, it := range itemsOf(turns) {
		if it.completed && !seen[it.text] {
			seen[it.text] = true
			all = append(all, it)
		}
	}
	return all[max(0, len(all)-maxSlotLines):]
}

// String tells a finished item: how long it took, and which files were edited.
func (it *item) String() string {
	var more []string
	if took := it.ended.Sub(it.began); !it.began.IsZero() && took >= time.Second {
		more = append(more, took.Round(time.Second).String())
	}
	if n := len(it.files); n > 0 {
		files := strings.Join(it.files[:min(n, maxItemFiles)], ", ")
		if n > maxItemFiles {
			files += fmt.Sprintf(" and %d more", n-maxItemFiles)
		}
		more = append(more, files)
	}
	text := textform.Cut(it.text, maxSlotLine)
	if len(more) > 0 {
		text += " (" + strings.Join(more, "; ") + ")"
	}
	return text
}

// maxItemFiles is how many files of a finished item are named.
const maxItemFiles = 3

// An itemList follows the list of an agent.
type itemList struct {
	items  []item
	number map[string]int // of an item in the agent's words
	now    time.Time
}

// step brings an item to its next status. was is nil for one that is new on the list.
func (l *itemList) step(it, was *item, status string) {
	if was != nil {
		it.completed, it.began, it.ended, it.files = was.completed, was.began, was.ended, was.files
	}
	switch {
	case status == "completed" && was != nil && !was.done:
		it.completed, it.ended = true, l.now
	case status == "completed":
	case it.done: // dropped
		it.completed = false
	default:
		it.completed = false
		if status == "in_progress" && it.began.IsZero() {
			it.began = l.now
		}
	}
}

// edited notes a file for what is in progress.
func (l *itemList) edited(file string) {
	for i := range l.items {
		if it := &l.items[i]; !it.done && !it.began.IsZero() && !slices.Contains(it.files, file) {
			it.files = append(it.files, file)
		}
	}
}

// itemInput is what the tools of all agents say of items, as far as we ask.
type itemInput struct {
	Todos []itemLine `json:"todos"`
	Plan  []itemLine `json:"plan"`
	itemLine
	TaskID any `json:"taskId"`
}

type itemLine struct {
	Content     string `json:"content"`
	Step        string `json:"step"`
	Subject     string `json:"subject"`
	Description string `json:"description"`
	Status      string `json:"status"`
}

func (l *itemLine) item() item {
	it := item{done: l.Status == "completed" || l.Status == "cancelled" || l.Status == "canceled" || l.Status == "deleted"}
	for _, text := range []string{l.Content, l.Step, l.Subject, l.Description} {
		if it.text == "" {
			it.text = text
		}
	}
	return it
}

func (l *itemList) take(u *agent.ToolUse) {
	if u.Path != "" && !u.Error {
		l.edited(u.Path)
	}
	name := strings.ToLower(strings.ReplaceAll(u.Name, "_", ""))
	if name != "todowrite" && name != "writetodos" && name != "updateplan" && name != "taskcreate" && name != "taskupdate" {
		return
	}
	var in itemInput
	if json.Unmarshal(u.Input, &in) != nil {
		return
	}
	switch name {
	case "taskcreate":
		if it := in.item(); it.text != "" {
			if id := taskNumber(u.Result); id != "" {
				l.number[id] = len(l.items)
			}
			l.step(&it, nil, in.Status)
			l.items = append(l.items, it)
		}
	case "taskupdate":
		id, _ := in.TaskID.(string)
		if at, ok := l.number[id]; ok && in.Status != "" {
			was := l.items[at]
			l.items[at].done = in.item().done
			l.step(&l.items[at], &was, in.Status)
		}
	default:
		lines := append(in.Todos, in.Plan...)
		if u.Error || len(lines) == 0 {
			return
		}
		was := l.items
		l.items = nil
		for i := range lines {
			it := lines[i].item()
			if it.text == "" {
				continue
			}
			var old *item
			if at := slices.IndexFunc(was, func(w item) bool { return w.text == it.text }); at >= 0 {
				old = &was[at]
			}
			l.step(&it, old, lines[i].Status)
			l.items = append(l.items, it)
		}
		for _, it := range was { // what vanished from the list is not open any more
			if !slices.ContainsFunc(l.items, func(now item) bool { return now.text == it.text }) {
				it.done = true
				l.items = append(l.items, it)
			}
		}
	}
}

// taskNumber is the number of a task in what the tool answers: "Task #1 created …".
func taskNumber(result string) string {
	_, rest, _ := strings.Cut(result, "#")
	end := strings.IndexFunc(rest+" ", func(r rune) bool { return r < '0' || r > '9' })
	return rest[:end]
}
