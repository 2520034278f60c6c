package learn

import (
	"encoding/json"
	"strings"

	"anamnesis/internal/agent"
	"anamnesis/internal/session"
	"anamnesis/internal/text"
)

// A Permission is what a user decided for good of the use of a tool, in a reply to the
// question whether it may run.
type Permission struct {
	Decision Decided
	Call     string // what was asked for, cleaned: a command as code, a file, the name of a tool
	Scope    string // of a decision that holds for something only
	Quote    Quote
	Policy   string // the line of policy-rules.jsonl that would hold it; "" where no line can
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

// replies say what a user decided, the first that fits counts: a reply that forbids for
// good also begins with a no.
var replies = []struct {
	decision Decided
	form     func() *text.Pattern
}{
	{DenyAlways, text.Form(`(?i)\bno,? never\b|\bnever (?:ever )?(?:allow|approve|do|run|use|execute|call|touch|try)\b|\bnever again\b|`,
		`\b(?:don'?t|do not) ever\b|\balways deny\b|\bdeny (?:that |this |it )?always\b|\bnie wieder\b|\bniemals\b|\bplus jamais\b|`,
		`\bnunca m[aá]s\b|永远不要|再也不要`)},
	{AllowAlways, text.Form(`(?i)\byes,? always\b|\balways (?:allow|approve|yes|ok|okay|fine)\b|\ballow (?:that |this |it )?always\b|`,
		`\byou (?:can|may) always\b|\balways for this\b|\bimmer erlaub|\bdarfst du immer\b|\btoujours autoris|\bsiempre permit`)},
	{AllowScoped, text.Form(`(?i)^[^.!?]{0,20}\bonly (?:for|when|if|in|on) (.{2,80})`)},
	{AllowOnce, text.Form(`(?i)^(?:yes|yep|yeah|ok|okay|sure|approved?|allow(?:ed)?|go ahead|proceed|do it|y|ja|oui|sí)\b`)},
	{DenyOnce, text.Form(`(?i)^(?:nope|no|n|deny|denied|reject(?:ed)?|don'?t|do not|stop|cancel|abort|nein|non)\b`)},
}

// decisionOf says what a reply to the question whether a tool may run decides. scope is
// what it holds for, of one that holds for something only.
func decisionOf(reply string) (d Decided, scope string) {
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
// one is for a reader.
const maxReply = 12

// Permissions returns what the user decided of tools for good. A reply counts where the agent
// asked: the user refused a call, or an event says that the question was put (noted, in order
// of time), or the reply itself names the call ("yes, you can always run docker image prune").
func Permissions(s *agent.Session, clean Clean, noted ...Observed) (all []Permission) {
	if clean == nil {
		clean = func(text string) string { return text }
	}
	add := func(turn int, u *agent.ToolUse, reply string) {
		words := clean(text.Head(reply, 2*maxTyped))
		d, scope := decisionOf(words)
		if len(strings.Fields(words)) > maxReply || text.IsQuestion(words) || d != DenyAlways && d != AllowAlways && d != AllowScoped {
			return
		}
		t := &s.Turns[turn]
		p := Permission{Decision: d, Call: callOf(u, clean), Scope: scope, Quote: QuoteOf(Said{}, words)}
		p.Quote.Said = Said{Turn: turn, At: t.At, Text: words, Hash: hash(t.At, u.Name+"\x00"+string(u.Input)+"\x00"+reply)}
		p.Policy = p.policy(u.Name)
		all = append(all, p)
	}
	for i := range s.Turns {
		t := &s.Turns[i]
		for j := range t.Tools {
			if u := &t.Tools[j]; u.Denied && u.Reply != "" && !s.Headless {
				add(i, u, u.Reply)
			}
		}
		if !t.Human() {
			continue
		}
		typed := strings.Join(t.Typed(), " ")
		u := refusedBefore(s.Turns, i)
		if u == nil {
			u = askedBefore(s.Turns, noted, i)
		}
		if u == nil {
			u = namedBefore(s.Turns, i, typed)
		}
		if u != nil && typed != "" {
			add(i, u, typed)
		}
	}
	return all
}

// Title is the decision as a rule.
func (p *Permission) Title() string {
	switch p.Decision {
	case DenyAlways:
		return "Never run " + p.Call
	case AllowAlways:
		return "Run " + p.Call + " without asking"
	}
	return "Run " + p.Call + " only for " + p.Scope
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
func askedBefore(turns []agent.Turn, noted []Observed, at int) *agent.ToolUse {
	n := armed(turns, noted, at, AskedPermission)
	if n == nil {
		return nil
	}
	return lastCall(turns, at, func(u *agent.ToolUse) bool { return n.Tool == "" || u.Name == n.Tool })
}

// namedBefore returns the last call before a turn whose command the words name.
func namedBefore(turns []agent.Turn, at int, words string) *agent.ToolUse {
	return lastCall(turns, at, func(u *agent.ToolUse) bool {
		line := strings.Fields(session.CommandOf(*u))
		return len(line) >= 2 && strings.Contains(text.Folded(words), text.Folded(strings.Join(line[:min(3, len(line))], " ")))
	})
}

func lastCall(turns []agent.Turn, at int, fits func(*agent.ToolUse) bool) *agent.ToolUse {
	for i := at - 1; i >= 0 && !turns[i].Human(); i-- {
		for j := len(turns[i].Tools) - 1; j >= 0; j-- {
			if u := &turns[i].Tools[j]; fits(u) {
				return u
			}
		}
	}
	return nil
}

// Refused lists the calls that the user did not let run, each once, in a few words. They
// are as they stand in the records.
func Refused(s *agent.Session) (all []string) {
	as := func(text string) string { return text }
	seen := make(map[string]bool)
	for i := range s.Turns {
		for j := range s.Turns[i].Tools {
			if u := &s.Turns[i].Tools[j]; u.Denied {
				if call := callOf(u, as); !seen[call] {
					seen[call] = true
					all = append(all, call)
				}
			}
		}
	}
	return all
}

// policy is the line of a policy that would hold a decision, for its owner to take over, ""
// for one that holds for something only, which no line can say. Nothing here writes a policy.
func (p *Permission) policy(tool string) string {
	rule := map[string]string{"scope": "permission", "tool": tool, "decision": "allow", "confidence": "HIGH"}
	switch p.Decision {
	case DenyAlways:
		rule["scope"], rule["decision"], rule["message"] = "any", "deny", "Your owner said: never."
	case AllowAlways:
	default:
		return ""
	}
	if strings.HasPrefix(p.Call, "`") {
		rule["pattern"] = strings.Trim(p.Call, "`")
	} else if p.Decision == AllowAlways {
		return "" // every use of a tool is more than was asked
	}
	line, _ := json.Marshal(rule) // texts are always JSON
	if strings.HasSuffix(rule["pattern"], "…") {
		return ""
	}
	return string(line)
}
