package recall_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/recall"
)

// wednesday is the day that the table is written for.
var wednesday = time.Date(2026, 6, 10, 15, 4, 5, 0, time.UTC)

func TestFindWindow(t *testing.T) {
	for _, c := range []struct {
		question string
		want     string // from, to, confidence; empty for none
		phrase   string // when it is not the whole question
	}{
		// Written out.
		{"what broke between 2026-01-05 and 2026-01-09?", "2026-01-05 2026-01-09 1", "between 2026-01-05 and 2026-01-09"},
		{"from 2026/1/9 to 2026/1/5", "2026-01-05 2026-01-09 1", ""},
		{"2026-01-05 through 2026-01-09", "2026-01-05 2026-01-09 1", ""},
		{"2026-06-01 until 2026-12-31", "2026-06-01 2026-12-31 1", ""},
		{"since 2026-01-05 until 2026-01-09", "2026-01-05 2026-01-09 1", ""},
		{"deploy of 2026-03-04", "2026-03-04 2026-03-04 1", "2026-03-04"},
		{"at 2026-03-04T10:11:12.5Z it died", "2026-03-04 2026-03-04 1", "2026-03-04T10:11:12.5Z"},
		{"2026-13-04, no, 2026-02-30, no, 2026-02-28", "2026-02-28 2026-02-28 1", "2026-02-28"},
		{"in 2026-03", "2026-03-01 2026-03-31 0.9", "2026-03"},
		// Days.
		{"what did we do yesterday", "2026-06-09 2026-06-09 0.9", "yesterday"},
		{"today", "2026-06-10 2026-06-10 0.9", ""},
		{"Yesterday morning", "2026-06-09 2026-06-09 0.9", ""},
		{"this morning", "2026-06-10 2026-06-10 0.9", ""},
		{"last night", "2026-06-09 2026-06-09 0.9", ""},
		{"the day before yesterday", "2026-06-08 2026-06-08 0.9", "day before yesterday"},
		{"a couple of days ago", "2026-06-07 2026-06-09 0.6", ""},
		{"couple weeks ago", "2026-05-20 2026-06-03 0.6", ""},
		{"a few weeks ago", "2026-05-06 2026-05-27 0.6", ""},
		{"few months ago", "2026-01-11 2026-04-11 0.6", ""},
		{"3 days ago", "2026-06-07 2026-06-07 0.8", ""},
		{"two weeks ago", "2026-05-27 2026-06-02 0.7", ""},
		{"a month ago", "2026-05-11 2026-06-09 0.6", ""},
		{"2 years ago", "2024-01-01 2024-12-31 0.7", ""},
		{"3 hours ago", "2026-06-10 2026-06-10 0.8", ""},
		{"30 hours ago", "2026-06-09 2026-06-09 0.8", ""},
		// Periods.
		{"last week", "2026-06-01 2026-06-07 0.9", ""},
		{"this week", "2026-06-08 2026-06-10 0.9", ""},
		{"past week", "2026-06-03 2026-06-10 0.8", ""},
		{"last month", "2026-05-01 2026-05-31 0.9", ""},
		{"this month", "2026-06-01 2026-06-10 0.9", ""},
		{"last year", "2025-01-01 2025-12-31 0.9", ""},
		{"this year", "2026-01-01 2026-06-10 0.9", ""},
		{"last weekend", "2026-06-06 2026-06-07 0.9", ""},
		{"last monday", "2026-06-08 2026-06-08 0.9", ""},
		{"last wednesday", "2026-06-03 2026-06-03 0.9", ""},
		{"last 3 days", "2026-06-07 2026-06-10 0.8", ""},
		{"the past two weeks", "2026-05-27 2026-06-10 0.8", "past two weeks"},
		{"previous 2 months", "2026-04-11 2026-06-10 0.8", ""},
		{"last few days", "2026-06-05 2026-06-10 0.6", ""},
		{"last 4 hours", "2026-06-10 2026-06-10 0.8", ""},
		{"last 16 hours", "2026-06-09 2026-06-10 0.8", ""},
		{"last 90 minutes", "2026-06-10 2026-06-10 0.8", ""},
		{"last quarter", "2026-01-01 2026-03-31 0.9", ""},
		{"past quarter", "2026-01-01 2026-03-31 0.9", ""},
		{"this quarter", "2026-04-01 2026-06-10 0.9", ""},
		{"Q1 2026", "2026-01-01 2026-03-31 0.9", ""},
		{"q4 of 2025", "2025-10-01 2025-12-31 0.9", ""},
		{"2025 Q3", "2025-07-01 2025-09-30 0.9", ""},
		{"in q4", "2025-10-01 2025-12-31 0.6", ""},
		{"this friday", "", ""},
		{"this monday", "2026-06-08 2026-06-08 0.9", ""},
		{"on monday", "2026-06-08 2026-06-08 0.6", ""},
		{"on friday", "2026-06-05 2026-06-05 0.6", ""},
		{"from monday to friday", "2026-06-01 2026-06-05 0.6", ""},
		// Months and years.
		{"march 2026", "2026-03-01 2026-03-31 0.9", ""},
		{"Feb 2024", "2024-02-01 2024-02-29 0.9", ""},
		{"June 2026", "2026-06-01 2026-06-10 0.9", ""},
		{"what did we ship in march", "2026-03-01 2026-03-31 0.6", "in march"},
		{"in november", "2025-11-01 2025-11-30 0.6", ""},
		{"last march", "2026-03-01 2026-03-31 0.6", ""},
		{"by april", "2026-04-01 2026-04-30 0.6", ""},
		{"in 2024", "2024-01-01 2024-12-31 0.7", ""},
		{"march 1st", "2026-03-01 2026-03-01 0.8", ""},
		{"the 1st of march", "2026-03-01 2026-03-01 0.8", "1st of march"},
		{"on 3 november", "2025-11-03 2025-11-03 0.8", "3 november"},
		{"march 1, 2025", "2025-03-01 2025-03-01 1", ""},
		{"february 29th", "2024-02-29 2024-02-29 0.8", ""},
		{"between march and april", "2026-03-01 2026-04-30 0.6", ""},
		{"between november and february", "2025-11-01 2026-02-28 0.6", ""},
		{"from 2024 to 2025", "2024-01-01 2025-12-31 0.7", ""},
		{"from march until yesterday", "2026-03-01 2026-06-09 0.6", ""},
		// How one speaks of it at work.
		{"last sprint", "2026-05-13 2026-05-27 0.5", ""},
		{"this sprint", "2026-05-27 2026-06-10 0.5", ""},
		{"what changed recently", "2026-05-27 2026-06-10 0.4", "recently"},
		{"lately", "2026-05-27 2026-06-10 0.4", ""},
		// What stands before.
		{"before 2026-03-01", "1970-01-01 2026-02-28 1", ""},
		{"prior to march 2026", "1970-01-01 2026-02-28 0.9", ""},
		{"until yesterday", "1970-01-01 2026-06-09 0.9", ""},
		{"till last week", "1970-01-01 2026-06-07 0.9", ""},
		{"changes since the last sprint, please", "2026-05-13 2026-06-10 0.5", "since the last sprint"},
		{"since march", "2026-03-01 2026-06-10 0.6", ""},
		{"after last week", "2026-06-08 2026-06-10 0.9", ""},
		{"after march", "2026-04-01 2026-06-10 0.6", ""},
		{"after today", "", ""},
		{"since 2026-12-01", "", ""},
		// The surest wins.
		{"last week and on 2026-01-01", "2026-01-01 2026-01-01 1", "2026-01-01"},
		{"recently, in march 2026", "2026-03-01 2026-03-31 0.9", "march 2026"},
		{"yesterday or last week", "2026-06-09 2026-06-09 0.9", "yesterday"},
		// No dates.
		{"", "", ""},
		{"   \n", "", ""},
		{"how do I rotate the certificate", "", ""},
		{"before the rewrite", "", ""},
		{"may I push to main", "", ""},
		{"you may 5 times", "", ""},
		{"march on with the tests", "", ""},
		{"we march 5 steps", "", ""},
		{"the second run, one second", "", ""},
		{"last 3 lines", "", ""},
		{"at the last minute, the last day of it", "", ""},
		{"in 3 days", "", ""},
		{"tomorrow, next week", "", ""},
		{"in 2027, march 2027, 2026-06-11, q4 2026", "", ""},
		{"port 2024, line 2025 and v2023", "", ""},
		{"version 2024-01-15 of the api", "", ""},
		{"in 2024.1", "", ""},
		{"CVE-2024-1234", "", ""},
		{"localhost:2024/2024-01-02", "", ""},
		{"after 2000 requests", "", ""},
		{"in 2048 MB", "", ""},
		{"yesterday.log and today() and since_march", "", ""},
		{"what is today's convention", "", ""},
		{"99999999999999-99-99 in 00000 0000-00-00 last 0 days", "", ""},
	} {
		w := recall.FindWindow(c.question, wednesday)
		got, phrase := "", c.phrase
		if w != nil {
			got = w.From.Format("2006-01-02 ") + w.To.Format("2006-01-02 ") + strconv.FormatFloat(w.Confidence, 'g', -1, 64)
			if phrase == "" {
				phrase = c.question
			}
			if w.Phrase != phrase {
				t.Errorf("%q: the phrase is %q, want %q", c.question, w.Phrase, phrase)
			}
			if h, m, s := w.To.Clock(); h != 23 || m != 59 || s != 59 || w.To.Nanosecond() != 999999999 {
				t.Errorf("%q ends at %v", c.question, w.To)
			}
		}
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.question, got, c.want)
		}
	}
	if w := recall.FindWindow("which test  broke last week,  and why?", wednesday); w == nil || w.Rest != "which test  broke ,  and why?" {
		t.Errorf("the rest is %+v", w)
	}
}

