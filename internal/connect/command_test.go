package connect_test

import (
	"os/exec"
	"strings"
	"testing"

	"anamnesis/internal/connect"

	"github.com/google/go-cmp/cmp"
)

func TestOwn(t *testing.T) {
	for _, tt := range []struct {
		command string
		want    bool
	}{
		{"ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m /usr/bin/anamnesis inject", true},
		{"ANAMNESIS_MACHINE_ID=m ANAMNESIS_HOOK=1 /opt/mem hook claude Stop", true},
		{"ANAMNESIS_HOOK=1 anamnesis capture >/dev/null 2>&1 || true", true},
		{"cd /tmp && ANAMNESIS_HOOK=1 anamnesis sync", true},
		{"env ANAMNESIS_HOOK=1 anamnesis sync", true},
		{"ANAMNESIS_HOOK='1' anamnesis sync", true},

		// what the program before this one installed and documented
		{"ANAMNESIS_MACHINE_ID=m uv run --project /srv/anamnesis anamnesis inject", true},
		{"ANAMNESIS_MACHINE_ID='my box' ANAMNESIS_GIT_REMOTE=git@h:r.git mymem capture --source precompact --no-sync", true},
		{"uv run --project /ABSOLUTE/PATH/TO/anamnesis/server anamnesis capture", true},
		{"/home/ada/.local/bin/anamnesis sync", true},
		{`'C:\Program Files\anamnesis.exe' inject`, true},
		{"anamnesis hook claude Stop", true},

		// what is not ours
		{"", false},
		{"anamnesis", false},
		{"anamnesis serve", false},
		{"anamnesis search inject", false},
		{"inject", false},
		{"my-anamnesis-injector", false},
		{"/opt/my-anamnesis inject", false},
		{"echo $ANAMNESIS_HOME", false},
		{"echo anamnesis inject", false},
		{"echo 'ANAMNESIS_HOOK=1 anamnesis inject'", false},
		{"echo ANAMNESIS_HOOK=1", false},
		{"true # ANAMNESIS_HOOK=1 anamnesis inject", false},
		{"ANAMNESIS_HOOK=0 my-script", false},
		{"ANAMNESIS_HOOK=10 my-script", false},
		{"ANAMNESIS_HOME=/x my-backup sync", false},
		{"anamnesis sync && notify-send done", false},
		{"anamnesis capture --project other", false},
		{"cat < anamnesis inject", false},
		{"'anamnesis inject", false},
	} {
		if got := connect.Own(tt.command); got != tt.want {
			t.Errorf("Own(%q) = %v", tt.command, got)
		}
	}
}

func TestCommandPrefix(t *testing.T) {
	for _, tt := range []struct {
		env     connect.Env
		program []string
		want    string
	}{
		{connect.Env{}, []string{"anamnesis"}, "ANAMNESIS_HOOK=1 anamnesis"},
		{
			connect.Env{MachineID: "ada's box", Remote: "git@example.com:ada/memory.git", Home: "/data/my memory"},
			[]string{"/opt/my tools/anamnesis"},
			`ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID='ada'"'"'s box' ANAMNESIS_GIT_REMOTE=git@example.com:ada/memory.git ANAMNESIS_HOME='/data/my memory' '/opt/my tools/anamnesis'`,
		},
		{connect.Env{MachineID: "m"}, []string{"uv", "run", `C:\x`}, `ANAMNESIS_HOOK=1 ANAMNESIS_MACHINE_ID=m uv run 'C:\x'`},
	} {
		if got := connect.CommandPrefix(tt.env, tt.program...); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// A shell reads back what connect.Quote wrote.
func TestQuote(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no POSIX shell on this machine")
	}
	words := []string{"", "a", "a b", "it's", `"`, `\`, "$HOME", "`x`", "a=b", "~", "!x", "a\nb", "é", "*", "-n", "{a,b}"}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = connect.Quote(w)
	}
	out, err := exec.Command(sh, "-c", "printf '%s\\0' "+strings.Join(quoted, " ")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(words, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
