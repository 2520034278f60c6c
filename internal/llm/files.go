package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrPending says that the answer to a request is not there yet. It is no failure: the
// caller asks again later, with the same prompt, and counts nothing against its retries.
var ErrPending = errors.New("the answer is not there yet")

// A Folder is a Generator whose requests and answers are files of a folder. A request is
// appended to requests.jsonl, in the form of a batch of OpenAI; its answer is read from any
// other *.jsonl file of the folder, in the form of OpenAI's or Anthropic's results. Generate
// returns ErrPending until it is there.
//
// The id of a request is a hash of model and prompt: the same request is written once, and
// the same prompt gets the same answer as often as it is asked, counted once by the budget.
// What is known of each request stands in the folder kept. A request that failed is written
// again when it is asked again.
//
// It is safe for concurrent use. Of two processes one writes a request.
type Folder struct {
	folder, model string
	budget        *Budget

	mu   sync.Mutex
	read map[string]stamp // files of answers that hold nothing new
}

var _ Generator = (*Folder)(nil)

// The files of the folder.
const (
	requestsFile = "requests.jsonl"
	keptFolder   = "kept"
	answersExt   = ".jsonl"
)

// Limits of the folder. What is beyond them is not read, or not written.
const (
	maxRequests    = 100 << 20 // bytes of requests.jsonl
	maxAnswers     = 512 << 20 // bytes of one file of answers
	maxAnswerLine  = 8 << 20
	maxAnswerFiles = 1000
	maxKept        = maxAnswerLine + 64<<10
	maxFailures    = 16
	claimAge       = time.Minute // after which the request of a process that was killed is written by another
)

type stamp struct {
	size int64
	time time.Time
}

// NewFolder returns a Generator over the folder o.Folder, which is made when it is first
// asked. The error is ErrNotConfigured when o names no folder or no model.
func NewFolder(o GeneratorOptions, b *Budget) (*Folder, error) {
	if o.Folder == "" || o.Model == "" {
		return nil, fmt.Errorf("%w: the provider %s needs reflection.folder and reflection.model", ErrNotConfigured, Files)
	}
	return &Folder{folder: o.Folder, model: o.Model, budget: b, read: make(map[string]stamp)}, nil
}

// Name implements Generator.
func (f *Folder) Name() string { return Files + "/" + f.model }

// Generate implements Generator.
func (f *Folder) Generate(ctx context.Context, p Prompt) (string, error) {
	got, err := f.Complete(ctx, p)
	return got.Text, err
}

// Complete is Generate that also says what the answer cost.
func (f *Folder) Complete(ctx context.Context, p Prompt) (Completion, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	got, err := f.complete(ctx, p)
	if err != nil {
		return Completion{}, fmt.Errorf("ask %s: %w", f.Name(), err)
	}
	return got, nil
}

func (f *Folder) complete(ctx context.Context, p Prompt) (Completion, error) {
	line, id, err := f.request(p)
	if err != nil {
		return Completion{}, err
	}
	root, err := f.open()
	if err != nil {
		return Completion{}, err
	}
	defer func() { _ = root.Close() }()
	k, err := readKept(root, id)
	if err != nil {
		return Completion{}, err
	}
	if k != nil && k.Text == nil && k.Error == "" {
		if err := f.take(ctx, root); err != nil {
			return Completion{}, err
		}
		if k, err = readKept(root, id); err != nil {
			return Completion{}, err
		}
	}
	switch {
	case k != nil && k.Text != nil:
		return f.deliver(root, id, k, p)
	case k != nil && k.Error != "":
		said := k.Error
		k.Error, k.Asked = "", false
		return Completion{}, errors.Join(fmt.Errorf("its answer is an error: %s", harmless(said)), writeKept(root, id, k))
	case k != nil && k.Asked:
		return Completion{}, ErrPending
	}
	if f.budget != nil {
		if err := f.budget.Allow(ctx); err != nil {
			return Completion{}, err
		}
	}
	if err := f.ask(root, id, k, line); err != nil {
		return Completion{}, err
	}
	return Completion{}, ErrPending
}

// deliver returns an answer, and counts it when that is the first time.
func (f *Folder) deliver(root *os.Root, id string, k *kept, p Prompt) (Completion, error) {
	got := Completion{Text: unwrap(*k.Text), Cut: k.Cut, Usage: Usage{Prompt: k.Prompt, Answer: k.Answer}}
	if got.Usage.Prompt <= 0 && got.Usage.Answer <= 0 {
		got.Usage = Usage{(p.System.Len() + p.User.Len() + 3) / 4, (len(got.Text) + 3) / 4, true}
	}
	if !k.Counted {
		k.Counted = true
		if err := writeKept(root, id, k); err != nil {
			return Completion{}, err
		}
		if f.budget != nil {
			f.budget.Spent(f.Name(), got.Usage)
		}
	}
	if got.Text == "" {
		return got, fmt.Errorf("the file gives %w", ErrEmpty)
	}
	return got, nil
}

