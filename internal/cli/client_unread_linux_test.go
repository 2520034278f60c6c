package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"anamnesis/internal/llm/llmtest"
)

// TestClientUnread: what a person types to the released Claude Code, whose model keeps none of it, is unread at the next start.
// Answered there, it is the user's word on the page of the session after that, and no session is given it again.
func TestClientUnread(t *testing.T) {
	client, program := theClient(t)
	model := llmtest.NewScripted(t)
	m := newMachine(t, model, client, program)
	m.has("init", m.ours("init", "--yes", "--machine-id", "testbox"), "mcp: registered")
	said := []string{
		"No, we use pnpm here, never npm", "amounts are integer cents, never floats", "name branches after their ticket",
		"nunca subas los ficheros de clave", "les tests doivent tourner sans réseau", "keep the changelog in alphabetical order",
		"why do you run the linter by hand, make check does it", "不要改生成的文件",
	}
	const first = "71717171-7171-4171-8171-717171717171"
	m.person(first, "Add validation to the cart.\n@say I added zod with npm and validated the amounts as floats.")
	for _, typed := range said { // each run resumes the session, which is read once
		m.person(first, typed+"\n@say That is done now, and the tests of the cart pass.")
	}
	m.lacks("the page", m.ours("page"), "pnpm", "integer cents")

	const second = "72727272-7272-4272-8272-727272727272"
	model.Forget()
	m.session("70707070-7070-4070-8070-707070707070", "What is in the cart?\n@say Validation.") // claude -p: a program asks
	m.lacks("what a program is shown", model.Requests(), "## Unread")
	model.Forget()
	m.person(second, "Sort the cart by price.\n@say The cart is sorted by price now.")
	shown := model.Requests()
	if !strings.Contains(shown, "## Unread") {
		t.Fatalf("nothing is handed out; unread:\n%s\n%s\n%s", m.ours("sessions", "unread"), m.ours("status"), m.ours("log", "tail", "-n", "30"))
	}
	m.has("what the next session is shown", shown, append([]string{"## Unread: your user's messages"}, said...)...)
	m.lacks("what the next session is shown", shown, "user: thanks")
	lease := regexp.MustCompile(`s-[0-9a-f]{6}`).FindString(shown)

	var items []map[string]any
	for _, typed := range said {
		items = append(items, map[string]any{"title": typed, "quote": typed})
	}
	call, err := json.Marshal(map[string]any{"session": lease, "items": items})
	if err != nil {
		t.Fatal(err)
	}
	model.Forget()
	m.person(second, fmt.Sprintf("And by name.\n@tool mcp__anamnesis__memory_learn %s\n@say It is sorted by name, too.", call))
	m.has("the answer of the tool", model.Requests(), "8 of 8 kept")

	const third = "73737373-7373-4373-8373-737373737373"
	model.Forget()
	m.person(third, "Print the cart.\n@say The cart is printed.")
	page := model.Requests()
	from, _, _ := strings.Cut(page[max(0, strings.Index(page, "## From your user")):], "## How to use it")
	m.has("what the session after that is shown as the user's word", from, said[1:]...)
	m.has("what the session after that is shown as the user's word", from, "we use pnpm here, never npm")
	m.lacks("what the session after that is shown", page, "from the last session here ("+lease) // the person typed the name itself
}
