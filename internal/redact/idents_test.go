package redact_test

import (
	"slices"
	"strings"
	"testing"

	"anamnesis/internal/redact"
)

// What a protocol of an agent, git or a note calls an id comes out as it went in, whatever name
// stands before it.
func TestIDs(t *testing.T) {
	r := newRedactor(t)
	const uuid, ulid = "0a93878f-dc30-4a5d-882f-3cd81cd3d499", "01M7ZF5XZVHYQMJXQHFCDR066B"
	for _, id := range []string{
		"ses_df4a5acd1ffeUQGuwBGw3Qo4N6", "msg_df4a5acd1001UQGuwBGw3Qo4N6", "prt_df4a5acd1001UQGuwBGw3Qo4N6", "toolu_01A2b3C4d5E6f7G8h9J0k1L2",
		"toolu_vrtx_01A2b3C4d5E6f7G8h9J0k1L2", "call_A2b3C4d5E6f7G8h9J0k1L2m3", "resp_0a93878fdc304a5d882f3cd81cd3d499", "msg_01A2b3C4d5E6f7G8h9J0k1L2",
		"req_011CA2b3C4d5E6f7G8h9J0", "chatcmpl-A2b3C4d5E6f7G8h9J0k1L2m3n4o5", "20261124_101112_ab12cd34", "agent-a1b2c3d4e5f60718", uuid, "T-" + uuid,
		ulid, "person/" + ulid, "opencode/ses_df4a5acd1ffeUQGuwBGw3Qo4N6", "claude/" + uuid, "codex/019a8f3c-7a5b-7cc0-8f33-6a1b2c3d4e5f",
		"0a93878fdc304a5d882f3cd81cd3d4990a93878f", "sha256:" + strings.Repeat("0a93878f", 8),
	} {
		for _, before := range []string{
			"prov_session: ", "session: ", `"sessionID":"`, `"session":"`, "tool_use_id: ", `"call_id":"`, "message id ", "parent: ", "key: ", "in session ",
			"superseded_by: ", `"key":"`, "commit ", "",
		} {
			if strings.Trim(id, "0123456789abcdef") == "" && containsAny(before, "key", `"session"`) {
				continue // as a key of an API looks
			}
			text := before + id
			if strings.HasSuffix(before, `"`) {
				text += `"`
			}
			if got := r.Redact(text).String(); got != text {
				t.Errorf("%s became %s", text, got)
			}
		}
	}
	for _, text := range []string{ // what only begins so
		"session_token=ses_df4a5acd1ffe#UQGuwBGw3Qo4N6", "password: msg_df4a5acd1001UQGuwBGw3Qo4N6", "Cookie: session=ses_df4a5acd1ffeUQGuwBGw3Qo4N6",
	} {
		if got := r.Redact(text).String(); strings.Contains(got, "UQGuwBGw3Qo4N6") {
			t.Errorf("%s became %s", text, got)
		}
	}
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// Characters that nobody sees part no token: they go with it, and stay where there is none.
func TestInvisible(t *testing.T) {
	r := newRedactor(t)
	token := "ghp_" + strings.Repeat("aB3dE6gH9", 4)
	for _, c := range []string{"\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u202e", "\u2066", `\u200b`, `\u200B`, `\ufeff`} {
		for _, at := range []int{1, 4, 10, 30} {
			split := token[:at] + c + token[at:]
			for _, text := range []string{"use " + split + " now", "export GH=" + split, "password: zor" + c + "kmid99" + c + "quux\n"} {
				got := r.Redact(text).String()
				if strings.Contains(got, "aB3dE6gH9") || strings.Contains(got, "kmid99") || !strings.Contains(got, "[REDACTED]") {
					t.Errorf("%q became %q", text, got)
				}
				if again := r.Redact(got).String(); again != got {
					t.Errorf("%q became %q", got, again)
				}
			}
		}
		every := strings.Join(slices.Collect(strings.SplitSeq(token, "")), c)
		if got := r.Redact("x " + every + " y").String(); got != "x [REDACTED] y" {
			t.Errorf("%q became %q", every, got)
		}
		plain := "a wo" + c + "rd, می" + c + "خواهم, and “quotes” — with dashes"
		if got := r.Redact(plain).String(); got != plain {
			t.Errorf("%q became %q", plain, got)
		}
	}
}

// A rule of a user may ask for the entropy of anything, however long.
func TestEntropyOfLongValues(t *testing.T) {
	r := newRedactor(t, redact.Rule{ID: "blob", Regex: `blob:([a-z0-9]+)`, Entropy: 3})
	text := "blob:" + strings.Repeat("a1b2c3d4e5f6g7h8", 100)
	if got := r.Redact(text).String(); strings.Contains(got, "a1b2c3") {
		t.Errorf("%.60s", got)
	}
	if text = "blob:" + strings.Repeat("a", 5000); r.Redact(text).String() != text {
		t.Error("a value without entropy is masked")
	}
}