// replays reports whether the answer to a prompt was returned before.
func (f *Folder) replays(p Prompt) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, id, err := f.request(p)
	if err != nil {
		return false
	}
	root, err := os.OpenRoot(f.folder)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }()
	k, err := readKept(root, id)
	return err == nil && k != nil && k.Counted
}

// request is the line of a prompt and its id.
func (f *Folder) request(p Prompt) (line []byte, id string, err error) {
	body, err := json.Marshal((&Chat{model: f.model, fixed: true}).request(p))
	if err != nil {
		return nil, "", fmt.Errorf("write the request: %w", err)
	}
	sum := sha256.Sum256(body)
	id = "anamnesis-" + hex.EncodeToString(sum[:20])
	line, err = json.Marshal(struct {
		ID     string          `json:"custom_id"`
		Method string          `json:"method"`
		URL    string          `json:"url"`
		Body   json.RawMessage `json:"body"`
	}{id, "POST", "/v1/chat/completions", body})
	return append(line, '\n'), id, err
}

var idForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^anamnesis-[0-9a-f]{40}$`) })

// open opens the folder, which is made if it is missing. Nothing outside of it is read or
// written through the result, whatever links stand in it.
func (f *Folder) open() (*os.Root, error) {
	if err := os.MkdirAll(f.folder, 0o700); err != nil {
		return nil, fmt.Errorf("make reflection.folder: %w", err)
	}
	root, err := os.OpenRoot(f.folder)
	if err != nil {
		return nil, fmt.Errorf("open reflection.folder: %w", err)
	}
	if err := root.Mkdir(keptFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		_ = root.Close()
		return nil, fmt.Errorf("make reflection.folder: %w", err)
	}
	return root, nil
}

// ask writes a request, unless it stands there. k is what is known of it, nil for nothing.
func (f *Folder) ask(root *os.Root, id string, k *kept, line []byte) error {
	if k == nil {
		switch claim, err := root.OpenFile(keptName(id), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); {
		case errors.Is(err, fs.ErrExist):
			return nil // another process writes it
		case err != nil:
			return fmt.Errorf("note the request: %w", err)
		default:
			_ = claim.Close()
		}
	}
	k = cmp.Or(k, &kept{})
	stands, err := f.stands(root, id)
	if err == nil && !stands {
		err = appendLine(root, line)
	}
	if err != nil {
		return err
	}
	k.Asked = true
	clear(f.read) // its answer may stand in a file that was read before
	return writeKept(root, id, k)
}

// stands reports whether requests.jsonl holds a request: a process may have been killed
// before it noted that.
func (f *Folder) stands(root *os.Root, id string) (found bool, err error) {
	file, _, err := openRegular(root, requestsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the requests: %w", err)
	}
	defer func() { _ = file.Close() }()
	err = eachLine(file, maxAnswerLine, func(line []byte) bool {
		found = strings.Contains(string(line[:min(len(line), 200)]), id)
		return !found
	})
	return found, err
}

// appendLine adds a line to requests.jsonl with one write.
func appendLine(root *os.Root, line []byte) error {
	fi, err := root.Lstat(requestsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("write the request: %w", err)
	case !fi.Mode().IsRegular():
		return fmt.Errorf("write the request: %s in reflection.folder is no file", requestsFile)
	case fi.Size()+int64(len(line)) > maxRequests:
		return fmt.Errorf("write the request: %s is full; move it away once its requests are sent", requestsFile)
	}
	file, err := root.OpenFile(requestsFile, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	last := []byte{'\n'}
	if fi != nil && fi.Size() > 0 {
		_, err = file.ReadAt(last, fi.Size()-1)
	}
	if last[0] != '\n' { // half a line, of a process that was killed
		line = append([]byte{'\n'}, line...)
	}
	if err == nil {
		_, err = file.Write(line)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	return nil
}

// openRegular opens a file of the folder that is neither a link nor a pipe.
func openRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	fi, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no file", name)
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	opened, err := file.Stat()
	if err == nil && !opened.Mode().IsRegular() { // it was replaced
		err = fmt.Errorf("%s is no file", name)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, opened, nil
}

// Waiting counts the requests of the folder that have no answer yet, and those that have one.
func (f *Folder) Waiting() (waiting, answered int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	root, err := f.open()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = root.Close() }()
	if err := f.take(context.Background(), root); err != nil {
		return 0, 0, err
	}
	for _, id := range knownIDs(root) {
		if k, err := readKept(root, id); err == nil && k != nil && k.Text != nil {
			answered++
		} else {
			waiting++
		}
	}
	return waiting, answered, nil
}

// knownIDs lists the requests that were written, in order.
func knownIDs(root *os.Root) (ids []string) {
	entries, _ := fs.ReadDir(root.FS(), keptFolder)
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && idForm().MatchString(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}
