package agent

import "testing"

func TestCodexResult(t *testing.T) {
	for _, tt := range []struct {
		value, text string
		failed      bool
	}{
		{`"plain"`, "plain", false},
		{`{"content":"no","success":false}`, "no", true},
		{`"Process exited with code 2\nOutput:\nboom"`, "boom", true},
		{`[{"type":"input_text","text":"{\"id\":\"01K\"}"},{"type":"input_image","image_url":"x"},{"type":"input_text","text":"two"}]`, "{\"id\":\"01K\"}\ntwo", false},
		{`[{"type":"input_text","text":"Wall time: 0.1 s\nOutput:\n"},{"type":"input_text","text":"{\"id\":\"01K\"}"}]`, "\n{\"id\":\"01K\"}", false},
		{`[]`, "", false},
		{`[1,"x",{}]`, "", false},
		{`null`, "", false},
	} {
		if text, failed := codexResult([]byte(tt.value)); text != tt.text || failed != tt.failed {
			t.Errorf("%s: %q, %v", tt.value, text, failed)
		}
	}
}
