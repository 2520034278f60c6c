package models

import (
	"context"
	"io"
	"strings"
)

// notices are files that say under which licence a model stands. They are kept with it.
func notices() []string {
	return []string{"README.md", "LICENSE", "LICENSE.txt", "LICENSE.md", "NOTICE"}
}

const maxNotice = 1 << 20 // bytes

// read returns the text of a small file.
func read(ctx context.Context, src source, name string) (string, error) {
	r, err := src.open(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(r, limit(name)))
	return string(data), err
}

// licence finds what a file says of the licence: the front matter of a README, or the
// first line of a licence.
func licence(name, text string) string {
	lines := strings.Split(text, "\n")
	if name != "README.md" {
		for _, line := range lines {
			if line = clean(line); line != "" {
				return line
			}
		}
		return ""
	}
	if strings.TrimSpace(lines[0]) != "---" {
		return ""
	}
	for _, line := range lines[1:] {
		if line = strings.TrimSpace(line); line == "---" {
			break
		}
		if value, ok := strings.CutPrefix(line, "license:"); ok {
			return clean(strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return ""
}
