package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ErrDSN says that an address is not one of a database. It does not show it: the
// address holds a password.
var ErrDSN = errors.New("the address of the database (DSN) cannot be read; it looks like postgres://user@host/database, " +
	"or like host=… user=… dbname=…")

// ErrUnreachable says that there is no connection to the server, or none any more.
var ErrUnreachable = errors.New("the database server cannot be reached")

// connectTime is how long to wait for a connection when the address does not say it.
const connectTime = 10 * time.Second

// Connect opens a connection. Its errors do not show the address.
func Connect(ctx context.Context, dsn string) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, ErrDSN
	}
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, connectTime) // a server may take connections and say nothing
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", Plain(err))
	}
	return conn, nil
}

// A failure is what is shown of an error whose text would show the server, its user
// or a password. errors.Is finds what it stands for, and nothing of the text.
type failure struct {
	text string
	is   error
	code string // of the server (SQLSTATE), "" when it did not answer
}

func (f failure) Error() string { return f.text }
func (f failure) Unwrap() error { return f.is }

// Code returns the SQLSTATE of an error that Plain made, or of the server's own.
func Code(err error) string {
	var f failure
	if errors.As(err, &f) {
		return f.code
	}
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code
	}
	return ""
}

// advice says what to do about what a server refuses.
var advice = map[string]string{
	"28P01": "the database server refuses the user or the password",
	"28000": "the database server refuses the user, the password or the way of the connection",
	"3D000": "there is no database of that name on the server",
	"42501": "the user may not do that in the database; its owner grants it",
	"53300": "the database server has no connection left",
	"53100": "the disk of the database server is full",
	"57P03": "the database server is starting or stopping; try again",
	"57P01": "the database server was stopped; try again",
	"57014": "the database server gave the question up, for it took too long",
}

// Plain takes from an error of the driver what must not be shown: addresses, names of
// users and databases, and values. What it cannot name it calls unreachable.
func Plain(err error) error {
	var named failure
	var said *pgconn.PgError
	var dns *net.DNSError
	switch {
	case err == nil || errors.As(err, &named):
		return err
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &said):
		text := advice[said.Code]
		var is error
		switch {
		case text == "":
			text = fmt.Sprintf("the database server answers: %s (SQLSTATE %s)", said.Message, said.Code)
		case said.Code[:2] == "57" && said.Code != "57014":
			is = ErrUnreachable
		}
		return failure{text: text, is: is, code: said.Code}
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return failure{text: "the database server does not answer in time", is: context.DeadlineExceeded}
	case errors.As(err, &dns):
		return failure{text: ErrUnreachable.Error() + ": the name of its machine is not known", is: ErrUnreachable}
	case errors.Is(err, pgx.ErrNoRows):
		return pgx.ErrNoRows
	}
	return failure{text: ErrUnreachable.Error(), is: ErrUnreachable}
}
