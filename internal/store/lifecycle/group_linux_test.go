package lifecycle_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/store"
	"anamnesis/internal/store/lifecycle"
	"anamnesis/internal/store/storetest"
)

// running reports whether a process is there and is no zombie.
func running(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(state, []byte("Z"))
}

// What a program has started ends with it: when its time is over, and when it ends itself.
// (Two children of a program whose time was over went on.)
func TestChildrenEnd(t *testing.T) {
	for what, end := range map[string]string{"its time is over": "sleep 600", "it ends": "exit 0", "it fails": "exit 3"} {
		w := newWorld(t)
		script := fmt.Sprintf("#!/bin/sh\nsleep 600 >/dev/null 2>&1 &\necho $! >>%[1]s\nsh -c 'sleep 600; :' >/dev/null 2>&1 &\necho $! >>%[1]s\n%[2]s\n", w.out, end)
		storetest.WriteProgram(t, w.program, script)
		w.log(t, store.Drained, "")
		w.log(t, store.Written, "created")
		_, err := lifecycle.Run(t.Context(), w.s, lifecycle.Options{Program: w.program, Time: time.Second}, []string{"PATH=" + os.Getenv("PATH")})
		if (err != nil) != (end != "exit 0") {
			t.Errorf("%s: %v", what, err)
		}
		data, err := os.ReadFile(w.out)
		pids := strings.Fields(string(data))
		if err != nil || len(pids) != 2 {
			t.Fatalf("%s: the program did not start two: %q, %v", what, data, err)
		}
		for _, pid := range pids {
			for stop := time.Now().Add(20 * time.Second); running(pid); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(stop) {
					t.Fatalf("%s: the child %s goes on", what, pid)
				}
			}
		}
	}
}
