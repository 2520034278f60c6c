package doctor

import (
	"context"
	"fmt"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/policy"
)

func checkPolicy(_ context.Context, p *Target) Result {
	if p.Store == nil {
		return skip("there is no store")
	}
	const next = "mend the file; `anamnesis policy check` says what it understands"
	rules, err := policy.Read(p.Store.Path(policy.File))
	if err != nil {
		return bad(next, err.Error(), "none of its rules holds")
	}
	if n := len(rules.Problems); n > 0 {
		return warn(next, fmt.Sprintf("%s of %s is invalid and was ignored: %s", plural(n, "line"), policy.File, rules.Problems[0]))
	}
	if len(rules.Rules) == 0 {
		return ok("there is none")
	}
	lines := []string{fmt.Sprintf("%s in %s", plural(len(rules.Rules), "rule"), policy.File)}
	if unheard := rules.Unhooked(agent.Default().Hooks.ToolNames()); len(unheard) > 0 {
		return warn("let the agent's own permissions deny these tools", append(lines, "no hook runs for "+strings.Join(unheard, ", "))...)
	}
	return ok(lines...)
}
