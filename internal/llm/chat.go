package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// GeneratorOptions name a chat model: one behind an OpenAI-compatible server,
// the command line of an agent, or whatever answers the files of a folder.
type GeneratorOptions struct {
	Provider string // a label; Heuristic, or nothing, means that there is no model
	URL      string // with or without /v1; "" is the vendor's own, see BaseURL
	Model    string // of a command line, "" is the vendor's smallest, and OwnModel the one it uses on its own
	Key      string // sent to the host of URL only
	Command  string // program of a command line; "" looks for it in PATH
	Folder   string // of requests and answers, for Files
	// Timeout is how many seconds one request may take, and twice that all tries
	// together; a command line has four times as long. 0 means 30.
	Timeout float64
}

// The providers that have a name.
const (
	Heuristic = "heuristic" // no model
	DeepSeek  = "deepseek"
	OpenAI    = "openai"
	Local     = "local"  // a server of one's own, which needs no key
	Claude    = "claude" // the command line of Claude Code
	Codex     = "codex"  // the command line of Codex
	Gemini    = "gemini" // the command line of Gemini CLI
	Copilot   = "copilot"
	OpenCode  = "opencode"
	Files     = "files" // a folder: requests are written to it, answers are put there
)

// isCommand reports whether a provider is the command line of an agent.
func isCommand(provider string) bool {
	_, ok := dialects()[provider]
	return ok
}

// BaseURL returns the address that a provider is asked at: the one that was
// set, or else the vendor's own. It is "" where there is none.
func BaseURL(provider, set string) string {
	switch {
	case set != "":
		return set
	case provider == DeepSeek:
		return "https://api.deepseek.com"
	case provider == OpenAI:
		return "https://api.openai.com/v1"
	}
	return ""
}

// OpenGenerator returns the Generator that o names, of whatever kind. The error
// is ErrNotConfigured when o names no model, or too little of one. env is the
// environment that a command line starts from; a nil budget is no limit.
func OpenGenerator(o GeneratorOptions, n Network, env []string, b *Budget) (Generator, error) {
	switch {
	case isCommand(o.Provider):
		return NewCommand(o, env, b)
	case o.Provider == Files:
		return NewFolder(o, b)
	}
	return NewGenerator(o, n, b)
}

// NameOf is the name of the Generator that o names, before it is opened.
func NameOf(o GeneratorOptions) string {
	model := o.Model
	if d, ok := dialects()[o.Provider]; ok {
		model = cmp.Or(model, d.small, OwnModel)
	}
	if model == "" {
		return o.Provider
	}
	return o.Provider + "/" + model
}

// ErrNotConfigured says that the settings of a model are not complete.
var ErrNotConfigured = errors.New("no model is configured; `anamnesis config set reflection.provider NAME` chooses one, " +
	"`anamnesis config explain reflection.provider` lists them")

// ErrEmpty is an answer that says nothing.
var ErrEmpty = errors.New("an empty answer")

// ErrSpent says that models have been asked enough for today: a Budget refuses
// until the next day, and waiting helps.
var ErrSpent = errors.New("the daily budget of models is spent")

// A Budget says how much may be asked, for instance in a day. Its functions are safe
// for concurrent use.
type Budget struct {
	// Allow returns why nothing may be asked now, ErrSpent when that is because of
	// what was asked before. It is asked before each answer.
	Allow func(ctx context.Context) error
	// Spent counts an answer and the tokens of it and of its prompt. model is the
	// name of the Generator.
	Spent func(model string, u Usage)
	// Limited takes what a vendor says about its quota, whether or not there was an
	// answer with it; nil for a budget that does not want to know.
	Limited func(model string, limits []Limit)
}

// Usage is what an answer cost, in tokens.
type Usage struct {
	Prompt    int
	Answer    int
	Estimated bool // the server did not say; four bytes count as a token
}

// A Completion is an answer and what is known about it.
type Completion struct {
	Text  string // without anything around it
	Cut   bool   // at the greatest length, so that its end is missing
	Usage Usage
}

// Chat is a Generator behind HTTP: POST /v1/chat/completions. It is safe for
// concurrent use.
type Chat struct {
	server   *server
	name     string
	model    string
	budget   *Budget
	fixed    bool        // nobody can refuse a request and have it sent another way
	newLimit atomic.Bool // the length is called max_completion_tokens
	plain    atomic.Bool // the model has one temperature, its own
}

var _ Generator = (*Chat)(nil)

// temperature keeps answers near to what the prompt says.
const temperature = 0.2

