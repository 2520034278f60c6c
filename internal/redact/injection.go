package redact

import (
	"slices"
	"strings"
	"sync"
)

// PromptInjection reports whether a text gives orders to the agent that will read
// it: "ignore all previous instructions", a role in angle brackets, "do not tell
// the user". What a model wrote about a session may repeat what a web page or a
// tool said there. Plain advice, "run make test before a commit", is what notes
// are for, and no injection.
//
// It knows common forms and misses others: whoever keeps a text that it reports
// lets a person look at it first, and nobody may rely on a text that it does not.
func PromptInjection(text string) bool {
	text = strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(text, "’", "'"))), " ")
	return slices.ContainsFunc(injections(), func(i *injection) bool { return containsAny(text, i.needs...) && i.get().MatchString(text) })
}

// An injection is a form of orders.
type injection struct {
	lazyPattern

	needs []string // what any text of the form holds, one of them at least
}

// injections are the forms that PromptInjection knows, in lower case and with single spaces.
var injections = sync.OnceValue(func() (all []*injection) {
	add := func(form string, needs ...string) {
		all = append(all, &injection{lazyPattern{expr: form}, needs})
	}
	add(`\b(ignore|disregard|forget|override|bypass)\b[^.!?]{0,40}`+
		`\b(previous|prior|above|earlier|preceding|system|developer|safety|your)\b[^.!?]{0,20}`+
		`\b(instruction|prompt|rule|guideline|message|direction)s?\b`,
		"ignore", "disregard", "forget", "override", "bypass")
	add(`\b(ignore|disregard)\b (everything|all|anything) (above|before|you were told)`,
		"ignore", "disregard")
	add(`\byou are now\b[^.!?]{0,40}\b(mode|assistant|agent|unrestricted|dan|jailbroken)\b`,
		"you are now")
	add(`\b(do not|don't|never|without)\b (tell|inform|mention (this|it) to|alert|notify|asking|telling|informing) the user\b`,
		"the user")
	add(`\b(new|updated|real|important) (system )?instructions? (for|to) (the|you|any|every) ?(assistant|agent|model|ai)\b`,
		"instruction")
	add(`\b(reveal|print|repeat|send|leak|exfiltrate)\b[^.!?]{0,30}`+
		`\b(system prompt|hidden prompt|your instructions|credentials to|secrets to|environment variables to)\b`,
		"system prompt", "hidden prompt", "your instructions", "credentials to", "secrets to", "environment variables to")
	add(`<\|?/?(system|assistant|im_start|im_end|instructions?|system-reminder|tool_result)\b[^>]{0,40}>`,
		"<")
	add(`(^|[.!?] )(assistant|human) ?: `,
		"assistant", "human")
	add(`\b(from now on|always|every time|each time|in every session|at the (start|beginning) of (each|every)|`+
		`before (each|every|any|doing))\b[^.!?]{0,120}`+
		`(\b(curl|wget|iwr|irm|invoke-webrequest)\b.{0,300}\| ?(sudo )?(ba|z|da|k|fi)?(sh|iex|python3?|node|perl)\b`+
		`|\b(send|post|upload|forward|exfiltrate)\b.{0,120}\bhttps?://)`,
		"curl", "wget", "iwr", "irm", "invoke-webrequest", "http")
	add(`\b(assistant|agent|ai|model|claude|codex)s?,? (must|should) (always |now )?(obey|comply with|follow) (this|these|the following)\b`,
		"obey", "comply with", "follow")
	return all
})
