package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// kept is what is known of a request.
type kept struct {
	Asked   bool     `json:"asked"`             // it stands in requests.jsonl, or stood there
	Failed  []string `json:"failed,omitempty"`  // digests of the failures that were read
	Error   string   `json:"error,omitempty"`   // that was read and not returned yet
	Text    *string  `json:"text,omitempty"`    // the answer
	Cut     bool     `json:"cut,omitempty"`     // as of a Completion
	Prompt  int      `json:"prompt,omitempty"`  // tokens
	Answer  int      `json:"answer,omitempty"`  // tokens
	Counted bool     `json:"counted,omitempty"` // the answer was returned, and the budget knows
}

func keptName(id string) string { return keptFolder + "/" + id + ".json" }

// readKept is what is known of a request; nil for nothing, and for what cannot be read.
func readKept(root *os.Root, id string) (*kept, error) {
	file, fi, err := openRegular(root, keptName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is known of the request: %w", err)
	}
	defer func() { _ = file.Close() }()
	k := new(kept)
	if fi.Size() == 0 { // claimed, and not written yet
		k.Asked = time.Since(fi.ModTime()) < claimAge
		return k, nil
	}
	if fi.Size() > maxKept {
		return nil, fmt.Errorf("read what is known of the request: %s has %d bytes", keptName(id), fi.Size())
	}
	if err := json.NewDecoder(file).Decode(k); err != nil {
		return nil, fmt.Errorf("read what is known of the request: %s: %w; delete it to ask again", keptName(id), err)
	}
	return k, nil
}

func writeKept(root *os.Root, id string, k *kept) error {
	data, err := json.Marshal(k)
	name := keptName(id)
	temp := fmt.Sprintf("%s.%d.tmp", name, os.Getpid())
	if err == nil {
		_ = root.Remove(temp) // of a process of the same number that was killed
		err = writeNew(root, temp, data)
	}
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		return fmt.Errorf("note the answer: %w", err)
	}
	return nil
}

func writeNew(root *os.Root, name string, data []byte) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}
