package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"

	"anamnesis/internal/embed/transformer/transformertest"

	"github.com/rogpeppe/go-internal/testscript"
)

// localmodel DIR encoder WORD=SYNONYM... writes a transformer of random weights into a
// folder, to which two words are one. localmodel DIR reader WORD writes a cross-encoder
// to which every text answers that has the word.
func cmdLocalModel(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 2, "localmodel DIR encoder|reader WORD...")
	o := transformertest.Small()
	o.Positions, o.Synonyms = 512, map[string]string{}
	for _, word := range args[2:] {
		if args[1] == "reader" {
			o.Labels, o.Marked, o.Words = 1, word, append(o.Words, word)
			continue
		}
		a, b, ok := strings.Cut(word, "=")
		need(ts, ok, "localmodel DIR encoder WORD=SYNONYM...")
		o.Synonyms[a], o.Words = b, append(o.Words, a, b)
	}
	ts.Check(transformertest.Write(ts.MkAbs(args[0]), o))
}

// serveplain DIR serves a folder over http at this machine, and sets SERVED to its address.
// What is below away/ is sent on to another machine, over http.
func cmdServePlain(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "serveplain DIR")
	files := http.FileServer(http.Dir(ts.MkAbs(args[0])))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/away/") {
			http.Redirect(w, r, "http://models.example.com"+r.URL.Path+"?signature=secret", http.StatusFound)
			return
		}
		files.ServeHTTP(w, r)
	}))
	ts.Defer(srv.Close)
	ts.Setenv("SERVED", srv.URL)
}
