package llm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// take reads the files of answers that changed, and keeps the answers to requests of ours
// that have none. Lines that cannot be read, ids that are not ours and answers to what has
// one are left out: the first answer holds.
func (f *Folder) take(ctx context.Context, root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("look for answers: %w", err)
	}
	files := 0
	for _, e := range entries {
		if e.Name() == requestsFile || !strings.HasSuffix(e.Name(), answersExt) || !e.Type().IsRegular() {
			continue
		}
		if files++; files > maxAnswerFiles || ctx.Err() != nil {
			break
		}
		if err := f.takeFile(root, e.Name()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// takeFile reads one. A file that cannot be opened is no reason to leave the others.
func (f *Folder) takeFile(root *os.Root, name string) error {
	file, fi, err := openRegular(root, name)
	if err != nil {
		return nil // it went away, or is none
	}
	defer func() { _ = file.Close() }()
	now := stamp{fi.Size(), fi.ModTime()}
	if f.read[name] == now || fi.Size() > maxAnswers {
		return nil
	}
	var failed error
	err = eachLine(io.LimitReader(file, maxAnswers), maxAnswerLine, func(line []byte) bool {
		failed = takeLine(root, line)
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("read the answers in %s: %w", name, err)
	}
	f.read[name] = now
	return nil
}

// A resultLine is a line of OpenAI's results, or of Anthropic's.
type resultLine struct {
	ID       string `json:"custom_id"`
	Response *struct {
		Status int `json:"status_code"`
		Body   struct {
			chatAnswer
			Error *resultError `json:"error"`
		} `json:"body"`
	} `json:"response"`
	Error  *resultError `json:"error"`
	Result *struct {
		Type    string `json:"type"`
		Message struct {
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			StopReason string `json:"stop_reason"`
			Usage      struct {
				Input    int `json:"input_tokens"`
				Cached   int `json:"cache_read_input_tokens"`
				Creating int `json:"cache_creation_input_tokens"`
				Output   int `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
		Error *resultError `json:"error"`
	} `json:"result"`
}

// A resultError is an error of either vendor. Anthropic's is one in another.
type resultError struct {
	Message string       `json:"message"`
	Error   *resultError `json:"error"`
}

func (e *resultError) text() string {
	for range 2 {
		if e != nil && e.Error != nil {
			e = e.Error
		}
	}
	if e == nil || e.Message == "" {
		return "it gives no reason"
	}
	return e.Message
}

// takeLine keeps the answer of one line. The error is one of writing.
func takeLine(root *os.Root, line []byte) error {
	var r resultLine
	if bad := json.Unmarshal(line, &r); bad != nil || !idForm().MatchString(r.ID) {
		return nil //nolint:nilerr // a line that answers no request of ours
	}
	k, err := readKept(root, r.ID)
	if err != nil || k == nil || k.Text != nil {
		return nil //nolint:nilerr // not ours, or answered
	}
	said, ok := r.into(k)
	if !ok {
		if said == "" {
			return nil
		}
		sum := sha256.Sum256(line)
		digest := hex.EncodeToString(sum[:8])
		if slices.Contains(k.Failed, digest) || len(k.Failed) >= maxFailures {
			return nil
		}
		k.Failed, k.Error = append(k.Failed, digest), harmless(said)
	} else {
		k.Error = ""
	}
	return writeKept(root, r.ID, k)
}

// into puts the answer of a line into k. It returns what an error says, "" when the line
// is neither.
func (r *resultLine) into(k *kept) (said string, ok bool) {
	switch {
	case r.Result != nil && r.Result.Type == "succeeded":
		var text strings.Builder
		for _, c := range r.Result.Message.Content {
			if c.Type == "text" {
				text.WriteString(c.Text)
			}
		}
		answer, u := text.String(), r.Result.Message.Usage
		k.Text, k.Cut = &answer, r.Result.Message.StopReason == "max_tokens"
		k.Prompt, k.Answer = u.Input+u.Cached+u.Creating, u.Output
		return "", true
	case r.Result != nil && r.Result.Error != nil:
		return r.Result.Error.text(), false
	case r.Result != nil && r.Result.Type != "":
		return "the request was " + r.Result.Type, false
	case r.Error != nil:
		return r.Error.text(), false
	case r.Response == nil:
		return "", false
	case r.Response.Body.Error != nil || r.Response.Status >= 300:
		return r.Response.Body.Error.text(), false
	case len(r.Response.Body.Choices) == 0:
		return "", false
	}
	first := r.Response.Body.Choices[0]
	answer := ""
	if first.Message.Content != nil {
		answer = *first.Message.Content
	}
	k.Text, k.Cut = &answer, first.FinishReason == "length"
	k.Prompt, k.Answer = r.Response.Body.Usage.Prompt, r.Response.Body.Usage.Answer
	return "", true
}

// eachLine calls take with each line, without its end, until take returns false. A line of
// more than most bytes is left out.
func eachLine(r io.Reader, most int, take func(line []byte) bool) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	over := false
	for {
		part, err := in.ReadSlice('\n')
		if over = over || len(line)+len(part) > most; over {
			line = line[:0]
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		if whole := bytes.TrimSpace(line); len(whole) > 0 && !over && !take(whole) {
			break
		}
		if err != nil {
			break
		}
		line, over = line[:0], false
	}
	return nil //nolint:nilerr // the end of the file is no error
}
