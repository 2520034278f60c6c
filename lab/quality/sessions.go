package quality

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
	"anamnesis/internal/session"
)

// A LabelledQuestion is what a developer would ask later. Key is an expression, whatever the case, that
// what answers it matches.
type LabelledQuestion struct{ Text, Key string }

// A SessionBox is a throw-away store that keeps sessions word for word.
type SessionBox struct {
	Capture func(ctx context.Context, path, session, project string) (*note.Note, error)
	Index   func(ctx context.Context) error
	Search  func(ctx context.Context, question, project string) (SessionFound, error)
	Fix     func(ctx context.Context, errorText, project string) ([]SessionFix, error)
	Kept    func() (bytes int64, err error)
	Close   func()
}

// SessionFound is what a search printed, and what stands behind it: the first notes and the first
// exchanges, whole.
type SessionFound struct {
	Printed []string
	Whole   []string
	Took    time.Duration
}

// A SessionFix is an exchange that ended an error.
type SessionFix struct {
	Session  string
	Exchange int
}

// SessionsReport is how sessions were kept and found.
type SessionsReport struct {
	Sessions  int     `json:"sessions"`
	Bytes     int64   `json:"bytes"` // of the transcripts
	Kept      float64 `json:"kept"`  // share of that
	PerSecond float64 `json:"mb_per_second"`
	Notes     int     `json:"notes"`
	Body      int     `json:"body"`         // median of their characters
	Empty     float64 `json:"empty_titles"` // share of titles that say nothing

	Questions []int   `json:"questions"` // of the first half by session, and of the second
	Answered  []int   `json:"answered"`  // by one of the first notes or exchanges, whole
	Printed   []int   `json:"printed"`   // by what is printed of them
	SearchMS  float64 `json:"search_ms"` // median
	Errors    int     `json:"errors"`    // that a later command of their session shows to be gone
	Fixed     int     `json:"fixed"`     // of which fix names the exchange

	Nonsense int      `json:"nonsense"` // questions about nothing that are asked
	Fooled   int      `json:"fooled"`   // that found an exchange
	Misses   []string `json:"misses,omitempty"`
	Titles   []string `json:"titles,omitempty"`
}

// nonsense are questions that no session of programmers answers.
var nonsense = strings.Split(`which pancake recipe did the unicorn prefer
how long should tomatoes ripen on the windowsill
what is the boiling point of liquid helium
who painted the ceiling of the Sistine chapel
best hiking boots for wet granite
why do whales sing at night
how to fold a fitted sheet
symptoms of vitamin D deficiency`, "\n")

// Sessions plays labelled sessions in a store that open makes, and asks their questions.
func Sessions(
	ctx context.Context, all []LabelledSession, open func(context.Context, string) (*SessionBox, error), progress func(done, total int),
) (rep *SessionsReport, err error) {
	root, err := os.MkdirTemp("", "anamnesis-sessions-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(root) }()
	box, err := open(ctx, root)
	if err != nil {
		return nil, err
	}
	defer box.Close()
	rep = &SessionsReport{Sessions: len(all), Questions: make([]int, 2), Answered: make([]int, 2), Printed: make([]int, 2)}
	if err := rep.capture(ctx, root, all, box, progress); err != nil {
		return nil, err
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b LabelledSession) int { return strings.Compare(a.Project+a.ID, b.Project+b.ID) })
	var times []time.Duration
	half := 0
	for i := range all {
		for _, q := range all[i].Questions {
			took, err := rep.question(ctx, q, all[i].Project, half, box)
			if err != nil {
				return nil, err
			}
			times = append(times, took)
			half = 1 - half
		}
	}
	if len(times) > 0 {
		slices.Sort(times)
		rep.SearchMS = float64(times[len(times)/2].Microseconds()) / 1000
	}
	for i := range all {
		if err := rep.errors(ctx, &all[i], box); err != nil {
			return nil, err
		}
		for _, q := range nonsense {
			if i > 0 && all[i].Project == all[i-1].Project {
				break // once a project
			}
			rep.Nonsense++
			found, err := box.Search(ctx, q, all[i].Project)
			if err != nil {
				return nil, err
			}
			if len(found.Whole) > 0 && strings.HasPrefix(found.Whole[len(found.Whole)-1], exchangeMark) {
				rep.Fooled++
				rep.Misses = append(rep.Misses, "nonsense: "+q)
			}
		}
	}
	return rep, nil
}

