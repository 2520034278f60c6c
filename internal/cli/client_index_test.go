package cli

import (
	"runtime"
	"strings"
	"testing"

	"anamnesis/internal/index/postgres/postgrestest"
	"anamnesis/internal/index/postgres/schema"
	"anamnesis/internal/llm/llmtest"
)

// TestClientIndexServer drives the released Claude Code in empty homes that know nothing but the
// address of an index (ANAMNESIS_INDEX): it is shown what the owner wrote, what its session teaches is
// on the server when it ends, the owner's sync takes it home, and the next empty home is shown that.
func TestClientIndexServer(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the client is driven on Unix")
	}
	client, program := theClient(t)
	dsn := postgrestest.DSN(t)
	if _, err := schema.Migrate(t.Context(), dsn, schema.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	workspace := workspaceOf(t.Name())
	if err := schema.AddWorkspace(t.Context(), dsn, workspace, "mine"); err != nil {
		t.Fatal(err)
	}
	address, model := dsn+"&workspace="+workspace, llmtest.NewScripted(t)

	owner := newMachine(t, model, client, program)
	owner.lacks("config set", owner.ours("config", "set", "index.server", address), postgrestest.Password)
	owner.ours("add", "--type", "procedural", "--title", "Regenerate gRPC clients after editing payments.proto", "--body", "Run make proto-gen.",
		"--when", "path:payments.proto")
	owner.has("sync", owner.ours("sync"), "sent 1, took in 0")

	container := func() *machine {
		m := newMachine(t, model, client, program)
		m.env = []string{"ANAMNESIS_INDEX=" + address}
		m.has("init", m.ours("init", "--yes"), "mcp: registered", "hooks: installed")
		model.Forget()
		return m
	}
	const tools = "Bash,Write,mcp__anamnesis__memory_search,mcp__anamnesis__memory_write"
	const id = "11111111-1111-4111-8111-111111111111"
	m := container()
	out := m.session(id, `Order 48213 is off by one cent, please fix the rounding. How do I regenerate the gRPC clients of payments.proto?
@tool Write {"file_path":"`+m.project+`/payments.proto","content":"syntax = \"proto3\";\n"}
@tool mcp__anamnesis__memory_search {"query":"regenerate clients"}
@tool mcp__anamnesis__memory_write {"type":"semantic","title":"Money is int64 cents","body":"Since order 48213."}
@say Fixed: VAT is rounded per line, half up.`, "--allowedTools", tools)
	m.has("the answer", out, "rounded per line")
	m.has("what the model read", model.Requests(), injected, "Regenerate gRPC clients after editing", "holds 100 % of the question",
		"PreToolUse:Write hook additional context: [anamnesis:begin]")
	m.lacks("what the model read", model.Requests(), "(shared by")
	const corrected = "12121212-1212-4212-8212-121212121210"
	m.person(corrected, "Install zod in the web package.\n@say I installed zod with npm.")
	m.person(corrected, `no, we use pnpm here and never npm, the lockfile is the one of pnpm
@tool mcp__anamnesis__memory_write {"type":"semantic","title":"Install packages with pnpm","body":"","why":"The lockfile is the one of pnpm.",`+
		`"quote":"we use pnpm here and never npm","when":["cmd:npm"]}
@say Done with pnpm.`, "--allowedTools", tools)
	m.eventually("the drain at the end of the job", func() bool { return strings.Contains(m.ours("doctor", "drain"), " 0 failed") })
	for line := range strings.Lines(m.ours("log", "tail", "-n", "200")) {
		m.lacks("a line of the event log", line, "FAILED", postgrestest.Password)
	}

	owner.has("sync", owner.ours("sync"), "with machines without a store: sent 4, took in 4")
	owner.has("sync again", owner.ours("sync"), "with machines without a store: sent 0, took in 0")
	owner.has("the note of the session", owner.note(id), "**Outcome:** Fixed: VAT is rounded per line, half up.")
	owner.has("a note of the agent", owner.ours("search", "--json", "money is int64 cents"), "Money is int64 cents", "github.com/acme/storefront")
	owner.has("the correction", owner.ours("review"), "Install packages with pnpm",
		"“no, we use pnpm here and never npm, the lockfile is the one of pnpm”")

	m = container()
	m.session("22222222-2222-4222-8222-222222222222", "What is next with the storefront?\n@say Nothing that I know of.")
	m.has("what a later home is shown", model.Requests(), injected, "Money is int64 cents", "- Install packages with pnpm", "## Last time")
}
