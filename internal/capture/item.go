package capture

import (
	"encoding/json"
	"strings"

	"anamnesis/internal/agent"
)

// An item is one line of the list that an agent keeps of its work.
type item struct {
	text string
	done bool
}

// itemsOf returns the items of a session as they stand at its end. Agents write their
// list whole (TodoWrite, write_todos, todowrite, update_plan) or item by item
// (TaskCreate, TaskUpdate). A person's line that begins with TODO is one too.
func itemsOf(turns []agent.Turn) []item {
	var said []item
	list := itemList{number: make(map[string]int)}
	for i := range turns {
		t := &turns[i]
		if t.Human() {
			for line := range strings.Lines(t.Text) {
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

// An itemList follows the list of an agent.
type itemList struct {
	items  []item
	number map[string]int // of an item in the agent's words
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
			l.items = append(l.items, it)
		}
	case "taskupdate":
		id, _ := in.TaskID.(string)
		if at, ok := l.number[id]; ok && in.Status != "" {
			l.items[at].done = in.item().done
		}
	default:
		lines := append(in.Todos, in.Plan...)
		if u.Error || len(lines) == 0 {
			return
		}
		was := l.items
		l.items = nil
		for i := range lines {
			if it := lines[i].item(); it.text != "" {
				l.items = append(l.items, it)
			}
		}
		for _, it := range was { // what vanished from the list is not open any more
			it.done = true
			l.items = append(l.items, it)
		}
	}
}

// taskNumber is the number of a task in what the tool answers: "Task #1 created …".
func taskNumber(result string) string {
	_, rest, _ := strings.Cut(result, "#")
	end := strings.IndexFunc(rest+" ", func(r rune) bool { return r < '0' || r > '9' })
	return rest[:end]
}
