// Package tui is the memory as a screen of the terminal, for people without a browser:
// a list with search, a note, what waits for a person, and the recall lab. It calls the
// use cases of package app, and shows what they return; notes are hostile text, so no
// character that moves a cursor is written.
//
// Failure policy: a use case that fails is a line at the bottom, and nothing else.
package tui

import (
	"context"
	"fmt"
	"io"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/hooks"
	"anamnesis/internal/note"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Options are the streams of the screen, and its environment, KEY=VALUE.
type Options struct {
	Input   io.Reader
	Output  io.Writer
	Environ []string
	Plain   bool // no colours
}

// Run shows the screen until the user leaves it or ctx ends.
func Run(ctx context.Context, r *app.Rooms, o Options) error {
	m := &model{ctx: ctx, rooms: r, fresh: hooks.NewRefresher(r), plain: o.Plain, width: 80, height: 24}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.Input), tea.WithOutput(o.Output), tea.WithEnvironment(o.Environ))
	if _, err := p.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("show the screen: %w", err)
	}
	return nil
}

// The parts of the screen.
type part int

const (
	partNotes part = iota
	partReview
	partLab
)

var parts = []string{"Notes", "Review", "Lab"}

// A row is a line of a list and what it stands for.
type row struct {
	head, side string
	id         note.ID
	item       *app.InboxItem
}

type model struct {
	ctx           context.Context //nolint:containedctx // of the program, which bubbletea's messages do not carry
	rooms         *app.Rooms
	fresh         *hooks.Refresher
	plain         bool
	width, height int

	part   part
	query  string
	typing bool
	rows   []row
	at     int            // in rows
	asked  int            // numbers questions: an old answer is not shown
	status string         // the line at the bottom
	lines  []string       // of what is read; nil when the list is shown
	text   string         // of the same, not wrapped
	read   row            // what is read, whatever is chosen in the list since
	top    int            // of lines
	yes    func() tea.Msg // what y does, when a question is asked
}

// Messages.
type (
	listed struct {
		asked  int
		rows   []row
		status string
	}
	opened struct {
		row         row
		title, text string
	}
	did    struct{ text string }
	failed struct{ err error }
)

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.load() }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(20, msg.Width), max(6, msg.Height)
		m.wrap()
	case listed:
		if msg.asked == m.asked {
			m.rows, m.status = msg.rows, msg.status
			m.at = max(0, min(m.at, len(m.rows)-1))
		}
	case opened:
		m.text, m.top, m.read = msg.title+"\n\n"+msg.text, 0, msg.row
		m.wrap()
	case did:
		m.lines, m.status = nil, msg.text
		return m, m.loadQuietly()
	case failed:
		m.status = "! " + app.Explain(msg.err).Message
	case tea.PasteMsg:
		if m.typing {
			m.query += note.Line(msg.Content, 200)
			return m, m.load()
		}
	case tea.KeyPressMsg:
		return m, m.key(msg)
	}
	return m, nil
}

// key does what a key says.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+c" {
		return tea.Quit
	}
	if yes := m.yes; yes != nil {
		m.yes, m.status = nil, "left as it is"
		if name == "y" {
			return yes
		}
		return nil
	}
	if m.typing {
		return m.type1(k, name)
	}
	switch name {
	case "q":
		if m.lines == nil {
			return tea.Quit
		}
		m.lines = nil
	case "esc", "left", "h":
		m.lines = nil
	case "tab", "1", "2", "3":
		m.part = (m.part + 1) % 3
		if name != "tab" {
			m.part = part(name[0] - '1')
		}
		m.lines, m.rows, m.at = nil, nil, 0
		m.typing = m.part == partLab && m.query == ""
		return m.load()
	case "/":
		m.typing, m.lines = m.part != partReview, nil
	case "down", "j":
		m.move(1)
	case "up", "k":
		m.move(-1)
	case "pgdown", "space", "ctrl+d":
		m.move(m.room())
	case "pgup", "ctrl+u":
		m.move(-m.room())
	case "home", "g":
		m.move(-1 << 20)
	case "end", "G":
		m.move(1 << 20)
	case "enter", "right", "l":
		return m.open()
	case "u":
		return m.undo()
	default:
		if m.lines != nil { // nothing is decided that is not being read
			return m.decide(name)
		}
	}
	return nil
}

