// Bench measures what anamnesis costs, and compares it with the budgets.
//
//	go run -C lab ./bench                        everything, at 1k, 10k and 100k notes
//	go run -C lab ./bench -short                 a smoke of less than a minute, at 1k
//	go run -C lab ./bench -only search,walk      some of it
//	go run -C lab ./bench -out ../docs/performance.md
//	go run -C lab ./bench -postgres ADDRESS       a table of docs/postgres.md (shared.go)
//	go run -C lab ./bench -scale ADDRESS          another: one workspace, many members (scale.go)
//	go run -C lab ./bench -team ADDRESS           the other one (team.go)
//	go run -C lab ./bench -models                 a section of that page: transformers in the program (models.go)
//	go run -C lab ./bench -agents -notes 1000    the tables of docs/agents/measured.md (agents.go)
//
// It makes stores from a seeded generator in a temporary folder (corpus.go),
// builds the program as it is released, a Go hello-world, and a naive FTS5
// program with the same driver (lab/naive), and measures all of them in the
// same run, in turns, so that a ratio of two figures means something on a
// machine that has other things to do. Figures are medians and quantiles of
// many turns; the first turn is not counted.
//
// table.go lists the figures with their budgets; the measures stand in
// process.go and daily.go (whole processes, as a hook, an agent or a person starts
// them) and inside.go (one process, where only a loop can tell).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A measure fills rows of the table at one store.
type measure struct {
	name string
	once bool // the store does not matter
	run  func(*stage, *stand) error
}

// measures lists them in their order: what changes a store comes last.
var measures = []measure{
	{"start", true, (*stage).start},
	{"redact", true, (*stage).redact},
	{"index", false, (*stage).fromNothing},
	{"walk", false, (*stage).walk},
	{"search", false, (*stage).search},
	{"cold", false, (*stage).coldSearch},
	{"inject", false, (*stage).inject},
	{"prompt", false, (*stage).prompt},
	{"payload", false, (*stage).payload},
	{"tokens", true, (*stage).tokens},
	{"mcp", false, (*stage).mcp},
	{"daily", false, (*stage).daily},
	{"import", true, (*stage).transcripts},
	{"memory", false, (*stage).memory},
	{"capture", false, (*stage).capture},
	{"write", false, (*stage).write},
	{"drain", false, (*stage).drain},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be stopped
	}
}

func run(ctx context.Context) error {
	if len(os.Args) > 1 && os.Args[1] == readsCommand {
		return reads(ctx, os.Args[2:])
	}
	short := flag.Bool("short", false, "1k notes and few turns: does it all still work?")
	sizes := flag.String("notes", "1000,10000,100000", "sizes of the `stores`")
	only := flag.String("only", "", "measure these `names` only: "+names())
	out := flag.String("out", "", "write the report to this `file`")
	agents := flag.Bool("agents", false, "measure each agent, and nothing else; -only may be hooks or imports")
	dsn := flag.String("postgres", "", "measure the index on PostgreSQL at this `address` against that in a file, and nothing else")
	transformers := flag.Bool("models", false, "measure models that run in the program, and nothing else; -out puts the section into the page")
	team := flag.String("team", "", "measure machines that share a store over PostgreSQL at this `address`, and nothing else")
	member := flag.String("member", "", "with -postgres: the `address` of a login that writes and asks, for whom the rules of rows hold")
	scale := flag.String("scale", "", "measure many members of one workspace at this `address` of an administrator, and nothing else")
	crowd := flag.Int("members", 200, "with -scale: how many")
	profile := flag.String("cpuprofile", "", "write a profile of this process to this `file`")
	seed := flag.Uint64("seed", 1, "of the generator")
	flag.Parse()
	if *short {
		*sizes = "1000"
	}
	s := &stage{ctx: ctx, short: *short, seed: *seed, table: newTable()}
	for field := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 100 {
			return fmt.Errorf("-notes %q: give numbers from 100 up", *sizes)
		}
		s.sizes = append(s.sizes, n)
	}
	wanted := func(name string) bool { return *only == "" || slices.Contains(strings.Split(*only, ","), name) }
	for name := range strings.SplitSeq(*only, ",") {
		if *only != "" && !*agents && !strings.Contains(names()+",", name+",") {
			return fmt.Errorf("-only %s: no such measure; there are %s", name, names())
		}
	}
	began := time.Now()
	if err := s.open(); err != nil {
		return err
	}
	defer s.close()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if *agents {
		return s.agents(wanted("hooks"), wanted("imports"))
	}
	if *transformers {
		return s.models(publishedModels, *out)
	}
	if *dsn != "" {
		return s.shared(*dsn, *member)
	}
	if *scale != "" {
		return s.scale(*scale, *crowd)
	}
	if *team != "" {
		return s.team(*team)
	}
	if err := s.measure(began, wanted); err != nil {
		return err
	}
	fmt.Printf("\n%s", s.table.text(s.sizes))
	fmt.Printf("\nmeasured in %s\n", time.Since(began).Round(time.Second))
	if *out == "" {
		return nil
	}
	former, err := readPage(*out)
	if err != nil {
		return err
	}
	return os.WriteFile(*out, withModels(s.report(), modelsOf(former)), 0o644)
}

// measure runs what is wanted, store by store.
func (s *stage) measure(began time.Time, wanted func(string) bool) error {
	for i, size := range s.sizes {
		st, err := s.stand(size)
		if err != nil {
			return err
		}
		for _, m := range measures {
			if s.ctx.Err() != nil {
				return s.ctx.Err()
			}
			if !wanted(m.name) || m.once && i > 0 {
				continue
			}
			fmt.Fprintf(os.Stderr, "%5s  %6d notes  %s\n", time.Since(began).Round(time.Second), size, m.name)
			if err := m.run(s, st); err != nil {
				return fmt.Errorf("%s at %d notes: %w", m.name, size, err)
			}
		}
		if err := st.close(); err != nil {
			return err
		}
	}
	return nil
}

func names() string {
	var all []string
	for _, m := range measures {
		all = append(all, m.name)
	}
	return strings.Join(all, ",")
}
