package connect_test

import (
	"testing"

	"anamnesis/internal/connect"
)

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		all  []connect.Ability
		want string
	}{
		{[]connect.Ability{{connect.AtStart, connect.Works, ""}, {connect.Ruled, connect.NoChannel, "its hooks tell it"}}, "all of it"},
		{[]connect.Ability{
			{connect.AtStart, connect.Works, "once approved"},
			{connect.AtPrompt, connect.Works, "once approved"},
			{connect.Asks, connect.Works, ""},
			{connect.AtTools, connect.Partial, "late"},
		}, "all of it; shown at session start, shown at prompts (once approved); shown at tools (late)"},
		{
			[]connect.Ability{{connect.Asks, connect.Works, ""}, {connect.AtStart, connect.NoChannel, ""}, {connect.AtPrompt, connect.NoChannel, "no text"}},
			"asks by MCP; not shown at session start, not shown at prompts",
		},
		{[]connect.Ability{{connect.AtStart, connect.NoChannel, ""}}, "not shown at session start"},
	} {
		if got := connect.Summary(c.all); got != c.want {
			t.Errorf("Summary(%v) = %q, want %q", c.all, got, c.want)
		}
	}
}
