package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"anamnesis/internal/agent/foreigndb"
)

// A dbSource is a SessionSource for an agent that keeps all sessions in one SQLite file.
// A copy of it is read, so the agent is never in our way nor we in its. The records are
// JSON lines that we make of its rows; what they mean is the business of take.
type dbSource struct {
	lineSource

	needs []string // "table.column" that must be there; another schema is refused
	// ids asks for the ids of the sessions of persons, in order.
	ids string
	// rows writes the records of one session.
	rows func(ctx context.Context, db *foreigndb.DB, id string, out *bytes.Buffer) error
}

// dbTime is how long a database may be read.
const dbTime = 2 * time.Minute

// maxRecords is how much of one session is held, in bytes.
const maxRecords = 256 << 20

// Late implements LateWriter: the size of the file says nothing about a session.
func (s *dbSource) Late() bool { return true }

// Ended implements LateWriter. A row is whole when it is there.
func (s *dbSource) Ended([]byte) bool { return true }

// open opens the copy and looks whether it is of a version that is known.
func (s *dbSource) open(ctx context.Context, f File) (*foreigndb.DB, error) {
	db, err := foreigndb.Shared(ctx, f.Name())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	for _, need := range s.needs {
		table, column, _ := strings.Cut(need, ".")
		lacks, err := db.Lacks(ctx, table, column)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		if lacks != "" {
			return nil, fmt.Errorf("read %s: its schema is of another version: there is no %s", f.Name(), lacks)
		}
	}
	return db, nil
}

// SessionsIn implements SessionSource.
func (s *dbSource) SessionsIn(_ string, f File) (ids []string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), dbTime)
	defer cancel()
	db, err := s.open(ctx, f)
	if err != nil {
		return nil, err
	}
	err = db.Query(ctx, s.ids, func(cells []string) error {
		if ValidID(cells[0]) && !slices.Contains(ids, cells[0]) {
			ids = append(ids, cells[0])
		}
		return nil
	})
	return ids, err
}

// Open implements SessionSource.
func (s *dbSource) Open(f File, id string) (*io.SectionReader, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dbTime)
	defer cancel()
	db, err := s.open(ctx, f)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := s.rows(ctx, db, id, &out); err != nil {
		return nil, fmt.Errorf("read session %s in %s: %w", id, f.Name(), err)
	}
	return io.NewSectionReader(bytes.NewReader(out.Bytes()), 0, int64(out.Len())), nil
}

// record writes one record: pairs of a name and a value. A value that is no JSON, or that
// is not marked as such by a name with a star before it, is a text.
func record(out *bytes.Buffer, pairs ...string) error {
	if out.Len() > maxRecords {
		return fmt.Errorf("it is longer than %d MB", maxRecords>>20)
	}
	sep := "{"
	for i := 0; i+1 < len(pairs); i += 2 {
		name, raw := strings.CutPrefix(pairs[i], "*")
		value := pairs[i+1]
		if raw {
			if _, err := eachMember([]byte(value), func(_, _ []byte) {}); err != nil {
				raw = false
			}
		}
		out.WriteString(sep + QuoteJSON(name) + ":")
		if raw {
			if strings.ContainsAny(value, "\r\n") { // a record is one line
				value = strings.NewReplacer("\n", " ", "\r", " ").Replace(value)
			}
			out.WriteString(value)
		} else {
			out.WriteString(QuoteJSON(value))
		}
		sep = ","
	}
	out.WriteString("}\n")
	return nil
}
