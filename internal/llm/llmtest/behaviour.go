package llmtest

import (
	"net/http"
	"net/http/httptest"
	"strings"
)

// Body answers with a text of your own.
func Body(status int, text string) Behaviour {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	}
}

// Fails refuses with a status. retryAfter is a header, left out when "".
func Fails(status int, retryAfter string) Behaviour {
	return func(s *Server, w http.ResponseWriter, r *http.Request, body []byte) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		Body(status, `{"error": {"message": "not now", "type": "test"}}`)(s, w, r, body)
	}
}

// ErrorBody says 200 and means an error.
var ErrorBody = Body(http.StatusOK, `{"error": {"message": "the model is not loaded", "code": 500}}`)

// Echo refuses and repeats the headers of the request, the key among them.
func Echo(_ *Server, w http.ResponseWriter, r *http.Request, _ []byte) {
	http.Error(w, "bad request with \x1b[31m "+r.Header.Get("Authorization"), http.StatusBadRequest)
}

// Hang never answers.
func Hang(s *Server, _ http.ResponseWriter, r *http.Request, _ []byte) {
	select {
	case <-r.Context().Done():
	case <-s.stop:
	}
}

// Cut ends the connection in the middle of a good answer.
func Cut(s *Server, w http.ResponseWriter, r *http.Request, body []byte) {
	answer := good(s, r, body)
	w.Header().Set("Content-Length", "100000")
	_, _ = w.Write([]byte(answer[:len(answer)/2]))
	panic(http.ErrAbortHandler)
}

// Fenced wraps a good answer in a markdown fence.
func Fenced(s *Server, w http.ResponseWriter, r *http.Request, body []byte) {
	Body(http.StatusOK, "```json\n"+good(s, r, body)+"\n```")(s, w, r, body)
}

// Trailing says something behind a good answer.
func Trailing(s *Server, w http.ResponseWriter, r *http.Request, body []byte) {
	Body(http.StatusOK, good(s, r, body)+"\nI hope this is useful!")(s, w, r, body)
}

// Dimension answers with vectors of n values from now on.
func Dimension(n int) Behaviour {
	return func(s *Server, w http.ResponseWriter, r *http.Request, body []byte) {
		s.mu.Lock()
		s.Dim = n
		s.mu.Unlock()
		Good(s, w, r, body)
	}
}

// Replaced is a good answer in which every old is new: to put NaN where a
// number was, or text.
func Replaced(old, text string) Behaviour {
	return func(s *Server, w http.ResponseWriter, r *http.Request, body []byte) {
		Body(http.StatusOK, strings.ReplaceAll(good(s, r, body), old, text))(s, w, r, body)
	}
}

// Redirect sends the client to another address, and asks it to repeat there
// what it sent.
func Redirect(to string) Behaviour {
	return func(_ *Server, w http.ResponseWriter, r *http.Request, _ []byte) {
		http.Redirect(w, r, to+r.URL.Path, http.StatusPermanentRedirect)
	}
}

// Endless answers with more than anybody reads.
func Endless(_ *Server, w http.ResponseWriter, r *http.Request, _ []byte) {
	part := []byte(strings.Repeat(" ", 1<<20))
	for range 1 << 10 {
		if _, err := w.Write(part); err != nil || r.Context().Err() != nil {
			return
		}
	}
}

func good(s *Server, r *http.Request, body []byte) string {
	rec := httptest.NewRecorder()
	Good(s, rec, r, body)
	return rec.Body.String()
}
