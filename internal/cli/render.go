package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"

	"golang.org/x/term"
)

// schemaVersion is the version of every JSON answer. It grows when a field
// changes its meaning or goes; new fields do not change it.
const schemaVersion = 1

// A screen is where a command prints: data on stdout, what people are shown beside
// it on stderr. It is the one renderer of all commands.
type screen struct {
	stdout, stderr io.Writer
	json           bool // --json: data is one JSON object
	plain          bool // no colours: the user asked for plain text (no-color.org)
	width          int  // columns of the terminal that shows stdout; 0 when there is none
	out, diag      wrapper

	ids func(note.ID) string // how lists show an id; nil shows all of it
}

// render prints the answer of a use case: as JSON, or by text. An error is the
// whole answer, except one that says nothing itself and only sets the exit code.
func render[T any](p *program, command string, v T, err error, text func(T)) error {
	if !app.Answers(err) {
		return err
	}
	if p.json {
		return errors.Join(p.printJSON(command, v), err)
	}
	text(v)
	return err
}

// printJSON prints a value, which is an object, with the version of the schema
// and the name of the command before its own members.
func (s *screen) printJSON(command string, v any) error {
	text, err := jsonText(command, v)
	if err == nil {
		_, err = s.stdout.Write(text)
	}
	return err
}

// jsonText is what printJSON prints.
func jsonText(command string, v any) ([]byte, error) {
	body, err := marshal(withoutNil(v))
	if err != nil {
		return nil, err
	}
	name, err := marshal(command)
	if err != nil {
		return nil, err
	}
	begin := fmt.Sprintf(`{"schema_version":%d,"command":%s`, schemaVersion, name)
	if rest := bytes.TrimPrefix(body, []byte("{")); !bytes.Equal(rest, []byte("}")) {
		begin += ","
	}
	var out bytes.Buffer
	if err := json.Indent(&out, append([]byte(begin), body[1:]...), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// withoutNil returns a copy of a value in which lists that are nil are empty: a
// reader of JSON wants [] and not null. Lists of bytes and what maps and
// interfaces hold stay as they are.
func withoutNil(v any) any {
	if v == nil {
		return v
	}
	all := reflect.New(reflect.TypeOf(v)).Elem()
	all.Set(reflect.ValueOf(v))
	fillNil(all)
	return all.Interface()
}

func fillNil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fillNil(f)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len()) // the caller's own list stays as it is
		reflect.Copy(fresh, v)
		for i := range fresh.Len() {
			fillNil(fresh.Index(i))
		}
		v.Set(fresh)
	case reflect.Pointer:
		if !v.IsNil() && v.Elem().CanSet() && v.Type().Elem().Kind() == reflect.Struct {
			fresh := reflect.New(v.Type().Elem())
			fresh.Elem().Set(v.Elem())
			fillNil(fresh.Elem())
			v.Set(fresh)
		}
	}
}

