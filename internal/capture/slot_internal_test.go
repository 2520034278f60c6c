package capture

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/agent"

	"github.com/google/go-cmp/cmp"
)

func asIs(s string) string { return s }

func tool(name, input string) agent.Turn {
	return agent.Turn{Role: agent.Assistant, Tools: []agent.ToolUse{{Name: name, Input: json.RawMessage(input), Result: "Task #7 created"}}}
}

func TestItems(t *testing.T) {
	for name, tc := range map[string]struct {
		turns []agent.Turn
		want  []string
	}{
		"nothing": {nil, nil},
		"a list": {[]agent.Turn{
			tool("TodoWrite", `{"todos":[{"content":"a","status":"pending"},{"content":"b","status":"pending"}]}`),
			tool("TodoWrite", `{"todos":[{"content":"a","status":"completed"}]}`),
		}, []string{"a done", "b done"}},
		"a plan":       {[]agent.Turn{tool("update_plan", `{"plan":[{"step":"a","status":"in_progress"}]}`)}, []string{"a"}},
		"descriptions": {[]agent.Turn{tool("write_todos", `{"todos":[{"description":"a","status":"cancelled"}]}`)}, []string{"a done"}},
		"tasks": {[]agent.Turn{
			tool("TaskCreate", `{"subject":"a","description":"long"}`), tool("TaskUpdate", `{"taskId":"7","status":"completed"}`),
			tool("TaskUpdate", `{"taskId":"8","status":"completed"}`), tool("TaskUpdate", `{"taskId":7}`),
		}, []string{"a done"}},
		"a person": {[]agent.Turn{{Role: agent.User, Text: "fix it\n- TODO: call Ann\nTODO\nno TODO here"}}, []string{"call Ann"}},
		"hostile": {[]agent.Turn{
			tool("TodoWrite", `"a text"`), tool("TodoWrite", `{"todos":"x"}`), tool("TodoWrite", `{"todos":[{"content":{}}]}`), tool("TaskUpdate", `null`),
			tool("Bash", `{"todos":[{"content":"a"}]}`),
		}, nil},
	} {
		var got []string
		for _, it := range itemsOf(tc.turns) {
			if it.done {
				it.text += " done"
			}
			got = append(got, it.text)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFinished(t *testing.T) {
	at := func(seconds int, turn agent.Turn) agent.Turn {
		turn.At = time.Date(2026, 3, 1, 10, 0, seconds, 0, time.UTC)
		return turn
	}
	edit := func(file string, failed bool) agent.Turn {
		return agent.Turn{Role: agent.Assistant, Tools: []agent.ToolUse{{Name: "Edit", Path: file, Error: failed}}}
	}
	for name, tc := range map[string]struct {
		turns []agent.Turn
		want  []string
	}{
		"a list": {[]agent.Turn{
			at(0, tool("TodoWrite", `{"todos":[{"content":"a","status":"pending"},{"content":"b","status":"pending"}]}`)),
			at(1, edit("before.go", false)),
			at(2, tool("TodoWrite", `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]}`)),
			at(3, edit("a.go", false)), at(4, edit("failed.go", true)), at(5, edit("a.go", false)),
			at(6, tool("TodoWrite", `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]}`)),
			at(92, tool("TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"completed"}]}`)),
			at(93, edit("after.go", false)),
			at(94, tool("TodoWrite", `{"todos":[{"content":"a","status":"completed"},{"content":"b","status":"completed"}]}`)),
		}, []string{"a (1m30s; a.go)", "b"}},
		"a plan": {[]agent.Turn{
			at(0, tool("update_plan", `{"plan":[{"step":"a","status":"in_progress"}]}`)),
			at(5, tool("update_plan", `{"plan":[{"step":"a","status":"completed"}]}`)),
		}, []string{"a (5s)"}},
		"tasks": {[]agent.Turn{
			tool("TaskCreate", `{"subject":"a"}`), at(1, tool("TaskUpdate", `{"taskId":"7","status":"in_progress"}`)),
			edit("a.go", false), at(3, tool("TaskUpdate", `{"taskId":"7","status":"completed"}`)),
		}, []string{"a (2s; a.go)"}},
		"it arrives done": {[]agent.Turn{
			tool("TodoWrite", `{"todos":[{"content":"a","status":"completed"}]}`), tool("TodoWrite", `{"todos":[{"content":"a","status":"completed"}]}`),
		}, nil},
		"it is dropped": {[]agent.Turn{
			tool("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`), tool("TodoWrite", `{"todos":[{"content":"a","status":"cancelled"}]}`),
		}, nil},
		"it vanishes": {[]agent.Turn{
			tool("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`), tool("TodoWrite", `{"todos":[{"content":"b","status":"pending"}]}`),
		}, nil},
		"taken up again": {[]agent.Turn{
			tool("TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`), tool("TodoWrite", `{"todos":[{"content":"a","status":"completed"}]}`),
			tool("TodoWrite", `{"todos":[{"content":"a","status":"in_progress"}]}`),
		}, nil},
	} {
		var got []string
		for _, it := range finished(tc.turns) {
			got = append(got, it.String())
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func run(command string, failed bool) agent.Turn {
	input, _ := json.Marshal(map[string]string{"command": command})
	return agent.Turn{Role: agent.Assistant, Tools: []agent.ToolUse{{Name: "Bash", Input: input, Error: failed, Result: "…"}}}
}

func TestFailing(t *testing.T) {
	old := parseEntries("- `make test` failed 3 times (session aaa)\n- `make old` failed 2 times (session bbb)\n- written by hand\n- `make odd` failed often (session aaa)")
	got := mergeFailing(old, []agent.Turn{
		run("make test", true), run("make old", false), run("make lint", true), run("make lint -v", true), run("make once", true),
		run("make fixed", true), run("make fixed", true), run("make fixed", false), run("ls", true), run("ls", true),
	}, "ccc", asIs)
	want := strings.Join([]string{
		"- `make test` failed 4 times (session ccc)", "- `make lint` failed 2 times (session ccc)", "- written by hand",
		"- `make odd` failed often (session aaa)",
	}, "\n")
	if diff := cmp.Diff(want, formatEntries(got, 1000)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := mergeFailing(got, []agent.Turn{run("make lint", true), run("make lint", true)}, "ccc", asIs)
	if diff := cmp.Diff("- `make lint` failed 2 times (session ccc)\n- written by hand\n- `make odd` failed often (session aaa)", formatEntries(again, 1000)); diff != "" {
		t.Errorf("captured again (-want +got):\n%s", diff)
	}
}

func TestSlotLines(t *testing.T) {
	items := []agent.Turn{tool("TodoWrite", `{"todos":[{"content":"new","status":"pending"},{"content":"old","status":"completed"}]}`)}
	got := mergeItems(parseEntries("- old (session aaa)\n- other (session aaa)\n- mine of before (session ccc)"), items, "ccc", asIs)
	if diff := cmp.Diff("- new (session ccc)\n- other (session aaa)", formatEntries(got, 1000)); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
	got = mergeFiles(parseEntries("- a.go (session aaa)\n- b.go (session aaa)"), []string{"c.go", "a.go"}, "ccc", asIs)
	if diff := cmp.Diff("- a.go (session ccc)\n- c.go (session ccc)\n- b.go (session aaa)", formatEntries(got, 1000)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if got := formatEntries(got, 30); got != "- a.go (session ccc)" {
		t.Errorf("in little room: %q", got)
	}
	var many []entry
	for range 50 {
		many = append(many, entry{"x", ""})
	}
	if n := strings.Count(formatEntries(many, 1000), "\n") + 1; n != maxSlotLines {
		t.Errorf("%d lines", n)
	}
}
