package lesson

import (
	"encoding/json"
	"regexp"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/smalltalk"
)

// A permit is a reply of the user about what a tool may do.
type permit struct {
	decision Decided
	use      *agent.ToolUse // what was asked for
	call     string         // it, cleaned
	words    string         // of the user, cleaned
	raw      string
	scope    string // of a decision that holds for something only
}

// Decided says what the user decided of a tool's use.
type Decided string

// The decisions. Those for once teach nothing.
const (
	Undecided   Decided = ""
	DenyAlways  Decided = "deny-always"
	AllowAlways Decided = "allow-always"
	AllowScoped Decided = "allow-scoped"
	AllowOnce   Decided = "allow-once"
	DenyOnce    Decided = "deny-once"
)

// replies tell what a user decided, the first that fits counts: a reply that forbids for
// good also begins with a no.
var replies = []struct {
	decision Decided
	form     func() *regexp.Regexp
}{
	{DenyAlways, form(`(?i)\bno,? never\b|\bnever (?:ever )?(?:allow|approve|do|run|use|execute|call|touch|try)\b|\bnever again\b|`,
		`\b(?:don'?t|do not) ever\b|\balways deny\b|\bdeny (?:that |this |it )?always\b|\bnie wieder\b|\bniemals\b|\bplus jamais\b|`,
		`\bnunca m[aá]s\b|永远不要|再也不要`)},
	{AllowAlways, form(`(?i)\byes,? always\b|\balways (?:allow|approve|yes|ok|okay|fine)\b|\ballow (?:that |this |it )?always\b|`,
		`\balways for this\b|\bimmer erlaub|\bdarfst du immer\b|\btoujours autoris|\bsiempre permit`)},
	{AllowScoped, form(`(?i)^[^.!?]{0,20}\bonly (?:for|when|if|in|on) (.{2,80})`)},
	{AllowOnce, form(`(?i)^(?:yes|yep|yeah|ok|okay|sure|approved?|allow(?:ed)?|go ahead|proceed|do it|y|ja|oui|sí)\b`)},
	{DenyOnce, form(`(?i)^(?:nope|no|n|deny|denied|reject(?:ed)?|don'?t|do not|stop|cancel|abort|nein|non)\b`)},
}

// DecisionOf says what a reply to the question whether a tool may run decides. scope is
// what it holds for, of one that holds for something only.
func DecisionOf(reply string) (d Decided, scope string) {
	reply = strings.TrimSpace(reply)
	for i := range replies {
		if found := replies[i].form().FindStringSubmatch(reply); found != nil {
			if len(found) > 1 {
				scope = strings.TrimRight(found[1], ".! ")
			}
			return replies[i].decision, scope
		}
	}
	return Undecided, ""
}

// maxReply is how many words a reply has at most that speaks of the call alone: a longer
// one is a rule in words of its own.
const maxReply = 10

// permits finds what the user decided of tools for good.
func permits(m *material) (all []Signal) {
	for i := range m.turns {
		t := &m.turns[i]
		for j := range t.Tools {
			if u := &t.Tools[j]; u.Denied && u.Reply != "" {
				all = m.permit(all, i, u, u.Reply)
			}
		}
		if !t.Human() {
			continue
		}
		u := refusedBefore(m.turns, i)
		if u == nil {
			u = m.askedBefore(i)
		}
		if u != nil {
			all = m.permit(all, i, u, t.Text)
		}
	}
	return all
}

// permit adds what a reply decides of a call. What the user says at length with a refusal
// is weighed as any other word of theirs.
func (m *material) permit(all []Signal, turn int, u *agent.ToolUse, reply string) []Signal {
	words := m.clean(head(reply, 2*maxOwn))
	d, scope := DecisionOf(words)
	if n := len(smalltalk.Words(words)); n <= maxReply && (d == DenyAlways || d == AllowAlways || d == AllowScoped) && !Question(words) {
		p := &permit{d, u, m.callOf(u), words, u.Name + "\x00" + string(u.Input) + "\x00" + reply, scope}
		return append(all, Signal{Kind: Permission, Turn: turn, Said: []string{words}, Score: minScore + 3, permit: p})
	}
	if m.turns[turn].Human() {
		return all // said finds it
	}
	if sig, ok := weigh(words, true); ok && sig.Score+saysInstead >= minScore {
		sig.Turn, sig.After = turn, "the user refused "+m.callOf(u)
		all = append(all, sig)
	}
	return all
}