// Days are those of the clock's zone, on the days when it is turned too.
func TestWindowZone(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Vienna")
	if err != nil {
		t.Skip("no time zones here: ", err)
	}
	now := time.Date(2026, 3, 29, 1, 0, 0, 0, zone) // an hour later it is 03:00
	w := recall.FindWindow("today", now)
	if w == nil || !w.From.Equal(time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC)) || !w.To.Equal(time.Date(2026, 3, 29, 22, 0, 0, -1, time.UTC)) {
		t.Errorf("got %+v", w)
	}
}

func TestRecencyIntent(t *testing.T) {
	for question, want := range map[string]bool{
		"what is our current convention for errors?": true, "which linter do we use now": true, "the latest way to deploy": true,
		"do we still use make": true, "how is it done these days": true, "at the moment": true, "nowadays": true,
		"what is today's plan": true, "currently": true,
		"": false, "how do I deploy": false, "the current directory": false, "image node:latest": false, "time.Now()": false,
		"skip it for now": false, "these are days": false, "CurrentUser": false,
	} {
		if got := recall.RecencyIntent(question); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
}

func FuzzFindWindow(f *testing.F) {
	for _, q := range []string{
		"last week and on 2026-01-01", "between march and april", "since the 1st of march 2025", "a couple of days ago", "2026-06-10T10:00:00Z",
		"from q1 to q3", "today’s", "mid-june", "late\u2011march–2025", "last 16 hours", "\xff in march\x80", "before before since 2024 to 2025",
	} {
		f.Add(q, int64(1781103845))
	}
	f.Fuzz(func(t *testing.T, q string, now int64) {
		at := time.Unix(now%(1<<36), 0).UTC()
		w := recall.FindWindow(q, at)
		recall.RecencyIntent(q)
		if w == nil {
			return
		}
		year, month, day := at.Date()
		end := time.Date(year, month, day+1, 0, 0, 0, -1, time.UTC)
		switch {
		case w.From.After(w.To), w.From.After(at):
			t.Errorf("%q: from %v to %v", q, w.From, w.To)
		case w.To.After(end) && w.Confidence < 1:
			t.Errorf("%q: to %v, which is to come", q, w.To)
		case w.Phrase == "" || !strings.Contains(q, w.Phrase):
			t.Errorf("%q does not hold %q", q, w.Phrase)
		case w.Confidence <= 0 || w.Confidence > 1:
			t.Errorf("%q: confidence %v", q, w.Confidence)
		case w.From.Hour() != 0 || !w.To.Add(1).Equal(w.To.Add(1).Truncate(24*time.Hour)):
			t.Errorf("%q: %v to %v are not whole days", q, w.From, w.To)
		}
	})
}

func BenchmarkFindWindow(b *testing.B) {
	for name, q := range map[string]string{
		"none": "how do we rotate the certificate of the staging proxy without a restart of the payment workers at all",
		"some": "what did we decide last week about the certificate of the staging proxy and its payment workers",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				recall.FindWindow(q, wednesday)
			}
		})
	}
}

func TestWindowParts(t *testing.T) {
	now := time.Date(2026, 11, 22, 15, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"what did we do half a year ago":        "2026-03-25 2026-07-23",
		"half a month ago":                      "2026-11-02 2026-11-12",
		"decisions of early march":              "2026-03-01 2026-03-10",
		"what broke in late april 2025":         "2025-04-21 2025-04-30",
		"the incident of mid june":              "2026-06-11 2026-06-20",
		"at the end of january":                 "2026-01-21 2026-01-31",
		"the incident of mid-june":              "2026-06-11 2026-06-20",
		"the incident of Mid\u2011June 2025":    "2025-06-11 2025-06-20",
		"decisions of early-march":              "2026-03-01 2026-03-10",
		"what broke in late-april 2025":         "2025-04-21 2025-04-30",
		"the end-of-january report":             "2026-01-21 2026-01-31",
		"since mid-2025":                        "2025-05-02 2026-11-22",
		"branch fix/mid-june":                   "",
		"mid-june.log and mid-june-release":     "",
		"pre-mid-june":                          "",
		"early 2025":                            "2025-01-01 2025-05-01",
		"the early return of the function":      "",
		"half a year of logs":                   "",
		"early march 5":                         "",
		"the late binding in March, the module": "2026-03-01 2026-03-31",
	} {
		got := ""
		if w := recall.FindWindow(text, now); w != nil {
			got = w.From.Format(time.DateOnly) + " " + w.To.Format(time.DateOnly)
		}
		if want == "" && text == "early march 5" { // a day was meant: whatever it says, it is no third of a month
			if got == "2026-03-01 2026-03-10" {
				t.Errorf("%q is %s", text, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
