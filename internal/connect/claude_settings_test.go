package connect_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/connect"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const base = "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis"

func install(t testing.TB, old string) string {
	t.Helper()
	out, err := connect.ClaudeSettings{}.Install([]byte(old), connect.ClaudeSettings{}.PlainHooks(base), connect.Own)
	if err != nil {
		t.Fatalf("Install: %v\n%s", err, old)
	}
	return string(out)
}

func uninstall(t testing.TB, old string) string {
	t.Helper()
	out, err := connect.ClaudeSettings{}.Uninstall([]byte(old), connect.Own)
	if err != nil {
		t.Fatalf("Uninstall: %v\n%s", err, old)
	}
	return string(out)
}

const freshSettings = `{
  "hooks": {
    "SessionStart": [
      {
        "matcher": "startup|resume|clear|compact|fork",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis inject",
            "timeout": 15
          }
        ]
      },
      {
        "matcher": "startup|resume|compact",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis sync",
            "async": true
          }
        ]
      }
    ],
    "UserPromptSubmit": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude UserPromptSubmit",
            "timeout": 10
          }
        ]
      }
    ],
    "PreToolUse": [
      {
        "matcher": "Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Agent|Task",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude PreToolUse",
            "timeout": 10
          }
        ]
      }
    ],
    "PermissionRequest": [
      {
        "matcher": "Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Agent|Task",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude PermissionRequest",
            "timeout": 10
          }
        ]
      }
    ],
    "PostToolUseFailure": [
      {
        "matcher": "Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Agent|Task",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude PostToolUseFailure",
            "timeout": 10
          }
        ]
      }
    ],
    "Notification": [
      {
        "matcher": "permission_prompt",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude Notification",
            "timeout": 10
          }
        ]
      }
    ],
    "SubagentStart": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude SubagentStart",
            "timeout": 10
          }
        ]
      }
    ],
    "SubagentStop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude SubagentStop",
            "timeout": 10
          }
        ]
      }
    ],
    "SessionEnd": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis capture",
            "timeout": 180
          }
        ]
      }
    ]
  }
}
`

func TestInstallFresh(t *testing.T) {
	for _, old := range []string{"", " \n", "{}\n"} {
		if diff := cmp.Diff(freshSettings, install(t, old)); diff != "" {
			t.Errorf("into %q (-want +got):\n%s", old, diff)
		}
	}
	if got := uninstall(t, freshSettings); got != "{}\n" {
		t.Errorf("Uninstall leaves %q", got)
	}
	if got, want := (connect.ClaudeSettings{}).SettingsPath("/c"), filepath.FromSlash("/c/settings.json"); got != want {
		t.Errorf("SettingsPath = %q, want %q", got, want)
	}
}

// shapes hold none of our hooks; each must come back byte for byte.
var shapes = []string{
	"{}", "{ }", "{\n}", "{\n\n}\n", "{\t}", " {} ", "\n\n{}\n\n",
	`{"a":1}`, `{"a": 1}`, `{ "a" : 1 }`, `{"a":1,"b":[]}` + "\n",
	"{\n  \"a\": 1\n}\n", "{\n\t\"a\": 1\n}", "{\n    \"a\": {\n        \"b\": []\n    }\n}\n",
	"{\n  \"a\": 1  \n  ,\n  \"b\": 2   \n\n}  \n", "{\"a\":1\n}", "{\n\"a\":1\n}", "{\"a\":\n1}",
	`{"hooks":{}}`, `{"hooks": { } }`, "{\n  \"hooks\": {}\n}\n", "{\n  \"hooks\": {\n  }\n}\n", "{\n  \"hooks\": {\n\n  },\n  \"z\": 0\n}\n",
	`{"hooks":{"SessionStart":[]}}`, `{"hooks":{"SessionStart":[ ], "PreCompact":[]}}`, "{\n  \"hooks\": {\n    \"SessionEnd\": []\n  }\n}\n",
	`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"x"}]}],"Stop":null}}`,
	"{\n  \"hooks\": {\n    \"SessionStart\": [{\n      \"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]\n    }]\n  }\n}\n",
	"{\n  \"hooks\": {\n    \"PreCompact\": [\n      {\"hooks\": []}, {\"hooks\": [{\"command\": \"a\"}, {\"command\": \"b\"}]}\n    ], \"SessionEnd\": [ 1, null, \"x\" ]\n  }\n}\n",
	`{"h\u006foks":{"Session\u0045nd":[{"hooks":[{"type":"http","url":"https://example.com"}]}]}}`,
	"{\r\n  \"a\": \"\u00e9\\u00e9\\ud83d\\ude00\",\r\n  \"hooks\": {\r\n    \"SessionEnd\": [\r\n      {}\r\n    ]\r\n  }\r\n}\r\n",
	"{\n  \"a\": \"\xff\",\n  \"n\": -1.5e+10\n}", `{"":{"":""}}`,
	`{"hooks":{"SessionStart":[{"matcher":"startup|resume|clear","hooks":[{"type":"command","command":"echo $ANAMNESIS_HOME; my-anamnesis-injector"}]}]}}`,
}

