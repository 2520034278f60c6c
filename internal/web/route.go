package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/history"
	"anamnesis/internal/store"
)

// A page is a view of the memory: what makes its value, and the template that shows it.
type page struct {
	path string // in the notation of net/http
	api  string // of the twin, below /api
	name string // of the template
	area string // of the navigation that it belongs to
	make func(*request) (any, error)
}

// pages lists the pages, in the order of the navigation.
var pages = []page{
	{"/{$}", "/overview", "overview", "overview", overview},
	{"/browse", "/notes", "browse", "browse", browse},
	{"/notes/new", "/notes/new", "edit", "browse", newNote},
	{"/notes/{id}", "/notes/{id}", "note", "browse", showNote},
	{"/notes/{id}/edit", "/notes/{id}/edit", "edit", "browse", editNote},
	{"/notes/{id}/history", "/notes/{id}/history", "notehistory", "browse", noteHistory},
	{"/notes/{id}/diff", "/notes/{id}/diff", "notehistory", "browse", noteHistory},
	{"/notes/{id}/forget", "/notes/{id}/forget", "forget", "browse", forgetPlan},
	{"/review", "/review", "review", "review", review},
	{"/review/withheld/{id}", "/review/withheld/{id}", "release", "review", releasePage},
	{"/lab", "/lab", "lab", "lab", lab},
	{"/sessions", "/sessions", "sessions", "sessions", sessions},
	{"/sessions/{id}", "/sessions/{id}", "session", "sessions", oneSession},
	{"/history", "/history", "history", "history", recentChanges},
	{"/timeline", "/timeline", "timeline", "timeline", timeline},
	{"/gone", "/gone", "gone", "gone", gone},
	{"/machines", "/fleet", "machines", "machines", machines},
	{"/health", "/health", "health", "health", health},
	{"/queue", "/queue", "queue", "queue", showQueue},
	{"/statistics", "/stats", "statistics", "statistics", statistics},
	{"/settings", "/settings", "settings", "settings", settings},
}

// twins lists the values that only programs ask for.
var twins = []page{
	{api: "/commits/{hash}", make: commit},
	{api: "/jobs", make: func(r *request) (any, error) { return r.s.jobs.list(), nil }},
}

// An action changes something; it is the use case of a command.
type action struct {
	path   string // of the form
	method string // of its twin
	api    string // of its twin, below /api
	make   func(*request) (done, error)
}

// actions lists what changes something.
var actions = []action{
	{"/notes/new", "POST", "/notes", createNote},
	{"/notes/{id}/edit", "PUT", "/notes/{id}", saveNote},
	{"/notes/{id}/archive", "POST", "/notes/{id}/archive", archiveNote},
	{"/notes/{id}/restore", "POST", "/notes/{id}/restore", restoreNote},
	{"/notes/{id}/supersede", "POST", "/notes/{id}/supersede", supersedeNote},
	{"/notes/{id}/forget", "DELETE", "/notes/{id}", forgetNote},
	{"/notes/{id}/keep", "POST", "/notes/{id}/keep", keepNote},
	{"/undo/{number}", "POST", "/undo/{number}", undoDecision},
	{"/review/{kind}/{id}", "POST", "/review/{kind}/{id}", decide},
	{"/gaps/close", "POST", "/gaps/close", closeGap},
	{"/health", "POST", "/health", examine},
	{"/sync", "POST", "/sync", syncNow},
	{"/reindex", "POST", "/reindex", reindex},
	{"/jobs/{id}/stop", "POST", "/jobs/{id}/stop", stopJob},
	{"/settings", "POST", "/settings", saveSettings},
	{"/settings/test", "POST", "/settings/test", testModel},
}

// done is what became of an action.
type done struct {
	Text string // one sentence
	Undo string // the command that takes it back, "" when there is none
	To   string // the page to go on with
	Back *undo  // the form that takes it back, nil when there is none
	Show *page  // shown instead of To: the form is to be looked at again
	Data any    // of Show, and of the twin
	Code int    // of the answer; 0 means it was done
}

// An undo is a form of one button.
type undo struct {
	Path   string
	Fields map[string]string
}

// A request is one use of the store: what was asked, and the rooms.
type request struct {
	*http.Request
	s       *Server
	rooms   *app.Rooms
	ctx     context.Context
	form    url.Values
	notices []string // shown beside the answer
	json    bool
}

// get returns a field of a form, or of the question in the address.
func (r *request) get(key string) string {
	if r.form != nil {
		if v := r.form.Get(key); v != "" {
			return v
		}
	}
	return r.URL.Query().Get(key)
}

// all returns all values of a field.
func (r *request) all(key string) []string {
	var some []string
	for _, v := range append(r.form[key], r.URL.Query()[key]...) {
		if v = strings.TrimSpace(v); v != "" {
			some = append(some, v)
		}
	}
	return some
}

// number returns a field as a number from 0 to most.
func (r *request) number(key string, usual, most int) int {
	n, err := strconv.Atoi(r.get(key))
	if err != nil || n < 0 {
		return usual
	}
	return min(n, most)
}

