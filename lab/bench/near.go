package main

import (
	"fmt"
	"time"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/index/postgres"
	"anamnesis/internal/index/postgres/schema"
)

// sharedNear measures how the server finds the nearest passages: comparing all, and by an HNSW
// index. owner is the address of the database's owner.
func (s *stage) sharedNear(st *stand, owner string, at postgres.Options, words *embed.Static) error {
	if _, err := schema.UseVector(s.ctx, owner, schema.VectorOptions{}); err != nil {
		return err
	}
	if status, err := schema.Inspect(s.ctx, owner, at.Workspace); err != nil || !status.Compares {
		return err
	}
	var exact [][]float64 // cosines, falling
	for _, way := range []struct {
		name string
		use  schema.VectorOptions
	}{
		{"the server, all", schema.VectorOptions{}},
		{"the server, HNSW", schema.VectorOptions{Workspace: at.Workspace, HNSWFrom: 1}},
	} {
		began := time.Now()
		steps, err := schema.UseVector(s.ctx, owner, way.use)
		if err != nil {
			return err
		}
		if len(steps) > 0 {
			fmt.Printf("| %d | %s, prepared in %.1f s | | | |\n", st.notes, way.name, time.Since(began).Seconds())
		}
		found, err := s.nearBy(st, way.name, at, words)
		if err != nil {
			return err
		}
		if exact == nil {
			exact = found
		}
		same, all := 0, 0
		for i := range exact {
			all += len(exact[i])
			same += asNear(found[i], exact[i])
		}
		fmt.Printf("| %d | %s finds of the nearest %d | %d | | |\n", st.notes, way.name, all, same)
	}
	return nil
}

// nearBy asks each question in an index that was just opened, and again in one that stays.
func (s *stage) nearBy(st *stand, name string, at postgres.Options, words *embed.Static) (found [][]float64, err error) {
	stays, err := postgres.Open(s.ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stays.Close() }()
	vectors, err := words.Embed(s.ctx, st.questions)
	if err != nil {
		return nil, err
	}
	ask := func(db *postgres.DB, q []float32) ([]float64, error) {
		some, err := db.Nearest(s.ctx, words.Name(), q, index.Filter{Now: time.Now()}, 100, 0)
		cosines := make([]float64, len(some))
		for i, c := range some {
			cosines[i] = c.Vector.Cosine(q)
		}
		return cosines, err
	}
	var first, later series
	for i, q := range vectors[:min(50, len(vectors))] {
		began := time.Now()
		db, err := postgres.Open(s.ctx, at)
		if err != nil {
			return nil, err
		}
		cosines, err := ask(db, q)
		took := time.Since(began)
		_ = db.Close()
		if err != nil {
			return nil, err
		}
		found, first = append(found, cosines), append(first, took)
		began = time.Now()
		if _, err := ask(stays, q); err != nil {
			return nil, err
		}
		if i > 0 {
			later = append(later, time.Since(began))
		}
	}
	fmt.Printf("| %d | the nearest by %s: first of a process, later, p50, ms | %.1f | %.1f | |\n",
		st.notes, name, first.median(), later.median())
	return found, nil
}

// asNear counts what is as near as the last of the nearest. Notes of the corpus that say the
// same lie equally near, and either is right.
func asNear(found, exact []float64) (n int) {
	const rounding = 1e-6
	for _, x := range found {
		if x >= exact[len(exact)-1]-rounding {
			n++
		}
	}
	return n
}
