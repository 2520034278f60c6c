package quality

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// maxTranscript bounds one session of a set, in bytes.
const maxTranscript = 256 << 20

// ReadLabelled reads a folder of labelled sessions: labels.jsonl, and the transcripts that its
// lines name, as PROJECT/SESSION.jsonl or PROJECT/SESSION.jsonl.gz. Of a line these keys count:
// kind "lesson" with session, lesson and evidence, the user's words; kind "learnt" with session,
// quote and cls, where cls "a" and "a~" are lessons, too, and the others are none; kind "question" with
// session, question and key, an expression that what answers it must match.
func ReadLabelled(folder fs.FS) (all []LabelledSession, err error) {
	data, err := fs.ReadFile(folder, "labels.jsonl")
	if err != nil {
		return nil, err
	}
	at := make(map[string]int)
	files, err := fs.Glob(folder, "*/*.jsonl*")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".gz")
		text, err := readTranscript(folder, file)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		at[name] = len(all)
		all = append(all, LabelledSession{
			ID: strings.TrimSuffix(path.Base(name), ".jsonl"), Project: strings.ReplaceAll(path.Dir(name), "+", "/"), Transcript: text,
		})
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var l struct{ Kind, Session, Lesson, Evidence, Quote, Cls, Learnt, Question, Key string }
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("labels.jsonl, line %d: %w", n, err)
		}
		i, ok := at[l.Session]
		if !ok {
			continue
		}
		s := &all[i]
		switch {
		case l.Kind == "lesson" && l.Evidence != "":
			s.Labels = append(s.Labels, Label{l.Lesson, l.Evidence})
		case l.Kind == "learnt" && strings.HasPrefix(l.Cls, "a"):
			s.Labels = append(s.Labels, Label{l.Learnt, l.Quote})
		case l.Kind == "question" && l.Question != "" && l.Key != "":
			s.Questions = append(s.Questions, LabelledQuestion{l.Question, l.Key})
		case l.Kind == "learnt":
			s.NotRules = append(s.NotRules, l.Quote)
		}
	}
	return all, lines.Err()
}

func readTranscript(folder fs.FS, file string) ([]byte, error) {
	f, err := folder.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var from io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, err
		}
		from = z
	}
	return io.ReadAll(io.LimitReader(from, maxTranscript))
}

// labelledAt is when the first session of a script began.
var labelledAt = time.Date(2026, 9, 1, 8, 0, 0, 0, time.UTC)

// Labelled returns the sessions of a script with what their lines teach.
func (s *LessonSet) Labelled() (all []LabelledSession) {
	for i := range s.Sessions {
		session := &s.Sessions[i]
		l := LabelledSession{ID: fmt.Sprintf("%s-%02d", s.Name, i+1), Project: s.Project}
		l.Transcript = session.Transcript(l.ID, "/home/ada/src/"+s.Name, labelledAt.Add(time.Duration(i)*24*time.Hour))
		for j := range session.Steps {
			step := &session.Steps[j]
			if step.Does != UserSays {
				continue
			}
			if step.Lesson != "" {
				l.Labels = append(l.Labels, Label{Words: step.Text})
			} else if step.Decoy != "" {
				l.NotRules = append(l.NotRules, step.Text)
			}
		}
		all = append(all, l)
	}
	return all
}