func (r *request) id() string { return r.PathValue("id") }

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.HandleFunc("GET "+p.path, s.serve(p, false))
		mux.HandleFunc("GET /api"+p.api, s.serve(p, true))
	}
	for _, p := range twins {
		mux.HandleFunc("GET /api"+p.api, s.serve(p, true))
	}
	for _, a := range actions {
		mux.HandleFunc("POST "+a.path, s.act(a, false))
		mux.HandleFunc(a.method+" /api"+a.api, s.act(a, true))
	}
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /assets/{name}", s.asset)
	mux.HandleFunc("GET /enter", s.enter)
	mux.HandleFunc("GET /login", s.login)
	mux.HandleFunc("POST /login", s.login)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) {
		r.SetPathValue("name", "icon.svg")
		s.asset(w, r)
	})
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, app.Errorf(app.NotFound, "there is no page %s", r.URL.Path))
	})
	return mux
}

// with calls use with the rooms, brought into step with the files.
func (s *Server) with(w http.ResponseWriter, hr *http.Request, use func(*request) error) {
	err := s.borrow(hr, use)
	if errors.Is(err, errReplaced) { // another folder stands in its place
		if err = s.open(hr.Context()); err == nil {
			err = s.borrow(hr, use)
		}
	}
	if err != nil {
		s.fail(w, hr, err)
	}
}

var (
	errClosed   = errors.New("the store is closed")
	errReplaced = errors.New("the store is another one")
)

func (s *Server) borrow(hr *http.Request, use func(*request) error) error {
	l, back := s.lend()
	defer back()
	if l == nil {
		return errClosed
	}
	if now, err := history.Folder(l.rooms); err != nil {
		return errClosed
	} else if !os.SameFile(now, l.folder) {
		return errReplaced
	}
	r := &request{Request: hr, s: s, ctx: hr.Context()}
	stale, err := l.fresh.Refresh(r.ctx)
	if err != nil {
		return err
	}
	r.rooms = l.rooms.Notifying(func(line string) { r.notices = append(r.notices, line) }, nil)
	r.rooms.Stale = stale
	return use(r)
}

// serve answers with a page, or with its twin.
func (s *Server) serve(p page, asJSON bool) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		s.with(w, hr, func(r *request) error {
			r.json = asJSON
			v, err := p.make(r)
			if err != nil && !app.Answers(err) {
				return err
			}
			if asJSON {
				writeJSON(w, http.StatusOK, v)
				return nil
			}
			return s.render(w, r, p, http.StatusOK, v)
		})
	}
}

// act carries out an action and goes on with a page, or answers as its twin.
func (s *Server) act(a action, asJSON bool) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		form, err := readForm(hr)
		if err != nil {
			s.fail(w, hr, err)
			return
		}
		if !s.mayWrite(hr, form) {
			s.fail(w, hr, app.Errorf(forbidden, "the form is not one of this dashboard, or it is an old one; load the page again"))
			return
		}
		s.with(w, hr, func(r *request) error {
			r.form, r.json = form, asJSON
			var decision *store.Decision
			r.ctx, decision = store.BeginDecision(r.ctx, r.rooms.Store, r.rooms.Host.Face)
			d, err := a.make(r)
			d.undoneBy(decision.Number())
			if err != nil && (!app.Answers(err) || d.Data == nil && d.Text == "") {
				return err
			}
			switch {
			case asJSON:
				code := d.Code
				if code == 0 {
					code = http.StatusOK
				}
				writeJSON(w, code, struct {
					Text    string   `json:"text"`
					Undo    string   `json:"undo,omitempty"`
					Notices []string `json:"notices,omitempty"`
					Data    any      `json:"result,omitempty"`
				}{d.Text, d.Undo, r.notices, d.Data})
				return nil
			case d.Show != nil:
				return s.render(w, r, *d.Show, d.Code, d.Data)
			}
			to := d.To
			if d.Text != "" {
				to = withFlash(to, s.flash.add(flash{Text: d.Text, Undo: d.Undo, Back: d.Back, Notices: r.notices}))
			}
			http.Redirect(w, hr, to, http.StatusSeeOther)
			return nil
		})
	}
}

// withFlash names a message in the address of a page.
func withFlash(to, id string) string {
	base, fragment, _ := strings.Cut(to, "#")
	sep := "?"
	if strings.Contains(base, "?") {
		sep = "&"
	}
	if fragment != "" {
		fragment = "#" + fragment
	}
	return base + sep + "done=" + id + fragment
}

// readForm reads the body of a write: a form, or a flat JSON object.
func readForm(r *http.Request) (url.Values, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	data, err := io.ReadAll(r.Body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, app.Errorf(tooMuch, "the request is larger than 2 MiB")
	case err != nil:
		return nil, app.Errorf(app.Usage, "read the request: %w", err)
	case len(data) == 0:
		return url.Values{}, nil
	case kind == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(data))
		if err != nil {
			return nil, app.Errorf(app.Usage, "read the form: %w", err)
		}
		return form, nil
	case kind != "application/json":
		return nil, app.Errorf(wrongKind, "send a form or JSON, not %q", kind)
	}
	var flat map[string]any
	if err := json.Unmarshal(data, &flat); err != nil {
		return nil, app.Errorf(app.Usage, "invalid JSON: %w", err)
	}
	form := url.Values{}
	for key, v := range flat {
		switch v := v.(type) {
		case nil:
		case []any:
			for _, each := range v {
				form.Add(key, fmt.Sprint(each))
			}
		default:
			form.Set(key, fmt.Sprint(v))
		}
	}
	return form, nil
}

// wantsJSON reports whether a request is one of a program.
func wantsJSON(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }
