package web_test

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// payloads are texts that would run a script, or load something, where a page wrote them
// as they are.
var payloads = []string{
	`<script>alert(1)</script>`,
	`"><script>alert(1)</script>`,
	`'><img src=x onerror=alert(1)>`,
	`<img src="https://evil.example/p.png">`,
	`![p](https://evil.example/p.png)`,
	`<svg/onload=alert(1)>`,
	`<iframe src="javascript:alert(1)"></iframe>`,
	`[x](javascript:alert(1))`,
	`[x](JaVaScRiPt:alert(1))`,
	`[x](java&#x0A;script:alert(1))`,
	`[x](&#106;avascript:alert(1))`,
	`[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`,
	`[x](vbscript:msgbox(1))`,
	`[x](https://e.example/ "onmouseover=alert(1) x=")`,
	`<a href="javascript:alert(1)">x</a>`,
	`<javascript:alert(1)>`,
	"```\"><script>alert(1)</script>\n</code></pre><script>alert(1)</script>\n```",
	`<style>body{background:url(https://evil.example)}</style>`,
	`<base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example">`,
	`</title></textarea></script><script>alert(1)</script>`,
	`{{.CSRF}} <!-- ${alert(1)} -->`,
	`<form action="https://evil.example"><input name=csrf><button>x`,
	"| a | b |\n|---|---|\n| <script>alert(1)</script> | [x](javascript:alert(1)) |",
	`[ref]: javascript:alert(1)` + "\n\n[x][ref]",
}

var (
	tagForm       = regexp.MustCompile(`<(/?)([a-zA-Z!][a-zA-Z0-9]*)([^<>]*)>`)
	attributeForm = regexp.MustCompile(`\s([a-zA-Z-]+)(?:="([^"]*)")?`)
)

// elements and attributes are those that our pages have; attributes of data- besides.
var (
	elements = words(`html head meta title link script body a div nav h1 h2 h3 h4 h5 h6 ul ol li p span b strong em del code pre br hr
		blockquote footer header main form input button label fieldset legend select option datalist textarea kbd img svg rect circle line
		path g text section aside article dl dt dd table thead tbody tr th td time details summary progress meter canvas noscript output`)
	attributes = words(`lang charset name content rel href src type class id for value title role tabindex datetime action method
		placeholder autocomplete autofocus required maxlength minlength checked selected disabled hidden multiple rows cols colspan rowspan scope start
		spellcheck list target alt width height viewBox preserveAspectRatio x y x1 x2 y1 y2 cx cy r d fill max min step low high accesskey open
		pattern inputmode enctype rx ry points`)
)

func words(text string) map[string]bool {
	all := make(map[string]bool)
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// foreign returns what in a page is not ours: an element or an attribute that no template
// has, a script or style of elsewhere, a link that runs something, "" when there is none.
// The values of our attributes have no < and no >, so that every < begins an element.
func foreign(page string) string {
	if rest := tagForm.ReplaceAllString(page, ""); strings.ContainsAny(rest, "<>") {
		at := strings.IndexAny(rest, "<>")
		return "a bare " + rest[at:min(len(rest), at+60)]
	}
	for _, m := range tagForm.FindAllStringSubmatch(page, -1) {
		closing, element, rest := m[1] != "", m[2], m[3]
		if m[0] == "<!doctype html>" {
			continue
		}
		if !elements[element] {
			return m[0]
		}
		if left := strings.Trim(attributeForm.ReplaceAllString(rest, ""), " \n\t/"); left != "" || closing && rest != "" {
			return m[0]
		}
		for _, a := range attributeForm.FindAllStringSubmatch(rest, -1) {
			name, value := a[1], html.UnescapeString(a[2])
			own := strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "//") || strings.HasPrefix(value, "#")
			switch {
			case strings.HasPrefix(name, "aria-"), strings.HasPrefix(name, "data-"):
			case !attributes[name]:
				return m[0]
			case name == "src" || name == "action" || name == "href" && element != "a":
				if !own {
					return m[0]
				}
			case name == "href":
				away := strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "mailto:")
				if !own && !(away && strings.Contains(rest, "noopener")) {
					return m[0]
				}
			}
		}
		if element == "script" && !strings.Contains(rest, ` src="/assets/`) && !closing {
			return m[0]
		}
	}
	return ""
}

