package eval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"anamnesis/internal/store"
)

// A Past is one line of the history of measurements.
type Past struct {
	V            int             `json:"v"`
	At           string          `json:"at"` // RFC 3339, UTC
	Cases        int             `json:"n_cases"`
	RecallAt     map[int]float64 `json:"recall_at"`
	MRR          float64         `json:"mrr"`
	MeanTokens   float64         `json:"mean_tokens"`
	CorpusTokens int             `json:"corpus_tokens"`
	Notes        int             `json:"notes"`
	Version      string          `json:"version,omitempty"`  // of the program
	Settings     string          `json:"settings,omitempty"` // Fingerprint of what it was set to
}

// Past makes a line of a report.
func (r *Report) Past(at time.Time, version, settings string) Past {
	return Past{
		V: 1, At: at.UTC().Format(time.RFC3339), Cases: r.Recall.Cases, RecallAt: r.Recall.At, MRR: r.Recall.MRR,
		MeanTokens: r.WorkingSet.MeanTokens, CorpusTokens: r.WorkingSet.CorpusTokens, Notes: r.Notes,
		Version: version, Settings: settings,
	}
}

// Fingerprint is a short hash of settings, to tell whether two measurements were
// made with the same ones. It holds nothing of them.
func Fingerprint(settings ...any) (string, error) {
	data, err := json.Marshal(settings)
	if err != nil {
		return "", fmt.Errorf("fingerprint the settings: %w", err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6]), nil
}

// Remember adds a line to a history. It is one append, which is not synced: a
// measurement can be made again.
func Remember(file string, p Past) error {
	data, err := json.Marshal(p)
	if err == nil {
		err = store.OS{}.MkdirAll(filepath.Dir(file))
	}
	if err == nil {
		err = store.OS{}.Append(file, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write eval history %s: %w", file, err)
	}
	return nil
}

// History reads a history, oldest first. No file is no history. Lines that are
// none are named in the warnings and passed over.
func History(file string) (all []Past, warnings []string, err error) {
	data, err := readBounded(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read eval history %s: %w", file, err)
	}
	n, skipped := 0, 0
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var p Past
		err := json.Unmarshal(line[:min(len(line), maxCaseLine)], &p)
		if _, bad := time.Parse(time.RFC3339, p.At); err == nil {
			err = bad
		}
		if err == nil {
			all = append(all, p)
		} else if skipped++; skipped <= maxWarnings {
			warnings = append(warnings, fmt.Sprintf("%s: line %d is no measurement and was skipped", file, n))
		}
	}
	return all, warnings, nil
}
