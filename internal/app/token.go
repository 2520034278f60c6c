package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"anamnesis/internal/store"
)

// tokenFile holds the token of the server over HTTP. It is of this machine.
const tokenFile = "mcp.token"

// ServerToken reads the token of the server over HTTP from a file, "" for the one in
// the store. It makes one where none was made yet.
func ServerToken(s *store.Store, file string) (token, from string, err error) {
	own := file == ""
	if own {
		file = s.Path(tokenFile)
	}
	data, err := os.ReadFile(file)
	if own && errors.Is(err, fs.ErrNotExist) {
		data = []byte(rand.Text() + "\n")
		err = s.Replace(tokenFile, data)
	}
	if err != nil {
		return "", file, fmt.Errorf("serve: the token: %w", err)
	}
	return strings.TrimSpace(string(data)), file, nil
}
