package agent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anamnesis/internal/agent"
)

// BenchmarkForeignSession reads 16 MB of the sessions of each agent.
func BenchmarkForeignSession(b *testing.B) {
	for _, h := range agent.All {
		files, _ := filepath.Glob(filepath.Join("testdata", h.Name, "*.jsonl"))
		if h.Sessions == nil || len(files) == 0 {
			continue
		}
		one, err := os.ReadFile(files[len(files)-1])
		if err != nil {
			b.Fatal(err)
		}
		// The records of real sessions are longer than those of fixtures.
		one = bytes.ReplaceAll(one, []byte("FAIL"), []byte(strings.Repeat("--- FAIL: TestVAT (0.00s) ", 200)))
		data := bytes.Repeat(one, 16<<20/len(one)+1)
		b.Run(h.Name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if s, err := h.Sessions.ReadSession(bytes.NewReader(data), agent.Limits{}); err != nil || s.ID == "" {
					b.Fatal(err)
				}
			}
		})
	}
}
