package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Role is what a member may do in a workspace.
type Role string

// The roles. Each one may do what those before it may.
const (
	Reader Role = "reader" // reads
	Writer Role = "writer" // writes origins of their own
	Owner  Role = "owner"  // takes away what others wrote, and says who is a member
)

// Roles lists the roles.
var Roles = []Role{Reader, Writer, Owner}

// group is the role of the server that a login is in to have r.
func (r Role) group() string { return "anamnesis_" + string(r) }

// errLastOwner says that a workspace would be left without an owner.
var errLastOwner = errors.New("a workspace needs an owner; make another member one first")

// ErrNotMember says that a workspace has no such member, or that the caller may not know.
var ErrNotMember = errors.New("the workspace has no member of that name, or you may not manage its members")

// A Member is a principal with a role in a workspace.
type Member struct {
	Principal string // a login of the server, or what a signed claim calls somebody
	Role      Role
	Added     time.Time
	Login     bool // there is a login of that name
	Granted   bool // it is in the group of its role; without that it may touch no table
}

// as runs f in a transaction of the workspace.
func as(ctx context.Context, dsn, workspace string, f func(pgx.Tx) error) error {
	conn, err := Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := Fits(ctx, conn); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT set_config('anamnesis.workspace', $1, true)", workspace); err != nil {
			return err
		}
		return f(tx)
	})
}

// CreateWorkspace makes a workspace, whose id is a UUID, with a member who owns it. One
// that is there gets the name, and the owner besides those that it has. dsn is that of
// the owner of the database.
func CreateWorkspace(ctx context.Context, dsn, id, name, owner string) (grant string, err error) {
	if err := AddWorkspace(ctx, dsn, id, name); err != nil {
		return "", err
	}
	return AddMember(ctx, dsn, id, owner, Owner)
}

// AddMember makes a principal a member, or gives a member another role. dsn is that of an
// owner of the workspace, or of the owner of the database.
//
// A login has to be in the group of its role, too. Where the caller may put it there it
// is done; else grant is the command that an administrator of the server runs. It is
// empty for what is no login of the server.
func AddMember(ctx context.Context, dsn, workspace, principal string, role Role) (grant string, err error) {
	if !slices.Contains(Roles, role) {
		return "", fmt.Errorf("add a member: %q is no role; use reader, writer or owner", role)
	}
	if principal = strings.TrimSpace(principal); principal == "" || len(principal) > 200 || strings.ContainsFunc(principal, isControl) {
		return "", errors.New("add a member: the name is empty, longer than 200 bytes, or holds a control character")
	}
	err = as(ctx, dsn, workspace, func(tx pgx.Tx) error {
		if role != Owner {
			if err := keepsOwner(ctx, tx, workspace, principal); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `INSERT INTO anamnesis.members (workspace, principal, role) VALUES ($1::uuid, $2, $3)
			ON CONFLICT (workspace, principal) DO UPDATE SET role = excluded.role`, workspace, principal, string(role))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("add a member: %w", named(err))
	}
	return put(ctx, dsn, principal, role)
}

// named keeps the errors of this package, and makes the others plain.
func named(err error) error {
	for _, own := range []error{errLastOwner, ErrNotMember, ErrOlder, errNewer, ErrDSN} {
		if errors.Is(err, own) {
			return err
		}
	}
	return Plain(err)
}

// keepsOwner refuses what would leave a workspace without an owner.
func keepsOwner(ctx context.Context, tx pgx.Tx, workspace, without string) error {
	var owners, others int
	// The rows are locked, so that two owners do not take each other away at once.
	err := tx.QueryRow(ctx, `SELECT count(*), count(*) FILTER (WHERE principal <> $2) FROM (SELECT principal FROM anamnesis.members
		WHERE workspace = $1::uuid AND role = 'owner' ORDER BY principal FOR UPDATE) AS o`, workspace, without).Scan(&owners, &others)
	if err == nil && owners > 0 && others == 0 {
		return errLastOwner
	}
	return err
}

// put puts a login into the group of a role, or says how that is done.
func put(ctx context.Context, dsn, principal string, role Role) (grant string, err error) {
	conn, err := Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var login, inside bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = $1 AND rolcanlogin),
		EXISTS (SELECT FROM pg_catalog.pg_auth_members a JOIN pg_catalog.pg_roles m ON m.oid = a.member
			JOIN pg_catalog.pg_roles g ON g.oid = a.roleid WHERE m.rolname = $1 AND g.rolname = $2)`,
		principal, role.group()).Scan(&login, &inside)
	if err != nil || !login || inside {
		return "", Plain(err)
	}
	grant = "GRANT " + role.group() + " TO " + pgx.Identifier{principal}.Sanitize()
	if _, err := conn.Exec(ctx, grant); err != nil {
		if Code(err) == "42501" {
			return grant + ";", nil
		}
		return "", fmt.Errorf("add a member: %w", Plain(err))
	}
	return "", nil
}

// RemoveMember takes a member out of a workspace. What they wrote stays.
func RemoveMember(ctx context.Context, dsn, workspace, principal string) error {
	err := as(ctx, dsn, workspace, func(tx pgx.Tx) error {
		if err := keepsOwner(ctx, tx, workspace, principal); err != nil {
			return err
		}
		gone, err := tx.Exec(ctx, "DELETE FROM anamnesis.members WHERE workspace = $1::uuid AND principal = $2", workspace, principal)
		if err == nil && gone.RowsAffected() == 0 {
			err = ErrNotMember
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove a member: %w", named(err))
	}
	return nil
}

// Members lists the members of a workspace by name. Those who are none see none.
func Members(ctx context.Context, dsn, workspace string) (all []Member, err error) {
	err = as(ctx, dsn, workspace, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `SELECT m.principal, m.role, m.added, r.oid IS NOT NULL, EXISTS (SELECT FROM pg_catalog.pg_auth_members a
			JOIN pg_catalog.pg_roles g ON g.oid = a.roleid WHERE a.member = r.oid AND g.rolname = 'anamnesis_' || m.role)
			FROM anamnesis.members m LEFT JOIN pg_catalog.pg_roles r ON r.rolname = m.principal AND r.rolcanlogin
			WHERE m.workspace = $1::uuid ORDER BY m.principal`, workspace)
		if err != nil {
			return err
		}
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[Member])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the members: %w", named(err))
	}
	return all, nil
}

// Trust lists a login as one that speaks for others by signed claims, or takes it off the
// list. dsn is that of the owner of the database.
func Trust(ctx context.Context, dsn, login string, on bool) error {
	text := "DELETE FROM anamnesis.issuers WHERE login = $1"
	if on {
		text = "INSERT INTO anamnesis.issuers (login) VALUES ($1) ON CONFLICT DO NOTHING"
	}
	err := as(ctx, dsn, "", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, text, login)
		return err
	})
	if err != nil {
		return fmt.Errorf("trust a login that issues claims: %w", named(err))
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }
