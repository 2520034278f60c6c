package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"

	"anamnesis/internal/index"
	"anamnesis/lab/origin"
)

// An example is a pair as numbers.
type example struct {
	query, passage         []int32
	askedHash, passageHash uint64
	of                     int32 // source and kind
	hard                   []int32
}

// data is the pairs, those of held-out sources apart.
type data struct {
	learn, held []example
	names       []string // of sources and kinds
}

// readPairs reads the pairs in their order.
func readPairs(name string, m *model, s settings) (*data, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	d := &data{}
	number := make(map[string]int32)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for {
		var raw [][]byte
		for len(raw) < 4096 && lines.Scan() {
			raw = append(raw, bytes.Clone(lines.Bytes()))
		}
		if len(raw) == 0 {
			return d, lines.Err()
		}
		pairs := make([]written, len(raw))
		parallel(len(raw), func(i int) { pairs[i].read(raw[i], s.tokens) })
		for i := range pairs {
			if err := pairs[i].err; err != nil {
				return nil, err
			}
			d.add(&pairs[i], m, s, number)
		}
	}
}

// A written pair is a line of the file, cut into tokens.
type written struct {
	Kind, Source, Query, Passage string
	Held                         bool

	query, passage []string
	err            error
}

func (p *written) read(line []byte, most int) {
	if p.err = json.Unmarshal(line, p); p.err == nil {
		p.query, p.passage = index.Words(p.Query), index.Words(p.Passage)
		p.query, p.passage = p.query[:min(len(p.query), most)], p.passage[:min(len(p.passage), most)]
	}
}

func (d *data) add(p *written, m *model, s settings, number map[string]int32) {
	if !p.Held && (hash(p.Query)%uint64(s.part) != 0 || origin.Fold(p.Source) == s.fold) {
		return
	}
	e := example{query: m.ids(p.query), passage: m.ids(p.passage), askedHash: hash(p.Query), passageHash: hash(p.Passage)}
	if len(e.query) == 0 || len(e.passage) == 0 {
		return
	}
	name := p.Source + " " + p.Kind
	i, ok := number[name]
	if !ok {
		i = int32(len(d.names))
		number[name] = i
		d.names = append(d.names, name)
	}
	e.of = i
	if p.Held {
		d.held = append(d.held, e)
	} else {
		d.learn = append(d.learn, e)
	}
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	return h.Sum64()
}

// batches orders the pairs again: groups of one source and kind, many groups a batch.
func (d *data) batches(s settings, epoch int) [][]int32 {
	random := rand.New(rand.NewPCG(s.seed, uint64(epoch)))
	of := make([][]int32, len(d.names))
	for i, e := range d.learn {
		of[e.of] = append(of[e.of], int32(i))
	}
	var groups [][]int32
	for _, all := range of {
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for len(all) > 0 {
			n := min(s.group, len(all))
			groups = append(groups, all[:n:n])
			all = all[n:]
		}
	}
	random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	var out [][]int32
	var now []int32
	for _, g := range groups {
		for _, i := range g {
			if now = append(now, i); len(now) == s.batch {
				out = append(out, now)
				now = nil
			}
		}
	}
	return out
}