// TestForeign makes sure that what is hostile would be seen.
func TestForeign(t *testing.T) {
	for _, bad := range []string{
		`<script>alert(1)</script>`, `<p onclick="x">`, `<a href="javascript:x">`, `<img src="https://e.example/p">`, `<p style="x">`,
		`<a href="//e.example">`, `<form action="https://e.example">`, `<iframe>`, `<p <b>`, `<a href="https://e.example">`, `<img src=x onerror=y>`,
		`<script src="https://e.example/x.js"></script>`, `<meta http-equiv="refresh" content="0">`, `<svg/onload=alert(1)>`, `a < b`,
	} {
		if foreign(bad) == "" {
			t.Errorf("%s is taken for ours", bad)
		}
	}
	for _, good := range []string{`<p class="x">a &lt; b</p>`, `<a target="_blank" rel="noopener noreferrer nofollow" href="https://e.example/?a=1&amp;b=2">x</a>`} {
		if f := foreign(good); f != "" {
			t.Errorf("%s is taken for foreign: %s", good, f)
		}
	}
}

// TestHostileNotes shows notes whose every field is hostile, on every page that shows
// any of it.
func TestHostileNotes(t *testing.T) {
	s := entered(t)
	for i, p := range payloads {
		line := strings.ReplaceAll(p, "\n", " ")
		id := s.add(line, p, "tags", line, "project", fmt.Sprintf("p%d/%s", i, strings.NewReplacer("/", "", " ", "").Replace(line)))
		for _, path := range []string{"/notes/" + id, "/notes/" + id + "/edit", "/notes/" + id + "/history", "/notes/" + id + "/forget"} {
			s.harmless(path, line)
		}
		form := []string{"title", line, "body", p, "type", "semantic", "tags", line, "project", line, "scope", line, "action", "preview", "base", line}
		if _, _, text := s.post("/notes/new", form...); foreign(text) != "" {
			t.Errorf("the preview of %q has %q", line, foreign(text))
		}
	}
	for _, path := range []string{"/", "/browse", "/browse?state=all"} {
		s.harmless(path, "all")
	}
	for _, p := range payloads {
		q := url.QueryEscape(p)
		for _, key := range []string{"q", "project", "type", "tag", "scope", "state", "done", "from"} {
			s.harmless("/browse?"+key+"="+q, p)
		}
	}
}

// harmless fails when a page has anything hostile.
func (s *site) harmless(path, what string) {
	s.Helper()
	code, text := s.get(path)
	if f := foreign(text); f != "" {
		s.Errorf("%s of %q has %q", path, what, f)
	}
	if code >= 500 {
		s.Errorf("%s of %q: %d\n%.300s", path, what, code, text)
	}
}

// TestHostileFiles shows notes that somebody else's machine wrote, with hostile fields
// that no form has.
func TestHostileFiles(t *testing.T) {
	s := entered(t)
	for i, p := range payloads {
		line := strings.ReplaceAll(strings.ReplaceAll(p, "\n", " "), "'", "''")
		id := fmt.Sprintf("01JZZZZZZZZZZZZZZZZZZZZZ%02d", i)
		text := "---\nid: " + id + "\ntype: semantic\ntitle: '" + line + "'\nproject: global\nscope: portable\n" +
			"machine_id: '" + line + "'\nuser_id: '" + line + "'\nworkspace_id: '" + line + "'\n" +
			"prov_source: reflection\nprov_confidence: 0.6\nprov_model: '" + line + "'\nprov_session: '" + line + "'\n" +
			"created_at: '2026-01-01T00:00:00Z'\nupdated_at: '2026-01-01T00:00:00Z'\ntags:\n- '" + line + "'\n" +
			"branch: '" + line + "'\nstatus_reason: '" + line + "'\nrule: '" + line + "'\nkey_insight: '" + line + "'\n" +
			"evidence:\n- session: '" + line + "'\n  quote: '" + line + "'\n---\n" + p + "\n"
		name := filepath.Join(s.host.Config.Home, "memory", "semantic", id+".md")
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for i, p := range payloads {
		id := fmt.Sprintf("01JZZZZZZZZZZZZZZZZZZZZZ%02d", i)
		for _, path := range []string{"/notes/" + id, "/notes/" + id + "/edit", "/notes/" + id + "/forget"} {
			s.harmless(path, p)
		}
		if code, _ := s.get("/notes/" + id); code == 200 {
			found++
		}
	}
	if found < len(payloads)-3 { // a few are no notes
		t.Errorf("%d of %d notes were shown", found, len(payloads))
	}
	for _, path := range []string{"/", "/browse?state=all"} {
		s.harmless(path, "all")
	}
}