// refusedBefore returns the call that the user refused last before a turn, since they
// spoke last; nil for none.
func refusedBefore(turns []agent.Turn, at int) *agent.ToolUse {
	for i := at - 1; i >= 0 && !turns[i].Human(); i-- {
		if n := len(turns[i].Tools); n > 0 {
			if u := &turns[i].Tools[n-1]; u.Denied {
				return u
			}
			return nil
		}
	}
	return nil
}

// askedBefore returns the call for which the user was asked last before a turn, when an
// event says so: no record of a session does.
func (m *material) askedBefore(at int) *agent.ToolUse {
	n := m.armed(at, AskedPermission)
	if n == nil {
		return nil
	}
	for i := at - 1; i >= 0 && !m.turns[i].Human(); i-- {
		for j := len(m.turns[i].Tools) - 1; j >= 0; j-- {
			if u := &m.turns[i].Tools[j]; n.Tool == "" || u.Name == n.Tool {
				return u
			}
		}
	}
	return nil
}

// callOf tells a call in a few words: its command line, its file, or its name.
func (m *material) callOf(u *agent.ToolUse) string {
	switch line := commandOf(*u); {
	case line != "":
		return code(m.clean(line))
	case u.Path != "":
		return u.Name + " of " + m.clean(u.Path)
	}
	return u.Name
}

// Refused lists the calls that the user did not let run, each once, in a few words. They
// are as they stand in the records.
func Refused(s *agent.Session) (all []string) {
	m := material{turns: s.Turns, clean: func(text string) string { return text }}
	seen := make(map[string]bool)
	for i := range s.Turns {
		for j := range s.Turns[i].Tools {
			if u := &s.Turns[i].Tools[j]; u.Denied {
				if call := m.callOf(u); !seen[call] {
					seen[call] = true
					all = append(all, call)
				}
			}
		}
	}
	return all
}

// writePermit writes what a tool may do. The line of a policy that would hold it is part
// of it, for the user to take over: nothing here writes a policy.
func writePermit(s *agent.Session, sig Signal) Lesson {
	p := sig.permit
	quote := Cut(p.words, maxQuote)
	l := Lesson{Category: "permissions", Confidence: 0.8, Anchors: []string{Cut(strings.Trim(p.call, "`"), 80)}}
	switch p.decision {
	case DenyAlways:
		l.Title = "Never run " + p.call
		l.Rule = l.Title + "."
	case AllowAlways:
		l.Title = "Run " + p.call + " without asking"
		l.Rule = l.Title + "."
	default:
		l.Title = "Run " + p.call + " only for " + p.scope
		l.Rule = l.Title + "."
	}
	l.Title = Cut(l.Title, maxTitle+60)
	l.Window = window(s.Turns, sig, quote)
	l.Why = "the user said: “" + quote + "”"
	l.Policy = p.policy()
	return l
}

// policy is the line of a policy that would hold a decision, "" for one that holds for
// something only, which no line can tell.
func (p *permit) policy() string {
	rule := map[string]string{"scope": "permission", "tool": p.use.Name, "decision": "allow", "confidence": "HIGH"}
	switch p.decision {
	case DenyAlways:
		rule["scope"], rule["decision"], rule["message"] = "any", "deny", "Your owner said: never."
	case AllowAlways:
	default:
		return ""
	}
	if strings.HasPrefix(p.call, "`") {
		rule["pattern"] = strings.Trim(p.call, "`")
	} else if p.decision == AllowAlways {
		return "" // every use of a tool is more than was asked
	}
	line, _ := json.Marshal(rule) // texts are always JSON
	if strings.HasSuffix(rule["pattern"], "…") {
		return ""
	}
	return string(line)
}
