package web

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	minPassword = 10      // characters
	rounds      = 600_000 // of PBKDF2 with SHA-256
	maxRounds   = 10_000_000
	hashName    = "pbkdf2-sha256"
)

// HashPassword makes what Options.Password wants of a password.
func HashPassword(password string) (string, error) {
	if len([]rune(password)) < minPassword {
		return "", fmt.Errorf("the password has fewer than %d characters; give a longer one", minPassword)
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // it never fails
	sum, err := pbkdf2.Key(sha256.New, password, salt, rounds, 32)
	if err != nil {
		return "", fmt.Errorf("hash the password: %w", err)
	}
	enc := base64.RawStdEncoding
	return fmt.Sprintf("%s$%d$%s$%s", hashName, rounds, enc.EncodeToString(salt), enc.EncodeToString(sum)), nil
}

var errHash = errors.New("it is no hash of a password; `anamnesis dashboard --hash-password` makes one")

// CheckHash returns what is wrong with the hash of a password.
func CheckHash(hash string) error {
	_, _, _, err := parseHash(hash)
	return err
}

func parseHash(hash string) (n int, salt, sum []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 4 || parts[0] != hashName {
		return 0, nil, nil, errHash
	}
	n, err = strconv.Atoi(parts[1])
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[2])
	sum, err2 := base64.RawStdEncoding.DecodeString(parts[3])
	if err != nil || err1 != nil || err2 != nil || n < 100_000 || n > maxRounds || len(salt) < 8 || len(sum) != 32 {
		return 0, nil, nil, errHash
	}
	return n, salt, sum, nil
}

func rightPassword(hash, password string) bool {
	n, salt, sum, err := parseHash(hash)
	if err != nil {
		return false
	}
	got, err := pbkdf2.Key(sha256.New, password, salt, n, len(sum))
	return err == nil && same(string(got), string(sum))
}

// login lets in who knows the password.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	if s.opts.Password == "" {
		http.NotFound(w, r)
		return
	}
	if r.Method != http.MethodPost {
		s.plain(w, http.StatusOK, "login", "")
		return
	}
	form, err := readForm(r) // before any lock: a body may come slowly
	if err != nil {
		s.fail(w, r, err)
		return
	}
	from := addressOf(r.RemoteAddr)
	if left := s.tries.wait(from, s.opts.Now()); left > 0 {
		tooMany(w, left)
		s.plain(w, http.StatusTooManyRequests, "login", "Too many wrong passwords: wait a minute.")
		return
	}
	// A guess takes time, of one core; those of this machine wait for none of elsewhere.
	one := &s.logins.elsewhere
	if from.IsLoopback() {
		one = &s.logins.here
	}
	if !one.enter() {
		tooMany(w, time.Second)
		s.plain(w, http.StatusTooManyRequests, "login", "Others try passwords now: try again in a moment.")
		return
	}
	defer one.leave()
	now := s.opts.Now()
	if left := s.tries.wait(from, now); left > 0 { // others of the address failed while this one waited
		tooMany(w, left)
		s.plain(w, http.StatusTooManyRequests, "login", "Too many wrong passwords: wait a minute.")
		return
	}
	if !rightPassword(s.opts.Password, form.Get("password")) {
		s.tries.failed(from, now)
		s.plain(w, http.StatusUnauthorized, "login", "That is not the password.")
		return
	}
	s.setCookie(w, r, s.keys.admit())
	s.plain(w, http.StatusOK, "entered", nil)
}

func tooMany(w http.ResponseWriter, left time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(left.Seconds())+1))
}

// A turn lets one at a time in, and few wait.
type turn struct {
	mu      sync.Mutex
	waiting atomic.Int32
}

const maxWaiting = 8

func (t *turn) enter() bool {
	if t.waiting.Add(1) > maxWaiting {
		t.waiting.Add(-1)
		return false
	}
	t.mu.Lock()
	return true
}

func (t *turn) leave() {
	t.waiting.Add(-1)
	t.mu.Unlock()
}
