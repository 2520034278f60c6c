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

// A limiter lets few wrong passwords in a time through, whoever tries.
type limiter struct {
	mu    sync.Mutex
	wrong []time.Time
}

const (
	maxWrong  = 5
	wrongTime = time.Minute
)

// wait returns how long nobody may try.
func (l *limiter) wait(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.wrong) > 0 && now.Sub(l.wrong[0]) > wrongTime {
		l.wrong = l.wrong[1:]
	}
	if len(l.wrong) < maxWrong {
		return 0
	}
	return wrongTime - now.Sub(l.wrong[0])
}

func (l *limiter) failed(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, now)
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
	s.oneLogin.Lock() // a guess costs time, and no more than one core
	defer s.oneLogin.Unlock()
	form, err := readForm(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	now := s.opts.Now()
	if left := s.tries.wait(now); left > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(left.Seconds())+1))
		s.plain(w, http.StatusTooManyRequests, "login", "Too many wrong passwords: wait a minute.")
		return
	}
	if !rightPassword(s.opts.Password, form.Get("password")) {
		s.tries.failed(now)
		s.plain(w, http.StatusUnauthorized, "login", "That is not the password.")
		return
	}
	s.setCookie(w, r, s.keys.admit())
	s.plain(w, http.StatusOK, "entered", nil)
}
