package web_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/web"
)

// TestFigures measures the pages of a store of ANAMNESIS_FIGURES notes: the figures of
// docs/dashboard.md.
func TestFigures(t *testing.T) {
	many, _ := strconv.Atoi(os.Getenv("ANAMNESIS_FIGURES"))
	if many == 0 {
		t.Skip("ANAMNESIS_FIGURES=10000 measures the pages of as many notes")
	}
	s := serve(t, nil, "sync.on=true")
	ids := figureNotes(t, s.host.Config.Home, many)
	rooms := other(t, s)
	if _, err := app.ReindexAll(t.Context(), rooms); err != nil {
		t.Fatal(err)
	}
	for i := range 400 { // a month of sessions
		o := app.SearchOptions{Question: app.Question{Global: true, AllBranches: true, Lambda: app.Unset, Mode: "hybrid"}, Text: figureText(rand.New(rand.NewPCG(9, uint64(i))), 4), K: 8}
		_, _ = app.Search(t.Context(), rooms, o)
	}
	began := time.Now()
	fresh, err := web.New(t.Context(), s.host, web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("start: %.1f ms", float64(time.Since(began).Microseconds())/1000)
	fresh.Close()
	s.enter()
	s.page("/machines")
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []struct {
		name string
		path func() string
	}{
		{"/", func() string { return "/" }},
		{"/browse", func() string { return "/browse" }},
		{"/browse?q= (as typed)", func() string { return "/browse?q=" + strings.ReplaceAll(figureText(r, 1+r.IntN(3)), " ", "+") }},
		{"/notes/{id}", func() string { return "/notes/" + ids[r.IntN(len(ids))] }},
		{"/notes/{id}/edit", func() string { return "/notes/" + ids[r.IntN(len(ids))] + "/edit" }},
		{"/notes/{id}/history", func() string { return "/notes/" + ids[r.IntN(len(ids))] + "/history" }},
		{"/review", func() string { return "/review" }},
		{"/lab?q=", func() string { return "/lab?q=" + strings.ReplaceAll(figureText(r, 4), " ", "+") }},
		{"/sessions", func() string { return "/sessions" }},
		{"/history", func() string { return "/history" }},
		{"/timeline", func() string { return "/timeline" }},
		{"/gone", func() string { return "/gone" }},
		{"/machines", func() string { return "/machines" }},
		{"/health", func() string { return "/health" }},
		{"/queue", func() string { return "/queue" }},
		{"/statistics", func() string { return "/statistics" }},
		{"/settings", func() string { return "/settings" }},
	} {
		var took []time.Duration
		most := 0
		for range 40 {
			d, size := s.first(p.path())
			took, most = append(took, d), max(most, size)
		}
		slices.Sort(took)
		t.Logf("%-24s p50 %6.1f ms  p95 %6.1f ms  %7.1f kB", p.name, ms(took[20]), ms(took[38]), float64(most)/1024)
	}
	runtime.GC()
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "RssAnon") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// first returns after which time the first byte of an answer came, and its size.
func (s *site) first(path string) (first time.Duration, size int) {
	s.Helper()
	began := time.Now()
	ctx := httptrace.WithClientTrace(s.Context(), &httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Since(began) }})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	n, _ := io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusOK {
		s.Errorf("%s: %d", path, resp.StatusCode)
	}
	return first, int(n)
}

// figureText is some words, common ones more often.
func figureText(r *rand.Rand, n int) string {
	var all []string
	for range n {
		all = append(all, "w"+strconv.FormatInt(int64(20000*r.Float64()*r.Float64()*r.Float64())+40, 26))
	}
	return strings.Join(all, " ")
}

// figureNotes writes notes of 615 bytes.
func figureNotes(t *testing.T, home string, many int) (ids []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	types := []string{"semantic", "procedural", "episodic"}
	for i := range many {
		id, kind := fmt.Sprintf("01JZZZZZZZZZZZZZZZZ%07d", i), types[i%3]
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		text := "---\nid: " + id + "\ntype: " + kind + "\ntitle: " + figureText(r, 6) + "\nproject: github.com/acme/p" + strconv.Itoa(i%20) +
			"\nscope: portable\nmachine_id: testbox\nprov_source: human\nprov_confidence: 1.0\ncreated_at: '" + at + "'\nupdated_at: '" + at +
			"'\ntags:\n- t" + strconv.Itoa(i%900) + "\n---\n" + figureText(r, 120) + "\n"
		name := filepath.Join(home, "memory", kind, id+".md")
		if i < 3 {
			if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}