// emit prints one JSON object.
func (s *screen) emit(v any) error {
	enc := json.NewEncoder(s.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(withoutNil(v))
}

// header begins every JSON answer.
type header struct {
	Schema  int    `json:"schema_version"`
	Command string `json:"command"`
}

func head(command string) header { return header{schemaVersion, command} }

// short is an id as a list shows it: the shortest end that names the note.
func (s *screen) short(id note.ID) string {
	if s.ids == nil {
		return string(id)
	}
	return s.ids(id)
}

// printf prints data. What the arguments hold may come from a note, a file or another
// machine: no terminal obeys it.
func (s *screen) printf(format string, args ...any) {
	s.out.width = s.width
	_, _ = io.WriteString(s.stdout, s.out.wrap(fmt.Sprintf(format, visibleArgs(args)...)))
}

// verbatim prints text that has its own lines: nothing is broken.
func (s *screen) verbatim(text string) { _, _ = io.WriteString(s.stdout, visible(text)) }

// errorf prints on standard error, in the same way.
func (s *screen) errorf(format string, args ...any) {
	_, _ = io.WriteString(s.stderr, s.diag.wrap(fmt.Sprintf(format, visibleArgs(args)...)))
}

// note tells people something on standard error.
func (s *screen) note(format string, args ...any) {
	s.errorf("anamnesis: "+format+"\n", args...)
}

// report prints an error of a command with what to do next and returns the exit code.
func (s *screen) report(err error, command string) int {
	if err == nil {
		return 0
	}
	f := app.Explain(err)
	if !strings.Contains(f.Message+f.Hint, "`") { // the error names no command that helps
		kind := f.Code
		if kind == app.Failed && errors.Is(err, fs.ErrNotExist) { // mostly a file that the command line names
			kind = app.Usage
		}
		f.Hint = strings.TrimPrefix(f.Hint+"; ", "; ") + nextStep(kind, command)
	}
	var kinded *app.Error
	if errors.As(err, &kinded) && kinded.Err == nil {
		return f.Exit // the answer says it all
	}
	if s.json {
		enc := json.NewEncoder(s.stderr)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(struct {
			Schema int         `json:"schema_version"`
			Error  app.Failure `json:"error"`
		}{schemaVersion, f})
		return f.Exit
	}
	name := paint(s.colours(s.stderr), red, "anamnesis:")
	lines := strings.Split(f.Message, "\n") // what a user typed may stand in it
	for i, l := range lines {
		lines[i] = printable(l)
	}
	s.errorf("%s %s\n", name, strings.Join(lines, "\n"))
	if f.Hint != "" {
		s.errorf("  %s\n", f.Hint)
	}
	return f.Exit
}

// nextStep names the command that helps with a failure of a kind.
func nextStep(kind app.Kind, command string) string {
	switch kind {
	case app.Usage:
		return "`" + command + " --help` shows its arguments and flags"
	case app.NotFound:
		return "`anamnesis list` lists the notes"
	case app.Conflict: // the message says what is to be decided
		return ""
	case app.Locked:
		return "`anamnesis doctor --only locks` shows which process is at work; try again when it has ended"
	}
	return "`anamnesis doctor` checks what is wrong"
}

// terminal reports whether a stream is one that a person looks at or types into.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns returns how many columns a stream's terminal has, 0 when it is none or
// does not say.
func columns(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// rest is the first line of a text that ends a line of a list: of at most most
// characters, and on a terminal of what before leaves.
func (s *screen) rest(before, text string, most int) string {
	return cutColumns(firstLine(text, most), s.left(textColumns(before), most))
}

// left returns how many characters fit into a line of the terminal beside used
// ones: at most most, which a file or a pipe gets, and at least 20, for in less
// nobody reads anything.
func (s *screen) left(used, most int) int {
	if s.width == 0 {
		return most
	}
	return max(20, min(most, s.width-used))
}

// A progress draws one line on a terminal when something takes longer than a second.
type progress struct {
	out   io.Writer // nil draws nothing
	what  string
	began time.Time
	drawn bool
}

func (s *screen) progress(what string) app.Progress {
	b := &progress{what: what, began: time.Now()}
	if terminal(s.stderr) {
		b.out = s.stderr
	}
	return b
}

// Step implements app.Progress.
func (b *progress) Step(done, total int) {
	if b.out == nil || total == 0 || time.Since(b.began) < time.Second {
		return
	}
	const width = 30
	full := width * done / total
	verb, unit := b.what, ""
	if i := strings.LastIndexByte(b.what, ' '); i > 0 {
		verb, unit = b.what[:i], b.what[i:]
	}
	fmt.Fprintf(b.out, "\r%s [%s%s] %d of %d%s", verb, strings.Repeat("=", full), strings.Repeat(" ", width-full), done, total, unit)
	b.drawn = true
}

// Done implements app.Progress.
func (b *progress) Done() {
	if b.drawn {
		fmt.Fprint(b.out, "\r\033[K")
	}
}
