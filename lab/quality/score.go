package quality

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
)

// Judgements say which documents answer which question.
type Judgements map[string]map[string]bool

// ReadJudgements reads lines of query, document and relevance between tabs; a
// relevance of 0 is no answer.
func ReadJudgements(name string) (Judgements, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	all := make(Judgements)
	scan := bufio.NewScanner(f)
	for n := 1; scan.Scan(); n++ {
		line := strings.TrimSpace(scan.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Fields(line)
		if len(parts) != 3 {
			return nil, fmt.Errorf("read %s, line %d: query, document and relevance are due", name, n)
		}
		if all[parts[0]] == nil {
			all[parts[0]] = make(map[string]bool)
		}
		if parts[2] != "0" {
			all[parts[0]][parts[1]] = true
		}
	}
	if err := scan.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return all, nil
}

// A Score is what a run is worth, or what one of its questions is.
type Score struct {
	Hit1    float64 `json:"hit@1"`
	Hit5    float64 `json:"hit@5"`
	Hit8    float64 `json:"hit@8"`
	Recall5 float64 `json:"recall@5"`
	MRR     float64 `json:"mrr"`
}

// Scores returns the score of each question that has an answer.
func (j Judgements) Scores(run *Run, queries []Question) (each []Score) {
	found := make(map[string][]string)
	for _, f := range run.Found {
		found[f.Query] = append(found[f.Query], f.Document)
	}
	for _, q := range queries {
		right := j[q.ID]
		if len(right) == 0 {
			continue
		}
		var s Score
		for i, doc := range found[q.ID] {
			if !right[doc] {
				continue
			}
			if s.MRR == 0 {
				s.MRR = 1 / float64(i+1)
			}
			if i < 1 {
				s.Hit1 = 1
			}
			if i < 5 {
				s.Hit5 = 1
				s.Recall5 += 1 / float64(len(right))
			}
			if i < 8 {
				s.Hit8 = 1
			}
		}
		each = append(each, s)
	}
	return each
}

// Mean is the mean of scores.
func Mean(each []Score) (m Score) {
	n := float64(max(1, len(each)))
	for _, s := range each {
		m.Hit1 += s.Hit1 / n
		m.Hit5 += s.Hit5 / n
		m.Hit8 += s.Hit8 / n
		m.Recall5 += s.Recall5 / n
		m.MRR += s.MRR / n
	}
	return m
}

// A Pairing compares two runs question by question.
type Pairing struct {
	Difference    float64 `json:"difference"` // of the means
	Better, Worse int
	P             float64 `json:"p"` // of the sign test, two-sided
}

// Pair compares one figure of two runs over the same questions.
func Pair(before, after []Score, figure func(Score) float64) (p Pairing) {
	for i := range min(len(before), len(after)) {
		d := figure(after[i]) - figure(before[i])
		p.Difference += d / float64(len(before))
		switch {
		case d > 1e-9:
			p.Better++
		case d < -1e-9:
			p.Worse++
		}
	}
	p.P = signTest(p.Better, p.Worse)
	return p
}

// signTest is the probability that a fair coin parts the questions that differ
// at least as unevenly.
func signTest(a, b int) float64 {
	n, k := a+b, min(a, b)
	logHalf := float64(n) * math.Log(0.5)
	sum := 0.0
	for i := range k + 1 {
		all, _ := math.Lgamma(float64(n + 1))
		in, _ := math.Lgamma(float64(i + 1))
		out, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(all - in - out + logHalf)
	}
	return min(1, 2*sum)
}

// Interval is the 95 % interval of a share of n (Wilson: Probable Inference,
// JASA 1927).
func Interval(share float64, n int) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	const z = 1.96
	size := float64(n)
	middle := (share + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return max(0, middle-half), min(1, middle+half)
}
