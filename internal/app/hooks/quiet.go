package hooks

import (
	"context"
	"slices"
	"time"

	"anamnesis/internal/app"
	"anamnesis/internal/store"
	"anamnesis/internal/store/project"
)

// A QuietAnswer says what is shown nothing.
type QuietAnswer struct {
	Until    string   `json:"until"`    // RFC 3339: prompts of all sessions, until then; "" when they are shown something
	Sessions []string `json:"sessions"` // are shown nothing at all
	Private  []string `json:"private"`  // likewise, and are not captured
}

func quietAnswer(q store.Quiet) QuietAnswer {
	a := QuietAnswer{Sessions: append([]string{}, q.Sessions...), Private: append([]string{}, q.Private...)}
	if !q.Until.IsZero() {
		a.Until = q.Until.UTC().Format(time.RFC3339)
	}
	return a
}

// BeQuiet lets prompts of all sessions be shown nothing for a while. 0 ends that, and the
// silence of all sessions; what is private stays private.
func BeQuiet(r *app.Rooms, d time.Duration) (QuietAnswer, error) {
	q, err := r.Store.Spool().Quiet()
	switch {
	case d <= 0:
		q = store.Quiet{Private: q.Private}
	case err != nil:
		return QuietAnswer{}, err
	default:
		q.Until = r.Store.Now().Add(d).Truncate(time.Second)
	}
	return quietAnswer(q), r.Store.Spool().SetQuiet(q)
}

// QuietSession lets a session be shown nothing any more; with private nothing of it is
// captured either. session is its id, or "" for the one of this folder's project that
// started last.
func QuietSession(ctx context.Context, r *app.Rooms, session string, private bool) (QuietAnswer, error) {
	if session == "" {
		var err error
		if session, err = lastSession(r); err != nil {
			return QuietAnswer{}, err
		}
	}
	q, err := r.Store.Spool().Quiet()
	if err != nil {
		return QuietAnswer{}, err
	}
	list := &q.Sessions
	if private {
		list = &q.Private
	}
	if !slices.Contains(*list, session) {
		*list = append(*list, session)
	}
	err = r.Store.Spool().SetQuiet(q)
	if err == nil && private {
		err = app.ForgetSession(ctx, r, session)
	}
	return quietAnswer(q), err
}

// lastSession is the session of this folder's project that started last.
func lastSession(r *app.Rooms) (string, error) {
	key := app.PlaceProject(r.Store, "").Key
	last := ""
	err := app.LoggedRecords(r, r.Store.Now().AddDate(0, 0, -7), func(rec store.Record, _ time.Time) {
		if rec.Kind == store.Started && rec.Project == key {
			last = rec.Session
		}
	})
	if err == nil && last == "" {
		err = app.Errorf(app.NotFound, "quiet session: no session started on %s in the last seven days; give its id", key)
	}
	return last, err
}

// Quiet says why a session is shown nothing at its prompts now, "" when it is shown
// something. dir is the folder it works in, whose project may ask for quiet; "" asks no
// project.
func Quiet(r *app.Rooms, session, dir string) (string, error) {
	q, err := r.Store.Spool().Quiet()
	if err != nil {
		return "", err
	}
	prefers, err := project.PreferencesOf(dir, r.Store.Home())
	switch {
	case err != nil:
		return "", err
	case q.Session(session):
		return "it was asked to be quiet in this session", nil
	case prefers.Quiet:
		return "the project asks for quiet in " + prefers.File, nil
	case q.Until.IsZero():
		return "", nil
	}
	return "it was asked to be quiet until " + q.Until.Local().Format("2006-01-02 15:04"), nil
}
