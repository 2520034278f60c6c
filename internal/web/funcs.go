package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"strings"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/note"
)

// funcs are what templates call.
var funcs = template.FuncMap{
	"ago":         func(at string) string { return ago(at, time.Now()) },
	"short":       shortProject,
	"notepath":    notePath,
	"sessionpath": sessionPath,
	"link":        link,
	"first":       first,
	"nav":         func() []navGroup { return navigation },
	"provenance":  provenance,
	"syncTone":    syncTone,
	"percent":     func(part, whole int) int { return part * 100 / max(1, whole) },
	"line":        func(n int, s string) string { return note.Line(s, n) },
	"comma":       comma,
	"plural":      app.Plural,
	"kb":          kilobytes,
	"join":        strings.Join,
	"printable":   note.Printable,
	"types":       func() []string { return types },
	"add": func(all ...int) (sum int) {
		for _, n := range all {
			sum += n
		}
		return sum
	},
	"pair":    func(a, b any) struct{ A, B any } { return struct{ A, B any }{a, b} },
	"counts":  counts,
	"waiting": waitingName,
	"release": releasePath,
	"tone":    stateTone,
	"slug":    func(s string) string { return strings.ReplaceAll(s, " ", "-") },
	"agotime": func(t time.Time) string { return ago(t.Format(time.RFC3339), time.Now()) },
	"clock":   clock,
	"times":   func(a, b float64) float64 { return a * b },
	"neg":     func(n int) int { return -n },
	"mul":     func(a, b int) int { return a * b },
	"sub":     func(a, b int) int { return a - b },
	"str":     func(v any) string { return fmt.Sprint(v) },
}

type navGroup struct {
	Name  string
	Links []navLink
}

type navLink struct{ Name, Path, Area string }

// navigation is the list of pages beside every page.
var navigation = []navGroup{
	{"", []navLink{
		{"Overview", "/", "overview"},
		{"Browse", "/browse", "browse"},
		{"Review", "/review", "review"},
		{"Sessions", "/sessions", "sessions"},
		{"Recall lab", "/lab", "lab"},
	}},
	{"What was", []navLink{{"History", "/history", "history"}, {"Timeline", "/timeline", "timeline"}, {"Not recalled", "/gone", "gone"}}},
	{"This machine", []navLink{
		{"Machines", "/machines", "machines"},
		{"Health", "/health", "health"},
		{"Queue", "/queue", "queue"},
		{"Statistics", "/statistics", "statistics"},
		{"Settings", "/settings", "settings"},
	}},
}

// ago says how long ago a time was, as people do.
func ago(at string, now time.Time) string {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		if t, err = time.Parse("2006-01-02", at); err != nil {
			return "unknown"
		}
	}
	d := now.Sub(t)
	switch {
	case d < -time.Minute:
		return "in the future"
	case d < 45*time.Second:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", max(1, int(d.Minutes())))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours()/24))
	case d < 365*24*time.Hour:
		return fmt.Sprintf("%dmo ago", int(d.Hours()/24/30))
	}
	return fmt.Sprintf("%dy ago", int(d.Hours()/24/365))
}

// shortProject is the key of a project as people say it.
func shortProject(key string) string {
	if key == "" {
		return note.Global
	}
	return strings.TrimPrefix(key, "github.com/")
}

// link makes the address of a page with one question in it.
func link(path string, pairs ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return path + "?" + v.Encode()
}

// first returns the first n of a list.
func first(n int, list any) any {
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice {
		return nil
	}
	return v.Slice(0, min(n, v.Len())).Interface()
}

// A label is a few words and their colour.
type label struct{ Text, Tone string }

// provenance says who wrote a note, nothing for its owner.
func provenance(source string, confidence float64) *label {
	l := label{source, "quiet"}
	switch source {
	case note.Human, "":
		if confidence >= 1 {
			return nil
		}
		l.Text = "yours"
	case note.SessionEnd:
		l = label{"session", "info"}
	case note.Reflection, note.Merge:
		l.Tone = "warn"
	}
	if confidence < 1 {
		l.Text += fmt.Sprintf(" · %.2g", confidence)
	}
	return &l
}

// syncTone says how things stand between this machine and the remote.
func syncTone(s app.SyncState) label {
	switch {
	case s.Conflicts > 0:
		return label{app.Plural(s.Conflicts, "conflict"), "danger"}
	case s.Off:
		return label{"sync is off", "quiet"}
	case !s.Initialized:
		return label{"no repo", "quiet"}
	case s.Offline:
		return label{"offline", "warn"}
	case s.Dirty:
		return label{"uncommitted", "warn"}
	case s.Ahead > 0 && s.Behind > 0:
		return label{fmt.Sprintf("%d ahead, %d behind", s.Ahead, s.Behind), "warn"}
	case s.Ahead > 0 && s.Remote != "":
		return label{fmt.Sprintf("%d to push", s.Ahead), "info"}
	case s.Behind > 0:
		return label{fmt.Sprintf("%d to pull", s.Behind), "info"}
	case s.Remote == "":
		return label{"local only", "quiet"}
	}
	return label{"synced", "ok"}
}

// comma writes a number with its thousands apart.
func comma(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func kilobytes(n int64) string {
	switch {
	case n < 1<<20:
		return fmt.Sprintf("%.1f kB", float64(n)/1024)
	case n < 1<<30:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
}

// waitingName is what waits, in words.
func waitingName(kind string) string {
	names := map[app.Waiting]string{
		app.WaitingDraft: "draft", app.WaitingQuarantine: "quarantine", app.WaitingUnread: "not read yet",
		app.WaitingShare:    "not for the team yet",
		app.WaitingConflict: "conflict", app.WaitingWithheld: "does not travel",
	}
	return cmp.Or(names[app.Waiting(kind)], kind)
}

// stateTone is the colour of the state of a check.
func stateTone(state string) string {
	switch state {
	case "ok":
		return "ok"
	case "warn":
		return "warn"
	case "bad":
		return "danger"
	case "info":
		return "info"
	}
	return "quiet"
}

// clock is the time of day of a time stamp.
func clock(at string) string {
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		return t.Local().Format("15:04")
	}
	return ""
}
