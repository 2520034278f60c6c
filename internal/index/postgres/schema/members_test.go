package schema

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestMembers(t *testing.T) {
	h := built(t)
	ctx, owner := t.Context(), h.dsn("aowner")
	names := func(dsn string) (all []string) {
		t.Helper()
		list, err := Members(ctx, dsn, tenantA)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			all = append(all, strings.TrimSuffix(m.Principal, h.tag)+" "+string(m.Role))
			if m.Added.IsZero() || m.Login != m.Granted {
				t.Errorf("%+v", m)
			}
		}
		return all
	}
	want := []string{"aowner owner", "areader reader", "asecond writer", "awriter writer", "both writer"}
	for _, who := range []string{"aowner", "areader"} {
		if got := names(h.dsn(who)); !slices.Equal(got, want) {
			t.Errorf("%s sees %v, want %v", who, got, want)
		}
	}
	for _, who := range []string{"bowner", "idle"} {
		if got := names(h.dsn(who)); len(got) > 0 {
			t.Errorf("%s sees %v", who, got)
		}
	}
	if _, err := Members(ctx, h.dsn("stranger"), tenantA); Code(err) != "42501" {
		t.Errorf("a stranger: %v", err)
	}

	// An owner of the workspace adds what is no login, and a login of a group.
	if grant, err := AddMember(ctx, owner, tenantA, "5b0c0c1e", Reader); err != nil || grant != "" {
		t.Errorf("%q, %v", grant, err)
	}
	h.login("new", "")
	grant, err := AddMember(ctx, owner, tenantA, h.name("new"), Writer)
	if err != nil || grant != "GRANT anamnesis_writer TO \""+h.name("new")+"\";" {
		t.Errorf("%q, %v", grant, err)
	}
	list, err := Members(ctx, owner, tenantA)
	i := slices.IndexFunc(list, func(m Member) bool { return m.Principal == h.name("new") })
	if err != nil || i < 0 || !list[i].Login || list[i].Granted {
		t.Errorf("%+v, %v", list, err)
	}
	h.member(tenantA, "new", Writer) // the owner of the database may grant
	h.member(tenantA, "new", Reader)
	for _, who := range []string{"awriter", "areader", "bowner", "stranger", "idle"} {
		if _, err := AddMember(ctx, h.dsn(who), tenantA, "friend", Owner); err == nil {
			t.Errorf("%s adds an owner", who)
		}
		if err := RemoveMember(ctx, h.dsn(who), tenantA, h.name("areader")); err == nil {
			t.Errorf("%s removes a member", who)
		}
	}
	for _, bad := range []struct{ name, role string }{{"", "reader"}, {"x\n", "king"}, {"x\x00y", "reader"}, {strings.Repeat("x", 201), "reader"}, {"x", "owner; --"}} {
		if _, err := AddMember(ctx, owner, tenantA, bad.name, Role(bad.role)); err == nil {
			t.Errorf("%q %q is accepted", bad.name, bad.role)
		}
	}
	if grant, err := AddMember(ctx, owner, tenantA, `a"; DROP TABLE anamnesis.notes; --`, Reader); err != nil || grant != "" {
		t.Errorf("%q, %v", grant, err)
	}

	if err := RemoveMember(ctx, owner, tenantA, "nobody"); !errors.Is(err, ErrNotMember) {
		t.Errorf("nobody: %v", err)
	}
	if err := RemoveMember(ctx, owner, tenantA, h.name("aowner")); !errors.Is(err, errLastOwner) {
		t.Errorf("the last owner: %v", err)
	}
	if _, err := AddMember(ctx, owner, tenantA, h.name("aowner"), Reader); !errors.Is(err, errLastOwner) {
		t.Errorf("the last owner as a reader: %v", err)
	}
	h.member(tenantA, "awriter", Owner)
	if err := RemoveMember(ctx, owner, tenantA, h.name("aowner")); err != nil {
		t.Error(err)
	}
	if got := names(owner); len(got) > 0 {
		t.Errorf("who has left sees %v", got)
	}
}

// Two owners take each other away at once: one of them stays.
func TestLastOwnerStays(t *testing.T) {
	h := built(t)
	for range 5 {
		h.member(tenantA, "aowner", Owner)
		h.member(tenantA, "awriter", Owner)
		var both sync.WaitGroup
		for who, whom := range map[string]string{"aowner": "awriter", "awriter": "aowner"} {
			both.Go(func() { _ = RemoveMember(context.Background(), h.dsn(who), tenantA, h.name(whom)) })
		}
		both.Wait()
		if n := h.text(h.super, "SELECT count(*)::text FROM anamnesis.members WHERE workspace = $1 AND role = 'owner'", tenantA); n == "0" {
			t.Fatal("nobody owns the workspace")
		}
	}
}

