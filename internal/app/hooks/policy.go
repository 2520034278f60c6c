package hooks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/app"
	"anamnesis/internal/note"
	"anamnesis/internal/policy"
	"anamnesis/internal/recall"
	"anamnesis/internal/store"
)

// A PolicyAnswer says what the policy of the store has to say, to one call if one is
// given.
type PolicyAnswer struct {
	Path     string           `json:"path"`
	Rules    []policy.Rule    `json:"rules"`
	Problems []policy.Problem `json:"problems"`
	Unhooked []string         `json:"unheard"` // tools of rules for which no hook runs
	Call     *CallVerdict     `json:"call,omitempty"`
}

// A CallVerdict is what the policy says to a call.
type CallVerdict struct {
	Decision policy.Decision `json:"decision"` // deny, ask, allow or ""
	Line     int             `json:"line"`     // of the rule that decided; 0 for the one that holds without a policy
	Text     string          `json:"text"`     // what the agent is shown
}

// Policy reads the policy of the store.
func Policy(s *store.Store, h *agent.Harness) (PolicyAnswer, error) {
	a := PolicyAnswer{Path: s.Path(policy.File), Rules: []policy.Rule{}, Problems: []policy.Problem{}, Unhooked: []string{}}
	p, err := policy.Read(a.Path)
	if err != nil {
		return a, err
	}
	a.Rules, a.Problems = append(a.Rules, p.Rules...), append(a.Problems, p.Problems...)
	a.Unhooked = append(a.Unhooked, p.Unhooked(h.Hooks.ToolNames())...)
	return a, nil
}

// PolicyTrouble says what keeps rules of the policy from holding, "" when all hold: a file that
// cannot be read, or lines that are no rules. It reads one small file.
func PolicyTrouble(s *store.Store) string {
	p, err := policy.Read(s.Path(policy.File))
	switch {
	case err != nil:
		return "none of its rules holds, those that deny among them: " + err.Error()
	case len(p.Problems) > 0:
		return fmt.Sprintf("%d of its lines cannot be understood: %s", len(p.Problems), p.Problems[0])
	}
	return ""
}

// policyNotice is what every session is shown at its start about a policy that does not hold,
// empty when it does: what it would deny is not denied.
func policyNotice(s *store.Store) string {
	why := PolicyTrouble(s)
	if why == "" {
		return ""
	}
	return "The policy of the user does not hold as it is written (" + note.Line(why, 200) + "); tell the user: `anamnesis policy check`."
}

// Police asks the policy about a call at a moment: before the tool runs, or when the user
// would be asked. What it tells an agent it tells a session once. A policy that is
// damaged denies nothing; the error says so once in a session. A call that would write into
// the store is the user's to allow, whatever the policy says short of denying it. With try
// nothing is remembered or logged.
func Police(s *store.Store, e agent.Event, at policy.Scope, o PromptOptions) (v CallVerdict, err error) {
	began := time.Now()
	p, err := policy.Read(s.Path(policy.File))
	if err == nil && len(p.Problems) > 0 {
		err = errors.New(p.Problems[0].String())
	}
	if err != nil && !o.Try && len(unsaid(s, e, []string{err.Error()})) == 0 {
		err = nil
	}
	said := p.Decide(at, e.ToolName, e.ToolInput)
	if said.Decision != policy.Deny {
		if named, file := storeFile(s, e); file != "" {
			return protect(s, e, at, o, named, file), err
		}
	}
	if v.Decision, v.Line = said.Decision, said.Line; said.Decision == "" && len(said.Context) == 0 {
		return v, err
	}
	if v.Text = policyText(s, e, said, o); v.Decision == "" && v.Text == "" {
		return v, err
	}
	if !o.Try {
		err = errors.Join(err, logPoliced(s, e, v, time.Since(began)))
	}
	return v, err
}

// policyText is what the agent is shown of what the policy says to a call, "" for nothing.
func policyText(s *store.Store, e agent.Event, said policy.Verdict, o PromptOptions) string {
	rd, err := app.OpenRedactor(s)
	if err != nil {
		said.Message, said.Context = "", nil // who cannot redact says nothing
	}
	switch said.Decision {
	case policy.Deny:
		text := "Denied by the user's policy"
		if said.Message != "" {
			text += ": " + rd.Redact(said.Message).String()
		}
		return text
	case "":
		if !o.Try {
			said.Context = unsaid(s, e, said.Context)
		}
		if len(said.Context) > 0 {
			return rd.Redact(policyBlock(said.Context)).String()
		}
	}
	return ""
}

// logPoliced records what was said to a call.
func logPoliced(s *store.Store, e agent.Event, v CallVerdict, took time.Duration) error {
	if s.ReadOnly() {
		return nil
	}
	return s.Events().Log(store.Record{
		Kind: store.Policed, Session: e.SessionID, Text: string(cmp.Or(v.Decision, policy.Context)), Count: 1, Out: recall.Tokens(v.Text),
		Query: e.ToolName, MS: app.Milliseconds(took),
	})
}

// protect answers a call that would write a file of the store: before it runs the user is to be asked, and when the user
// is asked nothing answers in their place.
func protect(s *store.Store, e agent.Event, at policy.Scope, o PromptOptions, named, file string) (v CallVerdict) {
	if at != policy.PreTool {
		return v
	}
	if named = note.Line(named, 200); named != file {
		named += " (" + note.Line(file, 200) + ")"
	}
	v.Decision = policy.Ask
	v.Text = named + " is in the user's memory: the user's notes are changed with `anamnesis edit`, not by the tools of an agent."
	if !o.Try {
		_ = logPoliced(s, e, v, 0) // the call is asked about in any case
	}
	return v
}

// policyTokens is how much the policy tells before one call at most.
const policyTokens = 200

// policyBlock is what an agent is shown by rules of the policy.
func policyBlock(lines []string) string {
	frame := agent.InjectStart + "\n# Rules of the user for this tool call\n\n%s" + agent.InjectEnd + "\n"
	room := policyTokens*recall.CharsPerToken - len(frame)
	var b strings.Builder
	for i, line := range lines {
		text := note.Line(strings.ReplaceAll(line, "<!--", "<! --"), max(20, (room-b.Len())/(len(lines)-i)-4))
		b.WriteString("- " + text + "\n")
	}
	return fmt.Sprintf(frame, b.String())
}

// unsaid returns the lines that a session was not shown before; they count as shown then.
// A session without a name is shown every time, and so is one of a store that cannot
// remember it.
func unsaid(s *store.Store, e agent.Event, lines []string) []string {
	if e.SessionID == "" || len(lines) == 0 {
		return lines
	}
	var some []string
	shown := s.Spool().ShownLog(e.SessionID, e.SubagentID)
	for _, line := range lines {
		sum := sha256.Sum256([]byte(line))
		t := store.Injection{Note: "policy", Hash: hex.EncodeToString(sum[:8])}
		if mine, err := shown.Claim(t); err != nil || len(mine) > 0 {
			some = append(some, line)
		}
	}
	return some
}