// exchangeMark begins the whole text of an exchange in a SessionFound.
const exchangeMark = "exchange\n"

// OfExchange marks the whole text of an exchange for SessionFound.Whole.
func OfExchange(text string) string { return exchangeMark + text }

// capture keeps the sessions and looks at the notes they become.
func (rep *SessionsReport) capture(
	ctx context.Context, root string, all []LabelledSession, box *SessionBox, progress func(done, total int),
) error {
	var spent time.Duration
	var bodies []int
	for i := range all {
		if progress != nil {
			progress(i, len(all))
		}
		file := filepath.Join(root, all[i].ID+".jsonl")
		if err := os.WriteFile(file, all[i].Transcript, 0o600); err != nil {
			return err
		}
		rep.Bytes += int64(len(all[i].Transcript))
		began := time.Now()
		n, err := box.Capture(ctx, file, all[i].ID, all[i].Project)
		spent += time.Since(began)
		if err != nil {
			return fmt.Errorf("session %s: %w", all[i].ID, err)
		}
		if n == nil {
			continue
		}
		rep.Notes++
		bodies = append(bodies, utf8.RuneCountInString(n.Body))
		rep.Titles = append(rep.Titles, n.Title)
		if session.Empty(n.Title) {
			rep.Empty++
			rep.Misses = append(rep.Misses, "title: "+n.Title)
		}
	}
	began := time.Now()
	if err := box.Index(ctx); err != nil {
		return err
	}
	spent += time.Since(began)
	kept, err := box.Kept()
	if err != nil {
		return err
	}
	rep.Kept = float64(kept) / float64(max(1, rep.Bytes))
	rep.PerSecond = float64(rep.Bytes) / 1e6 / spent.Seconds()
	if len(bodies) > 0 {
		slices.Sort(bodies)
		rep.Body, rep.Empty = bodies[len(bodies)/2], rep.Empty/float64(len(bodies))
	}
	return nil
}

// question asks one question of a half.
func (rep *SessionsReport) question(
	ctx context.Context, q LabelledQuestion, project string, half int, box *SessionBox,
) (time.Duration, error) {
	key, err := regexp.Compile("(?i)" + q.Key)
	if err != nil {
		return 0, fmt.Errorf("the key of %q: %w", q.Text, err)
	}
	found, err := box.Search(ctx, q.Text, project)
	if err != nil {
		return 0, err
	}
	rep.Questions[half]++
	if slices.ContainsFunc(found.Whole, key.MatchString) {
		rep.Answered[half]++
	} else {
		rep.Misses = append(rep.Misses, fmt.Sprintf("question of half %d: %s", half+1, q.Text))
	}
	if slices.ContainsFunc(found.Printed, key.MatchString) {
		rep.Printed[half]++
	}
	return found.Took, nil
}

// digits are what other changes.
var digits = regexp.MustCompile(`\d`)

// other makes of an error the one that another run would print: with other numbers.
func other(line string) string {
	return digits.ReplaceAllStringFunc(line, func(d string) string { return string('0' + (d[0]-'0'+3)%10) })
}

// errors asks for the errors of a session that a later run of their command shows to be gone.
func (rep *SessionsReport) errors(ctx context.Context, s *LabelledSession, box *SessionBox) error {
	read, err := agent.Default().Sessions.ReadSession(strings.NewReader(string(s.Transcript)), agent.Limits{})
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, f := range session.Fixes(read.Turns) {
		symptom := session.Symptom(f.Output)
		if lines := session.ErrorLines(symptom); len(lines) == 0 || seen[lines[0]] {
			continue // a line that tells no error from another
		}
		seen[session.ErrorLines(symptom)[0]] = true
		rep.Errors++
		found, err := box.Fix(ctx, other(symptom), s.Project)
		if err != nil {
			return err
		}
		at := 0
		for i := range read.Turns[:f.Turn+1] {
			if t := &read.Turns[i]; i == 0 || t.Role == agent.User && t.Text != "" {
				at++
			}
		}
		if slices.ContainsFunc(found, func(x SessionFix) bool { return x.Session == s.ID && x.Exchange == at }) {
			rep.Fixed++
		} else {
			rep.Misses = append(rep.Misses, fmt.Sprintf("error of %s.%d: %s", s.ID, at, symptom))
		}
	}
	return nil
}