// commented hold comments and trailing commas as well.
var commented = []string{
	"// mine\n{}\n// end\n", "{ // mine\n}\n", "{\n  // mine\n}", "/* a */{/* b */}/* c */", "{\"a\":1,}", "{\n  \"a\": 1,\n}\n",
	"{\n  // one\n  \"a\": 1, // two\n  /* three */\n  \"b\": 2 // four\n  // five\n}\n",
	"{\n  \"a\": 1, // one\n}\n", "{\n  \"a\": 1 /* one */ , /* two */\n}\n", "{ \"a\": 1 /* one */ }",
	"{\n  \"hooks\": { // none yet\n  }\n}\n", "{\n  \"hooks\": {/**/},\n}\n", "{\n  \"hooks\": {\n    // none\n    \"SessionEnd\": [ // here\n    ],\n  },\n}\n",
	"{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}, // mine: // \" [\n    ],\n    \"PreCompact\": [{} /* [ */],\n  }, // hooks\n}\n",
	"{\"hooks\": {\"SessionEnd\": [/* a */ {} /* b */, /* c */ {} /* d */]}}",
}

func roundTrip(t testing.TB, old string) {
	t.Helper()
	with := install(t, old)
	if json.Valid([]byte(old)) && !json.Valid([]byte(with)) {
		t.Errorf("no longer JSON:\n%s", with)
	}
	if again := install(t, with); again != with {
		t.Errorf("installed twice (-once +twice):\n%s", cmp.Diff(with, again))
	}
	if back := uninstall(t, with); back != old {
		t.Errorf("Uninstall (-before +after):\n%s\ninstalled:\n%s", cmp.Diff(old, back), with)
	}
	if same := uninstall(t, old); same != old {
		t.Errorf("Uninstall of nothing: %q became %q", old, same)
	}
}

func TestInstallRoundTrip(t *testing.T) {
	for _, old := range shapes {
		roundTrip(t, old)
		roundTrip(t, strings.ReplaceAll(strings.ReplaceAll(old, "\r", ""), "\n", "\r\n"))
		roundTrip(t, strings.ReplaceAll(old, "  ", "\t"))
	}
	for _, old := range commented {
		roundTrip(t, old)
		roundTrip(t, strings.ReplaceAll(old, "\n", "\r\n"))
	}
}

// TestCommentsStay installs beside comments, and takes out what stands among them.
func TestCommentsStay(t *testing.T) {
	old := `{
  // The greeting.
  "hooks": {
    "SessionStart": [
      {"hooks": [{"type": "command", "command": "greet"}]} // every time
    ]
  }
}
`
	got := install(t, old)
	for _, want := range []string{
		"// The greeting.\n", "\"greet\"}]}, // every time\n      {\n        \"matcher\": \"startup|resume|clear|compact|fork\",",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("Install lacks %q:\n%s", want, got)
		}
	}
	among := `{"hooks": {"SessionEnd": [
  // before
  {"hooks": [{"type": "command", "command": "anamnesis capture"}]}, // ours
  // between
  {"hooks": [{"type": "command", "command": "a"}]}, // theirs
  {"hooks": [{"type": "command", "command": "anamnesis sync"}]} // last
]}}`
	want := `{"hooks": {"SessionEnd": [
  // before
  // ours
  // between
  {"hooks": [{"type": "command", "command": "a"}]} // theirs // last
]}}`
	if diff := cmp.Diff(want, uninstall(t, among)); diff != "" {
		t.Errorf("Uninstall (-want +got):\n%s", diff)
	}
}

