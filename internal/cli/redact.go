package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"anamnesis/internal/app"
	"anamnesis/internal/redact"

	"github.com/spf13/cobra"
)

// redactAnswer is a text with its secrets masked, and where they were.
type redactAnswer struct {
	Text     string    `json:"text"`
	Findings []finding `json:"findings"`
}

type finding struct {
	Rule  string `json:"rule"`
	Start int    `json:"start"` // bytes of the text as it was
	End   int    `json:"end"`
}

func newRedact(p *program) *cobra.Command {
	var lines bool
	cmd := &cobra.Command{
		Use:   "redact [FILE]",
		Short: "Mask the secrets in a text",
		Long: `Print a file, or standard input, as a model or a captured note would get it:
with its secrets and <private> spans masked. Use it to try your own rules in
redact.toml in the store's folder.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := p.openStore()
			if err != nil {
				return err
			}
			r, err := app.OpenRedactor(s)
			if err != nil {
				return err
			}
			in := p.stdin
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("redact: %w", err)
				}
				defer f.Close()
				in = f
			}
			if lines {
				return p.redactLines(r, in)
			}
			data, err := io.ReadAll(in)
			if err != nil {
				return fmt.Errorf("redact: %w", err)
			}
			a := redactAnswer{Text: r.Redact(string(data)).String()}
			for _, f := range r.Find(string(data)) {
				a.Findings = append(a.Findings, finding{f.Rule, f.Start, f.End})
			}
			return render(p, "redact", a, nil, func(a redactAnswer) { p.verbatim(a.Text) })
		},
	}
	cmd.Flags().BoolVar(&lines, "lines", false, "the input is JSON lines with a member \"text\"; print them with the text masked")
	return cmd
}

// redactLines masks the text of each JSON line and leaves its other members.
func (p *program) redactLines(r *redact.Redactor, in io.Reader) error {
	read := bufio.NewReaderSize(in, 1<<20)
	out := bufio.NewWriter(p.stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for n := 1; ; n++ {
		line, err := read.ReadBytes('\n')
		if len(line) > 1 {
			var v map[string]any
			if err := json.Unmarshal(line, &v); err != nil {
				return fmt.Errorf("redact: line %d is not a JSON object: %w", n, err)
			}
			text, _ := v["text"].(string)
			v["text"] = r.Redact(text).String()
			if err := enc.Encode(v); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return out.Flush()
		}
		if err != nil {
			return fmt.Errorf("redact: %w", err)
		}
	}
}