// type1 is key while a question is typed.
func (m *model) type1(k tea.KeyPressMsg, name string) tea.Cmd {
	switch name {
	case "enter", "down", "esc":
		m.typing = false
		return nil
	case "backspace":
		if r := []rune(m.query); len(r) > 0 {
			m.query = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.query = ""
	default:
		if k.Key().Text == "" {
			return nil
		}
		m.query += note.Printable(k.Key().Text)
	}
	m.at = 0
	return m.load()
}

// room is how many lines a list or a text has.
func (m *model) room() int { return max(1, m.height-4) }

func (m *model) move(by int) {
	if m.lines != nil {
		m.top = max(0, min(m.top+by, len(m.lines)-m.room()))
		return
	}
	m.at = max(0, min(m.at+by, len(m.rows)-1))
}

// wrap lays the text out for the width of the terminal.
func (m *model) wrap() {
	if m.text == "" {
		return
	}
	if m.lines != nil || m.top == 0 {
		m.lines = strings.Split(ansi.Wrap(m.text, m.width, ""), "\n")
	}
}

// View implements tea.Model.
func (m *model) View() tea.View {
	var out []string
	tabs := ""
	for i, name := range parts {
		text := fmt.Sprintf(" %d %s ", i+1, name)
		if part(i) == m.part {
			text = m.bright(text)
		}
		tabs += text
	}
	out = append(out, tabs)
	switch {
	case m.lines != nil:
		out = append(out, "")
		out = append(out, m.lines[min(m.top, len(m.lines)):min(m.top+m.room(), len(m.lines))]...)
	case m.part == partReview:
		out = append(out, "What waits for you")
		out = append(out, m.list()...)
	default:
		cursor := ""
		if m.typing {
			cursor = "█"
		}
		out = append(out, ansi.TruncateLeft("/ "+m.query+cursor, max(0, ansi.StringWidth(m.query)+4-m.width), "…"))
		out = append(out, m.list()...)
	}
	for len(out) < m.height-2 {
		out = append(out, "")
	}
	out = append(out[:m.height-2], ansi.Truncate(note.Printable(m.status), m.width, "…"), m.dim(ansi.Truncate(m.keys(), m.width, "…")))
	for i, line := range out {
		out[i] = ansi.Truncate(line, m.width, "…")
	}
	v := tea.NewView(strings.Join(out, "\n"))
	v.AltScreen, v.WindowTitle = true, "anamnesis"
	return v
}

// list shows the part of the rows that has the chosen one.
func (m *model) list() (lines []string) {
	from := max(0, min(m.at-m.room()/2, len(m.rows)-m.room()))
	for i := from; i < min(from+m.room(), len(m.rows)); i++ {
		r := m.rows[i]
		side := min(ansi.StringWidth(r.side), m.width/3)
		head := ansi.Truncate(r.head, m.width-side-3, "…")
		gap := strings.Repeat(" ", max(1, m.width-2-side-ansi.StringWidth(head)))
		line := "  " + head + gap + ansi.Truncate(r.side, side, "…")
		if i == m.at {
			line = m.bright("> " + line[2:])
		}
		lines = append(lines, line)
	}
	return lines
}

func (m *model) bright(s string) string {
	if m.plain {
		return s
	}
	return "\x1b[7m" + s + "\x1b[27m"
}

func (m *model) dim(s string) string {
	if m.plain {
		return s
	}
	return "\x1b[2m" + s + "\x1b[22m"
}

// keys says what the keys do here.
func (m *model) keys() string {
	switch {
	case m.yes != nil:
		return "y yes · any other key no"
	case m.typing:
		return "type a question · Enter to the list · Ctrl-U clear · Ctrl-C leave"
	case m.lines != nil && m.read.item != nil:
		return choices(m.read.item) + " · j k scroll · Esc back"
	case m.lines != nil:
		return "j k scroll · a archive · u undo · Esc back · Tab next part"
	case m.part == partReview:
		return "j k move · Enter read and decide · u undo · Tab next part · q leave"
	}
	return "j k move · Enter read · / search · u undo · Tab next part · q leave"
}