// TestInstallRoundTripAny writes settings with white space where it likes.
func TestInstallRoundTripAny(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ws := rapid.SampledFrom([]string{"", "", "", " ", "\n", "\n  ", "\n    ", "\t", "\r\n", " \n ", "/**/", " /* [ */ ", " // \"\n"})
		sp := func() string { return ws.Draw(rt, "space") }
		var value func(depth int) string
		container := func(depth int, open, closing string, names []string) string {
			var items []string
			for _, name := range names {
				s := sp()
				if open == "{" {
					s += name + sp() + ":" + sp()
				}
				items = append(items, s+value(depth+1)+sp())
			}
			if len(items) > 0 && rapid.IntRange(0, 5).Draw(rt, "comma") == 0 {
				items = append(items, "")
			}
			return open + strings.Join(items, ",") + sp() + closing
		}
		value = func(depth int) string {
			names := []string{`"hooks"`, `"matcher"`, `"command"`, `"x"`}
			if depth == 1 {
				names = []string{`"SessionStart"`, `"SessionEnd"`, `"Stop"`}
			}
			names = names[:rapid.IntRange(0, len(names)).Draw(rt, "members")]
			kind := rapid.IntRange(0, 4).Draw(rt, "kind")
			switch {
			case depth == 1 || depth != 2 && depth < 6 && kind == 0:
				return container(depth, "{", "}", names)
			case depth == 2 || depth < 6 && kind == 1:
				return container(depth, "[", "]", names)
			default:
				return []string{"null", "-0.5", `"a\"b\u0041"`, "true", `"é"`}[kind]
			}
		}
		old := sp() + container(0, "{", "}", []string{`"hooks"`, `"z"`}[:rapid.IntRange(0, 2).Draw(rt, "root")]) + sp()
		with, err := connect.ClaudeSettings{}.Install([]byte(old), connect.ClaudeSettings{}.PlainHooks(base), connect.Own)
		if err != nil {
			rt.Fatalf("%v\n%s", err, old)
		}
		again, err := connect.ClaudeSettings{}.Install(with, connect.ClaudeSettings{}.PlainHooks(base), connect.Own)
		if err != nil || string(again) != string(with) {
			rt.Fatalf("twice: %v\n%s", err, cmp.Diff(string(with), string(again)))
		}
		back, err := connect.ClaudeSettings{}.Uninstall(with, connect.Own)
		if err != nil || string(back) != old {
			rt.Fatalf("%v\n%q\n%q\n%s", err, old, back, with)
		}
	})
}

func TestInstallOverOlder(t *testing.T) {
	old := `{
  "hooks": {
    "SessionStart": [
      {"matcher": "startup|resume|clear|compact|fork", "hooks": [
        {"type": "command", "command": "ANAMNESIS_MACHINE_ID=m uv run --project /srv/a anamnesis inject", "timeout": 15},
        {"type": "command", "command": "greet"}
      ]},
      {"matcher": "startup", "hooks": [{"type": "command", "command": "anamnesis sync"}]},
      {"matcher": "startup|resume|clear|compact|fork", "hooks": [{"type": "command", "command": "anamnesis inject"}]}
    ],
    "SessionEnd": [
      {"matcher": "*", "hooks": [{"type": "command", "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis capture", "timeout": 180, "statusMessage": "remembering"}]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "anamnesis sync"}]}]
  }
}
`
	want := `{
  "hooks": {
    "SessionStart": [
      {"matcher": "startup|resume|clear|compact|fork", "hooks": [
        {"type": "command", "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis inject", "timeout": 15},
        {"type": "command", "command": "greet"}
      ]},
      {
        "matcher": "startup|resume|compact",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis sync",
            "async": true
          }
        ]
      }
    ],
    "SessionEnd": [
      {"matcher": "*", "hooks": [{"type": "command", "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis capture", "timeout": 180, "statusMessage": "remembering"}]}
    ],
    "UserPromptSubmit": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude UserPromptSubmit",
            "timeout": 10
          }
        ]
      }
    ],
    "PreToolUse": [
      {
        "matcher": "Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Agent|Task",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude PreToolUse",
            "timeout": 10
          }
        ]
      }
    ],
    "PermissionRequest": [
      {
        "matcher": "Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Agent|Task",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude PermissionRequest",
            "timeout": 10
          }
        ]
      }
    ],
    "PostToolUseFailure": [
      {
        "matcher": "Edit|MultiEdit|Write|NotebookEdit|Bash|PowerShell|Agent|Task",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude PostToolUseFailure",
            "timeout": 10
          }
        ]
      }
    ],
    "Notification": [
      {
        "matcher": "permission_prompt",
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude Notification",
            "timeout": 10
          }
        ]
      }
    ],
    "SubagentStart": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude SubagentStart",
            "timeout": 10
          }
        ]
      }
    ],
    "SubagentStop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis hook claude SubagentStop",
            "timeout": 10
          }
        ]
      }
    ]
  }
}
`
	got := install(t, old)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Install (-want +got):\n%s", diff)
	}
	want = `{
  "hooks": {
    "SessionStart": [
      {"matcher": "startup|resume|clear|compact|fork", "hooks": [
        {"type": "command", "command": "greet"}
      ]}
    ]
  }
}
`
	if diff := cmp.Diff(want, uninstall(t, got)); diff != "" {
		t.Errorf("Uninstall (-want +got):\n%s", diff)
	}
}

func TestInstallRefuses(t *testing.T) {
	for _, tt := range []struct {
		old       string
		line, col int
		problem   string
	}{
		{"{", 1, 2, "parsing value"},
		{"{\n  # mine\n  \"a\": 1\n}", 2, 3, "invalid character '#'"},
		{"{\n  \"a\": 1, /* x\n}", 2, 11, "parsing comment"},
		{"{\"a\": 1,,\n}", 1, 9, "invalid character ','"},
		{"{\"é\": 'x'}", 1, 7, "at start of value"},
		{"{\"a\": 1} x", 1, 10, "after top-level value"},
		{"{a: 1}", 1, 2, "invalid literal"},
		{"{\"a\": \"\t\"}", 1, 7, "invalid literal"},
		{"{\"a\": \"secret\t\"}", 1, 7, "not valid JSON: invalid literal"},
		{"\xef\xbb\xbf{}", 1, 1, "byte order mark"},
		{"\xff\xfe{\x00}\x00", 1, 1, "byte order mark"},
		{"[]", 1, 1, "not a JSON object"},
		{"null", 1, 1, "not a JSON object"},
		{"{\n  \"a\": 1,\n  \"\\u0061\": 2\n}", 3, 3, "stands twice"},
		{strings.Repeat("[", 200_000), 1, 1, "too many lists"},
		{`{"hooks": []}`, 1, 11, `"hooks" is not an object`},
		{"{\"hooks\": {\"Stop\": 1,\n\"SessionEnd\": {}}}", 2, 15, "SessionEnd are not a list"},
		{`{"a": ` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}", 1, 1006, "nesting too deep"},
	} {
		out, err := connect.ClaudeSettings{}.Install([]byte(tt.old), connect.ClaudeSettings{}.PlainHooks(base), connect.Own)
		var se *connect.SettingsError
		if !errors.As(err, &se) || out != nil {
			t.Errorf("%.40q: %v, want a SettingsError", tt.old, err)
			continue
		}
		if se.Line != tt.line || se.Column != tt.col || !strings.Contains(se.Problem, tt.problem) || se.Next == "" {
			t.Errorf("%.40q: %v, want %q at %d:%d", tt.old, err, tt.problem, tt.line, tt.col)
		}
	}
	// What we do not need may be anything.
	for _, old := range []string{`{"hooks":{"Stop":"x","Notification":[[],{"hooks":{}},{"hooks":[[],{"command":1}]}]}}`} {
		roundTrip(t, old)
	}
}

func TestUninstallRefuses(t *testing.T) {
	out, err := connect.ClaudeSettings{}.Uninstall([]byte("{\n  oops\n}"), connect.Own)
	const want = "line 2, column 3: not valid JSON: invalid literal; correct it and run the command again"
	if out != nil || err == nil || err.Error() != want {
		t.Errorf("Uninstall = %q, %v; want the error %q", out, err, want)
	}
	if out, err := (connect.ClaudeSettings{}).Uninstall(nil, connect.Own); out != nil || err != nil {
		t.Errorf("Uninstall of a missing file = %q, %v", out, err)
	}
}

// Our plugin is found where the settings switch it on.
func TestPlugin(t *testing.T) {
	for settings, want := range map[string]string{
		`{"enabledPlugins": {"other@x": true, "anamnesis@anamnesis": true}}`:        "anamnesis@anamnesis",
		`{"enabledPlugins": {"anamnesis@team": true}, /* ours */}`:                  "anamnesis@team",
		`{"enabledPlugins": {"anamnesis@anamnesis": false, "anamnesis-x@y": true}}`: "",
		`{"enabledPlugins": ["anamnesis@anamnesis"]}`:                               "",
		`{"enabledPlugins": {"anamnesis@anamnesis": "true"}, "enabledPlugins": {}}`: "",
		`{`: "", ``: "",
	} {
		if got := (connect.ClaudeSettings{}).Plugin([]byte(settings)); got != want {
			t.Errorf("Plugin(%s) = %q, want %q", settings, got, want)
		}
	}
}

func TestServersPaths(t *testing.T) {
	user := filepath.Join(string(filepath.Separator), "home", "ada")
	for home, want := range map[string][]string{
		filepath.Join(user, ".claude"): {filepath.Join(user, ".claude", ".claude.json"), filepath.Join(user, ".claude.json")},
		filepath.Join(user, "work"):    {filepath.Join(user, "work", ".claude.json")},
		"":                             {filepath.Join(user, ".claude.json")},
	} {
		if got := connect.Default().Registers.Paths(user, home); !slices.Equal(got, want) {
			t.Errorf("ServersPaths(%q) = %q, want %q", home, got, want)
		}
	}
}
