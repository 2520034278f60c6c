package web

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strings"
	"sync"

	"anamnesis/internal/app"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets/*
var assetFiles embed.FS

// templates are parsed when they are first shown: a dashboard starts at once.
type templates struct {
	mu    sync.Mutex
	known map[string]*template.Template
}

// named returns the template of a page with the frame around it.
func (t *templates) named(name, frame string) (*template.Template, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.known[name]; found != nil {
		return found, nil
	}
	made, err := template.New(frame).Funcs(funcs).ParseFS(templateFiles, "templates/"+frame, "templates/parts.html", "templates/"+name+".html")
	if err != nil {
		return nil, fmt.Errorf("read the template %s: %w", name, err)
	}
	if t.known == nil {
		t.known = make(map[string]*template.Template)
	}
	t.known[name] = made
	return made, nil
}

// A frame is what stands around every page.
type frame struct {
	Area    string
	Path    string
	CSRF    string
	Version string
	Side    *sidebar
	Flash   *flash
	Notices []string
	Query   string
	Data    any
}

// render writes a page.
func (s *Server) render(w http.ResponseWriter, r *request, p page, code int, v any) error {
	t, err := s.pages.named(p.name, "frame.html")
	if err != nil {
		return err
	}
	side, err := s.side.get(r.ctx, r.rooms)
	if err != nil {
		return err
	}
	f := frame{
		Area: p.area, Path: r.URL.Path, CSRF: s.keys.token(session(r.Request)), Version: s.opts.Version, Side: side,
		Flash: s.flash.get(r.URL.Query().Get("done")), Notices: r.notices, Data: v,
	}
	if p.name == "browse" {
		f.Query = r.URL.Query().Get("q")
	}
	var out bytes.Buffer
	if err := t.Execute(&out, f); err != nil {
		return fmt.Errorf("make the page %s: %w", p.name, err)
	}
	if code == 0 {
		code = http.StatusOK
	}
	writeHTML(w, code, out.Bytes())
	return nil
}

// plain writes a page that says nothing of the store.
func (s *Server) plain(w http.ResponseWriter, code int, name string, v any) {
	t, err := s.pages.named(name, "plain.html")
	var out bytes.Buffer
	if err == nil {
		err = t.Execute(&out, v)
	}
	if err != nil {
		s.opts.Log("%v", err)
		http.Error(w, "this page failed", http.StatusInternalServerError)
		return
	}
	writeHTML(w, code, out.Bytes())
}

func writeHTML(w http.ResponseWriter, code int, text []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(text)
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		code, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON","code":"failed"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(append(text, '\n'))
}

// Kinds of failure that only requests have.
const (
	forbidden app.Kind = "forbidden"
	tooMuch   app.Kind = "too_large"
	wrongKind app.Kind = "unsupported"
)

// A failure is the answer of a twin that failed.
type failure struct {
	Error string   `json:"error"`
	Code  app.Kind `json:"code"`
	Hint  string   `json:"hint,omitempty"`
}

// codes are the status codes of the kinds of failure; 500 for the others.
var codes = map[app.Kind]int{
	app.Usage: http.StatusBadRequest, app.NotFound: http.StatusNotFound, app.Conflict: http.StatusConflict,
	app.Locked: http.StatusServiceUnavailable, forbidden: http.StatusForbidden, tooMuch: http.StatusRequestEntityTooLarge,
	wrongKind: http.StatusUnsupportedMediaType,
}

func statusOf(k app.Kind) int {
	if code, ok := codes[k]; ok {
		return code
	}
	return http.StatusInternalServerError
}

// fail answers with what went wrong.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits
	}
	f := app.Explain(err)
	if errors.Is(err, errClosed) {
		f.Message, f.Hint = "the store is not there any more", "is the disk mounted? The page works again when it is back."
	}
	code := statusOf(f.Code)
	if wantsJSON(r) {
		writeJSON(w, code, failure{f.Message, f.Code, f.Hint})
		return
	}
	s.plain(w, code, "failure", struct {
		app.Failure
		Status int
	}{f, code})
}

// asset serves a file of ours.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	name := path.Base(r.PathValue("name"))
	data, err := assetFiles.ReadFile("assets/" + name)
	kind := assetKinds[path.Ext(name)]
	if err != nil || kind == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data)
}

var assetKinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// A flash is what an action said, for the page after it.
type flash struct {
	ID      string
	Text    string
	Undo    string
	Back    *undo
	Notices []string
}

// flashes keep the last messages; the address names one, and holds no text of it.
type flashes struct {
	mu   sync.Mutex
	next int
	last []flash
}

func (f *flashes) add(one flash) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	one.ID = fmt.Sprint(f.next)
	f.last = append(f.last, one)
	if len(f.last) > 32 {
		f.last = f.last[1:]
	}
	return one.ID
}

func (f *flashes) get(id string) *flash {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.last {
		if one.ID == id && strings.TrimSpace(id) != "" {
			return &one
		}
	}
	return nil
}
