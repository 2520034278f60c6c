package reflection_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"anamnesis/internal/llm"
	"anamnesis/internal/note"
	"anamnesis/internal/reflection"
	"anamnesis/internal/store"

	"github.com/google/go-cmp/cmp"
)

func TestBudget(t *testing.T) {
	w := newWorld(t)
	allow := func(o reflection.Options) error {
		return reflection.NewBudget(w.store, o).For("summary").Allow(t.Context())
	}
	if err := allow(reflection.Options{DailyCalls: 1, DailyTokens: 1}); err != nil {
		t.Errorf("a new store: %v", err)
	}
	b := reflection.NewBudget(w.store, reflection.Options{DailyCalls: 3, DailyTokens: 1000})
	b.For("summary").Spent("local/m", llm.Usage{Prompt: 100, Answer: 10})
	b.For("reflect").Spent("local/m", llm.Usage{Prompt: 200, Answer: 20})
	if err := b.For("merge").Allow(t.Context()); err != nil {
		t.Errorf("2 of 3: %v", err)
	}
	b.For("reflect").Spent("local/m", llm.Usage{Prompt: 1, Answer: 1})
	err := b.For("merge").Allow(t.Context())
	if !errors.Is(err, reflection.ErrSpent) {
		t.Errorf("3 of 3: %v", err)
	}
	wantErr(t, err, "3 of 3 answers; wait until tomorrow, or raise reflection.daily_calls")
	wantErr(t, allow(reflection.Options{DailyTokens: 332}), "332 of 332 tokens")
	if err := allow(reflection.Options{}); err != nil {
		t.Errorf("no limit: %v", err)
	}
	w.now = w.now.Add(14 * time.Hour) // tomorrow
	if err := b.For("merge").Allow(t.Context()); err != nil {
		t.Errorf("tomorrow: %v", err)
	}
	b.For("reflect").Spent("openai/x", llm.Usage{Prompt: 5, Answer: 5})
	w.now = w.now.AddDate(0, 1, 0)
	if err := b.For("merge").Allow(t.Context()); err != nil {
		t.Errorf("next month: %v", err)
	}
	got, _, err := reflection.Costs(t.Context(), w.store, w.now.AddDate(0, -2, 0))
	want := []reflection.Cost{
		{Day: "2026-11-21", Model: "openai/x", Purpose: "reflect", Spending: reflection.Spending{Calls: 1, In: 5, Out: 5}},
		{Day: "2026-11-20", Model: "local/m", Purpose: "reflect", Spending: reflection.Spending{Calls: 2, In: 201, Out: 21}},
		{Day: "2026-11-20", Model: "local/m", Purpose: "summary", Spending: reflection.Spending{Calls: 1, In: 100, Out: 10}},
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
	if got, _, err := reflection.Costs(t.Context(), w.store, w.now); err != nil || len(got) != 0 {
		t.Errorf("since today: %v, %v", got, err)
	}
}

// A spent budget stops reflection before anything is sent.
func TestBudgetStopsReflection(t *testing.T) {
	o := plain
	o.DailyCalls = 1
	w := openWorld(t, t.TempDir(), nil, o)
	w.sessions("a", 5)
	w.sessions("b", 5)
	w.answers(good)
	reports, err := w.ApplyAll(t.Context(), "")
	if err != nil || len(reports) != 2 || reports[0].Err != nil || !errors.Is(reports[1].Err, reflection.ErrSpent) || len(w.server.Received()) != 1 {
		t.Errorf("%+v, %v", reports, err)
	}
	// The next process counts the same.
	next := openWorld(t, w.store.Root(), nil, o)
	if _, err := next.Apply(t.Context(), "b"); !errors.Is(err, reflection.ErrSpent) || len(next.server.Received()) != 0 {
		t.Errorf("%v", err)
	}
}

// Nothing that looks like a credential reaches a model, wherever it stands.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	planted := secrets()
	for i, s := range planted {
		id := note.ID(fmt.Sprintf("s%d", i))
		body := []string{"We used %s there.", "token = \"%s\"\n", "```\nexport API_KEY=%s\n```", "- password: %s"}[i%4]
		w.add(note.Note{ID: id, Type: note.Episodic, Project: "p", Title: "Session", Body: fmt.Sprintf(body, s.text)})
		w.add(note.Note{ID: id + "-fact", Type: note.Semantic, Project: "p", Title: "Fact", Body: fmt.Sprintf(body, s.text)})
	}
	w.answers("[]")
	if _, err := w.Apply(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Propose(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	received := w.server.Bytes()
	if len(planted) < 50 || len(w.server.Received()) != 2 {
		t.Fatalf("%d secrets, %d requests", len(planted), len(w.server.Received()))
	}
	for _, s := range planted {
		if strings.Contains(received, s.core) {
			t.Errorf("%s was sent", s.kind)
		}
	}
}

type secret struct{ kind, text, core string }

// secrets makes tokens in the shapes of real ones, put together so that no
// scanner takes this file for a leak.
func secrets() []secret {
	var all []secret
	mixed := func(n, salt int) string {
		const letters = "aB3dE6gH9kM2nP5qR8sT1vW4xY7zA0cD"
		var b strings.Builder
		for i := range n {
			b.WriteByte(letters[(i*7+salt*5+i*i*salt)%len(letters)])
		}
		return b.String()
	}
	add := func(kind, prefix string, n int) {
		core := mixed(n, len(all)+1)
		all = append(all, secret{kind, prefix + core, core})
	}
	for _, p := range []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"} {
		add("github "+p, p, 36)
	}
	for _, p := range []string{"xox" + "b-123456789012-1234567890123-", "xox" + "p-123456789012-1234567890123-123456789012-"} {
		add("slack", p, 24)
	}
	for _, p := range []string{"sk-", "rk-", "pk-", "sk-proj-", "sk-ant-api03-", "sk_live_", "rk_live_"} {
		add("key "+p, p, 40)
	}
	add("bearer", "Authorization: Bearer ", 40)
	add("gitlab", "glpat-", 20)
	add("npm", "npm_", 36)
	for _, name := range []string{
		"password", "passwd", "secret", "client_secret", "api_key", "apikey", "access_key", "DB_PASSWORD", "DEEPSEEK_API_KEY",
		"authorization", "auth_token", "private_token", "SESSION_SECRET", "JWT_SECRET", "ENCRYPTION_KEY", "aws_secret_access_key",
	} {
		add(name, name+"=", 32)
		add(name+" quoted", name+`: "`, 28)
		all[len(all)-1].text += `"`
	}
	for _, scheme := range []string{"postgres", "mysql", "redis", "amqp", "https"} {
		core := mixed(20, len(all)+1)
		all = append(all, secret{"address " + scheme, scheme + "://user:" + core + "@db.example/x", core})
	}
	core := strings.Repeat(mixed(64, 3)+"\n", 8)
	all = append(all, secret{"pem", "-----BEGIN " + "RSA PRIVATE KEY-----\n" + core + "-----END RSA " + "PRIVATE KEY-----", core[:64]})
	return all
}

// A dry run over a large store answers at once.
func BenchmarkPlanOfTenThousand(b *testing.B) {
	w := newWorld(b)
	if err := os.MkdirAll(w.store.Path("memory/episodic"), 0o700); err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		n := &note.Note{
			ID: note.ID(fmt.Sprintf("n%d", i)), Type: note.Episodic, Scope: note.Portable, Project: fmt.Sprintf("p%d", i%20), Title: fmt.Sprint("Session ", i),
			Body: strings.Repeat("We ran the tests and fixed what failed. ", 12), CreatedAt: note.At(w.now), UpdatedAt: note.At(w.now), MachineID: "box",
		}
		if err := os.WriteFile(w.store.Path(store.NotePath(n.Scope, n.Type, n.ID)), n.Format(), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.index.Sync(b.Context(), syncAll); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		plans, err := w.Plan(b.Context(), "")
		if err != nil || len(plans) != 20 || plans[0].Sessions != 500 {
			b.Fatalf("%d projects, %v", len(plans), err)
		}
	}
}
