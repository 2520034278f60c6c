package queue

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzParse: no file ends a run, and what is taken for a job is the same job after
// it was written.
func FuzzParse(f *testing.F) {
	for _, seed := range [][2]string{
		{"a.0", `{"v":2,"id":"a","kind":"capture","at":"2026-11-20T10:00:00.123Z","not_before":"2026-11-20T10:00:00Z","reason":"x","payload":{"a":1}}`},
		{"a", `{"v":1,"id":"a","tries":1,"due":"2026-11-20T10:00:00Z","hash":"x","job":{}}`},
		{"a.1", `{"v":1,"id":"a","at":"2026-11-20T10:00:00+01:00","kind":"capture","harness":"claude"}`},
		{"../a.0", `{"v":2,"id":"../a","kind":"capture"}`},
		{"", ""},
		{"a.0", `{"v":9,"id":"a"}`},
		{"a.0", "[]"},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		j, err := parse(Capture, name, data)
		if err != nil {
			return
		}
		j.V, j.Kind = version, j.kind.name
		written, err := json.Marshal(j)
		if err != nil || len(written) > len(j.Payload)*6+headLimit { // "<" is written as six bytes
			t.Fatalf("%d bytes of %d, %v", len(written), len(data), err)
		}
		again, err := parse(Capture, j.name()[len("spool/"):len(j.name())-len(".json")], written)
		if err != nil || again.ID != j.ID || again.Attempts != j.Attempts || again.Due().UnixMilli() != j.Due().UnixMilli() {
			t.Fatalf("%+v\n%+v %v", j, again, err)
		}
		var was, is any
		if json.Unmarshal(j.Payload, &was) != nil || json.Unmarshal(again.Payload, &is) != nil || cmp.Diff(was, is) != "" {
			t.Fatalf("payload %s became %s", j.Payload, again.Payload)
		}
	})
}
