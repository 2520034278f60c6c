package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/redact"
)

// How long Ping waits for a server and for a command line, which has to start
// an agent first.
const (
	pingServer  = 15 * time.Second
	pingCommand = time.Minute
)

// Ping asks the model that o names for one word, and says in one line what came
// of it. ok is true as well when no model is configured: there is nothing that
// could be wrong. env is the environment that a command line starts from. The
// answer counts like every other: b may refuse, and nil is no limit.
func Ping(ctx context.Context, o GeneratorOptions, n Network, env []string, b *Budget) (text string, ok bool) {
	if o.Provider == "" || o.Provider == Heuristic {
		return "provider=heuristic (no LLM configured; nothing to test)", true
	}
	most := pingServer
	if isCommand(o.Provider) {
		most = pingCommand
	}
	if o.Timeout <= 0 || o.Timeout > most.Seconds() {
		o.Timeout = most.Seconds()
	}
	g, err := OpenGenerator(o, n, env, b)
	if errors.Is(err, ErrNotConfigured) {
		return "incomplete config (need provider, model, base_url, api_key)", false
	}
	if err != nil {
		return fmt.Sprintf("request failed: %v", err), false
	}
	if f, ok := g.(*Folder); ok { // a question would wait for its answer like all others
		waiting, answered, err := f.Waiting()
		if err != nil {
			return fmt.Sprintf("request failed: %v", err), false
		}
		return fmt.Sprintf("ok (provider=%s model=%s): %d requests wait for an answer, %d have one", o.Provider, o.Model, waiting, answered), true
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("no answer within %v", most))
	defer cancel()
	answer, err := g.Generate(ctx, Prompt{User: (&redact.Redactor{}).Redact("Answer with the word ok.")})
	switch {
	case errors.Is(err, ErrSpent):
		return fmt.Sprintf("not asked: %v", err), false
	case errors.Is(err, ErrEmpty):
		return "empty reply from provider", false
	case err != nil:
		return fmt.Sprintf("request failed: %v", err), false
	case !strings.Contains(strings.ToLower(answer), "ok"):
		return fmt.Sprintf("it was to answer with the word ok, and said %q (provider=%s model=%s)", beginning(answer), o.Provider, o.Model), false
	}
	return fmt.Sprintf("ok (provider=%s model=%s)", o.Provider, o.Model), true
}

// beginning is what is said of an answer that is not the one asked for.
func beginning(answer string) string {
	const most = 60
	line := strings.Join(strings.Fields(answer), " ")
	for len(line) > most {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return line
}