func TestInspect(t *testing.T) {
	h := newHouse(t)
	ctx := t.Context()
	s, err := Inspect(ctx, h.owner, tenantA)
	if err != nil || s.Version != 0 || s.Latest != latest() || s.Number < 140000 || s.Login != h.name("lord") || s.Bypasses || len(s.Tables) > 0 {
		t.Errorf("an empty database: %+v, %v", s, err)
	}
	if _, err := Migrate(ctx, h.owner, MigrateOptions{To: 1}); err != nil {
		t.Fatal(err)
	}
	s, err = Inspect(ctx, h.owner, tenantA)
	if err != nil || s.Version != 1 || len(s.Unguarded) != len(s.Tables) || len(s.Tables) < 15 {
		t.Errorf("an older schema: %+v, %v", s, err)
	}
	h = built(t)
	h.fill()
	h.exec(h.super, "UPDATE anamnesis.workspaces SET notes = 4, passages = 5, generation = 9 WHERE id = $1", tenantA)
	for _, c := range []struct {
		login     string
		role      Role
		version   int
		notes     int64
		groups    int
		principal string
	}{
		{"aowner", Owner, latest(), 4, 1, "aowner"},
		{"awriter", Writer, latest(), 4, 1, "awriter"},
		{"areader", Reader, latest(), 4, 1, "areader"},
		{"bowner", "", latest(), 0, 1, "bowner"},
		{"idle", "", latest(), 0, 3, "idle"},
		{"stranger", "", 0, 0, 0, ""},
		{"lord", "", latest(), 0, 0, "lord"},
	} {
		s, err := Inspect(ctx, h.dsn(c.login), tenantA)
		if err != nil || s.Role != c.role || s.Version != c.version || s.Notes != c.notes || len(s.Groups) != c.groups || s.Bypasses ||
			strings.TrimSuffix(s.Principal, h.tag) != c.principal || len(s.Unguarded) > 0 {
			t.Errorf("%s: %+v, %v", c.login, s, err)
		}
		if c.role != "" && (s.Generation != 9 || s.Passages != 5 || s.Members != 7) {
			t.Errorf("%s: %+v", c.login, s)
		}
	}
	if s, err := Inspect(ctx, h.admin, ""); err != nil || !s.Bypasses || s.Login != "postgres" {
		t.Errorf("an administrator: %+v, %v", s, err)
	}
	if s, err := Inspect(ctx, h.dsn("awriter"), "no uuid"); err != nil || s.Role != "" {
		t.Errorf("no uuid: %+v, %v", s, err)
	}
	h.exec(h.super, "CREATE TABLE anamnesis.later (workspace uuid)")
	if s, err := Inspect(ctx, h.owner, ""); err != nil || !slices.Equal(s.Unguarded, []string{"later"}) {
		t.Errorf("a table without rules: %v, %v", s.Unguarded, err)
	}
	if _, err := Inspect(ctx, "postgres://u:hunter2@127.0.0.1:1/x", tenantA); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("no server: %v", err)
	}
}

// An owner who is no administrator migrates up, down and up again, two at once too, and a
// dry run changes nothing.
func TestMigrateAsOwner(t *testing.T) {
	h := newHouse(t)
	ctx := t.Context()
	picture := func() string {
		return h.text(h.super, `SELECT md5(string_agg(x, ' ' ORDER BY x)) FROM (
			SELECT 'r ' || concat(relname, relkind, relrowsecurity, relforcerowsecurity) || coalesce(relacl::text, '') FROM pg_class c
				JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'anamnesis'
			UNION ALL SELECT 'p ' || polname::text || polrelid::regclass::text || coalesce(pg_get_expr(polqual, polrelid), '') FROM pg_policy
			UNION ALL SELECT 'f ' || p.oid::regprocedure::text || coalesce(proacl::text, '') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
				WHERE nspname = 'anamnesis'
			UNION ALL SELECT 's ' || coalesce(nspacl::text, '') FROM pg_namespace WHERE nspname = 'anamnesis') AS t (x)`)
	}
	to := func(o MigrateOptions) string {
		t.Helper()
		if _, err := Migrate(ctx, h.owner, o); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		return picture()
	}
	empty := picture()
	if to(MigrateOptions{DryRun: true}) != empty {
		t.Error("a dry run changed the database")
	}
	first := to(MigrateOptions{To: 1})
	if to(MigrateOptions{DryRun: true}) != first {
		t.Error("a dry run changed the database")
	}
	latest := to(MigrateOptions{})
	if to(MigrateOptions{To: -1, DryRun: true}) != latest {
		t.Error("a dry run down changed the database")
	}
	down := to(MigrateOptions{To: 1})
	if n := h.text(h.super, "SELECT count(*)::text FROM pg_policy"); n != "0" || down == latest {
		t.Errorf("%s policies are left", n)
	}
	if to(MigrateOptions{}) != latest {
		t.Error("up again is not what up was")
	}
	to(MigrateOptions{To: -1})
	if picture() != empty {
		t.Error("something is left of the schema")
	}
	var both sync.WaitGroup
	for range 3 {
		both.Go(func() {
			if _, err := Migrate(context.Background(), h.owner, MigrateOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	if picture() != latest {
		t.Error("several at once made another schema")
	}
	// A group that could log in, or passes over the rules, is not taken.
	to(MigrateOptions{To: 1})
	h.exec(h.super, "ALTER ROLE anamnesis_reader BYPASSRLS")
	_, err := Migrate(ctx, h.owner, MigrateOptions{})
	h.exec(h.super, "ALTER ROLE anamnesis_reader NOBYPASSRLS")
	if err == nil || !strings.Contains(err.Error(), "passes over the rules") {
		t.Errorf("a group that passes over the rules: %v", err)
	}
}

// The page of threats names tests that there are.
func TestThreatsNameTests(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, pattern := range []string{"*_test.go", "../*_test.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source.Write(text)
		}
	}
	_, threats, ok := strings.Cut(string(page), "\n## Threats\n")
	named := regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(threats, -1)
	if !ok || len(named) < 20 {
		t.Fatalf("the page names %d tests", len(named))
	}
	for _, n := range named {
		if !strings.Contains(source.String(), "func "+n[1]+"(t *testing.T)") {
			t.Errorf("there is no %s", n[1])
		}
	}
}
