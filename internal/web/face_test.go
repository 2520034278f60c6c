package web_test

import (
	"math"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A text that was previewed and not saved is not left without a question: the form says that
// it is unsaved, and app.js asks.
func TestPreviewIsUnsaved(t *testing.T) {
	s := entered(t)
	if page := s.page("/notes/new"); strings.Contains(page, "data-unsaved") {
		t.Error("a new form is unsaved")
	}
	_, _, page := s.post("/notes/new", "action", "preview", "title", "A", "body", "long work")
	if !strings.Contains(page, "data-editor data-unsaved") || !strings.Contains(page, "long work") {
		t.Errorf("after a preview the form does not say that it is unsaved:\n%.2000s", page)
	}
	_, _, page = s.post("/notes/new", "action", "save", "title", "", "body", "long work")
	if !strings.Contains(page, "data-editor data-unsaved") {
		t.Error("after a failure the form does not say that it is unsaved")
	}
}

// A note that says something else about the subject of another one of the user is not written before the form has an answer.
func TestFormAsksAboutRival(t *testing.T) {
	s := entered(t)
	s.add("Deploy with argo", "", "project", "shop", "about", "deploy tool")
	form := []string{"title", "Releases go out by flux", "body", "long work", "project", "shop", "about", "Deploy tool"}
	code, _, page := s.post("/notes/new", append(form, "action", "save")...)
	if code != 409 || !strings.Contains(page, "Replace the other note") || !strings.Contains(page, "Deploy with argo") || !strings.Contains(page, "long work") {
		t.Fatalf("%d:\n%.3000s", code, page)
	}
	if _, _, page = s.post("/notes/new", append(form, "action", "replace")...); strings.Contains(page, "Nothing is written") {
		t.Fatalf("the answer is not taken:\n%.3000s", page)
	}
	if browse := s.page("/browse"); !strings.Contains(browse, "Releases go out by flux") || strings.Contains(browse, "Deploy with argo") {
		t.Errorf("the other note holds, too:\n%.2000s", browse)
	}
}

// The lab takes the name of a project as pages print it, and a note is asked about in its own.
func TestLabProject(t *testing.T) {
	s := entered(t)
	id := s.add("Deploy with a tag", "Push the tag first.", "project", "github.com/acme/storefront")
	s.add("Deploy at night", "Elsewhere.", "project", "github.com/acme/other")
	for _, project := range []string{"acme/storefront", "github.com/acme/storefront"} {
		var page struct {
			Ask  struct{ Project string }
			Hits []struct{ ID string }
		}
		s.api("GET", "/lab?q=deploy&project="+url.QueryEscape(project), nil, &page)
		if page.Ask.Project != "github.com/acme/storefront" || len(page.Hits) != 1 || page.Hits[0].ID != id {
			t.Errorf("%s is taken for %q and finds %+v", project, page.Ask.Project, page.Hits)
		}
	}
	if page := s.page("/notes/" + id); !strings.Contains(page, "&amp;project=github.com%2Facme%2Fstorefront&amp;q=") {
		t.Error("why a note is told is not asked in its project")
	}
}

// The border of a field stands out from what is in it, in both themes (WCAG 1.4.11: 3 to 1).
func TestFieldBorders(t *testing.T) {
	css, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	themes := regexp.MustCompile(`--surface: (#[0-9a-f]{6}).*?--field: (#[0-9a-f]{6})`).FindAllStringSubmatch(string(css), -1)
	if len(themes) < 2 || !strings.Contains(string(css), "border: 1px solid var(--field)") {
		t.Fatalf("%d themes", len(themes))
	}
	for _, m := range themes {
		a, b := luminance(m[1]), luminance(m[2])
		if ratio := (max(a, b) + .05) / (min(a, b) + .05); ratio < 3 {
			t.Errorf("%s on %s: %.2f", m[2], m[1], ratio)
		}
	}
}

func luminance(hex string) float64 {
	sum := 0.0
	for i, weight := range []float64{.2126, .7152, .0722} {
		n, _ := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		c := float64(n) / 255
		if c <= .03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
