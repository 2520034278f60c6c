package layout

import (
	"encoding/json"
	"errors"
	"fmt"
)

// format is the version of the form in which a store keeps its files, and FormatFile, in the tree
// that travels, names a later one: {"format": 2}. A store without that file has the form 1, and
// this program writes none. The number grows only when a program that knows the former form would
// do harm; a key or a file that is new is no reason, because what is unknown is kept.
const (
	format     = 1
	FormatFile = "format.json"
)

// MaxFormat is the most bytes that FormatFile has.
const MaxFormat = 4 << 10

// errNewer means that a store was written in a form that this program does not know.
var errNewer = errors.New("a newer anamnesis wrote it")

// CheckFormat returns why the files beside a FormatFile of that content must not be read or
// written: an error that wraps errNewer.
func CheckFormat(content []byte) error {
	var f struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(content, &f); err != nil || f.Format < 1 {
		return fmt.Errorf("%w, or %s is damaged (it holds no {\"format\": NUMBER}): install the newest version, and only if that "+
			"refuses it too, remove the file; nothing was changed", errNewer, FormatFile)
	}
	if f.Format > format {
		return fmt.Errorf("%w (its files have format %d, this program knows %d): install the version that your other "+
			"machines or agents use; nothing was changed", errNewer, f.Format, format)
	}
	return nil
}