// NewGenerator returns a Generator that connects when it is first asked. The
// error is ErrNotConfigured when o names no model, or too little of one. A nil
// budget is no limit.
func NewGenerator(o GeneratorOptions, n Network, b *Budget) (*Chat, error) {
	o.URL = BaseURL(o.Provider, o.URL)
	switch {
	case o.Provider == "" || o.Provider == Heuristic:
		return nil, ErrNotConfigured
	case isCommand(o.Provider), o.Provider == Files:
		return nil, fmt.Errorf("%w: %s is no server", ErrNotConfigured, o.Provider)
	case o.Model == "" || o.URL == "":
		return nil, fmt.Errorf("%w: the provider %s needs a model and an address", ErrNotConfigured, o.Provider)
	case o.Key == "" && o.Provider != Local:
		return nil, fmt.Errorf("%w: the provider %s needs a key", ErrNotConfigured, o.Provider)
	}
	try := seconds(o.Timeout, defaultWhole/2)
	s, err := newServer(o.URL, o.Key, n, func(u *url.URL) []string { return routes(u, "/chat/completions") }, try, 2*try)
	if err != nil {
		return nil, err
	}
	c := &Chat{server: s, name: o.Provider + "/" + o.Model, model: o.Model, budget: b}
	s.limits = func(l []Limit) { limited(b, c.name, l) }
	return c, nil
}

// Name implements Generator.
func (c *Chat) Name() string { return c.name }

// Generate implements Generator.
func (c *Chat) Generate(ctx context.Context, p Prompt) (string, error) {
	got, err := c.Complete(ctx, p)
	return got.Text, err
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type chatRequest struct {
	Model       string        `json:"model"`
	Messages    []chatMessage `json:"messages"`
	Temperature *float64      `json:"temperature,omitempty"`
	MaxTokens   int           `json:"max_tokens,omitempty"`
	NewMax      int           `json:"max_completion_tokens,omitempty"`
	Stream      bool          `json:"stream"`
}

type chatAnswer struct {
	Choices []struct {
		Message struct {
			Content *string `json:"content"`
			Refusal *string `json:"refusal"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Answer int `json:"completion_tokens"`
	} `json:"usage"`
}

// Complete is Generate that also says what the answer cost.
func (c *Chat) Complete(ctx context.Context, p Prompt) (Completion, error) {
	var refusal *string
	got, err := metered(ctx, c.Name, c.budget, p, func() (Completion, error) {
		began := time.Now()
		var answer chatAnswer
		err := c.server.ask(ctx, c.request(p), &answer)
		for range 2 { // one for each of what request may leave out
			if !c.learn(err) || time.Since(began) > c.server.whole {
				break
			}
			answer = chatAnswer{}
			err = c.server.ask(ctx, c.request(p), &answer)
		}
		got := Completion{Usage: Usage{Prompt: answer.Usage.Prompt, Answer: answer.Usage.Answer}}
		if err != nil || len(answer.Choices) == 0 {
			return got, err
		}
		first := answer.Choices[0]
		if first.Message.Content != nil {
			got.Text, got.Cut = *first.Message.Content, first.FinishReason == "length"
		}
		refusal = first.Message.Refusal
		return got, nil
	})
	switch {
	case err != nil || got.Text != "":
		return got, err
	case refusal != nil:
		return got, fmt.Errorf("ask %s: %s gives a refusal: %s", c.name, c.server.host, c.server.clean(*refusal))
	}
	return got, fmt.Errorf("ask %s: %s gives %w", c.name, c.server.host, ErrEmpty)
}

// metered asks for an answer within a budget, which may be nil, and counts what it
// cost, four bytes for a token where nobody else counted.
func metered(ctx context.Context, name func() string, b *Budget, p Prompt, ask func() (Completion, error)) (Completion, error) {
	if b != nil {
		if err := b.Allow(ctx); err != nil {
			return Completion{}, fmt.Errorf("ask %s: %w", name(), err)
		}
	}
	got, err := ask()
	if err != nil {
		return Completion{}, fmt.Errorf("ask %s: %w", name(), err)
	}
	got.Text = unwrap(got.Text)
	if got.Usage.Prompt <= 0 && got.Usage.Answer <= 0 {
		got.Usage = Usage{(p.System.Len() + p.User.Len() + 3) / 4, (len(got.Text) + 3) / 4, true}
	}
	if b != nil {
		b.Spent(name(), got.Usage)
	}
	return got, nil
}

func (c *Chat) request(p Prompt) chatRequest {
	r := chatRequest{Model: c.model, Messages: []chatMessage{{"user", p.User.String()}}}
	if p.System.Len() > 0 {
		r.Messages = []chatMessage{{"system", p.System.String()}, {"user", p.User.String()}}
	}
	if c.fixed { // what every model takes
		r.NewMax = p.MaxTokens
		return r
	}
	if !c.plain.Load() {
		t := temperature
		r.Temperature = &t
	}
	if c.newLimit.Load() {
		r.NewMax = p.MaxTokens
	} else {
		r.MaxTokens = p.MaxTokens
	}
	return r
}

// learn reports whether a refusal is about a part of the request that the model
// knows under another name, or does not know, and remembers that.
func (c *Chat) learn(err error) bool {
	var refused *StatusError
	if !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
		return false
	}
	return strings.Contains(refused.Reason, "max_completion_tokens") && c.newLimit.CompareAndSwap(false, true) ||
		strings.Contains(refused.Reason, "temperature") && c.plain.CompareAndSwap(false, true)
}

// unwrap takes away the thoughts that some models put before their answer.
func unwrap(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<think>") {
		if _, rest, ok := strings.Cut(text, "</think>"); ok {
			text = strings.TrimSpace(rest)
		}
	}
	return text
}
