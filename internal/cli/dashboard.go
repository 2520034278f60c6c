package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"anamnesis/internal/web"

	"github.com/spf13/cobra"
)

type dashboardOptions struct {
	open     bool
	listen   string
	auth     string
	newAuth  bool
	hosts    []string
	cert     string
	key      string
	idleTime time.Duration
}

// maxPassword is how many bytes of a password are read.
const maxPassword = 4096

func newDashboard(p *program) *cobra.Command {
	var o dashboardOptions
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Browse, search and correct the memory in a browser",
		Long: `Show the memory as pages in a browser: search, notes and their history, what waits for
you, what sessions were shown and why.

The pages are served on this machine alone, to the browser that opens the printed
link; a link works once. It ends with Ctrl-C, or when nobody has used it for a while.

With --listen it can be reached from elsewhere. That wants --auth, a file with the hash
of a password, and TLS: give --tls-cert and --tls-key, or put a proxy in front.`,
		Example: `  anamnesis dashboard --open
  anamnesis dashboard --hash-password <password.txt >auth.txt
  anamnesis dashboard --listen 192.168.1.5:7824 --auth auth.txt --tls-cert c.pem --tls-key k.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.newAuth {
				return p.hashPassword()
			}
			return p.dashboard(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.open, "open", false, "open the link in the browser")
	f.StringVar(&o.listen, "listen", "", "listen on `ADDRESS`:PORT (default: this machine alone, port "+web.Port+" or any free one)")
	f.StringVar(&o.auth, "auth", "", "let in who knows the password of the hash in `FILE`")
	f.BoolVar(&o.newAuth, "hash-password", false, "print the hash of the password on standard input, for --auth")
	f.StringSliceVar(&o.hosts, "allow-host", nil, "a `NAME` besides localhost under which browsers may reach it (may be repeated)")
	f.StringVar(&o.cert, "tls-cert", "", "`FILE` of the certificate for TLS")
	f.StringVar(&o.key, "tls-key", "", "`FILE` of the key for TLS")
	f.DurationVar(&o.idleTime, "idle", 2*time.Hour, "end when nobody used it for this `TIME`; 0 means never")
	return cmd
}

// hashPassword prints what --auth wants.
func (p *program) hashPassword() error {
	data, err := io.ReadAll(io.LimitReader(p.stdin, maxPassword))
	if err != nil {
		return fmt.Errorf("read the password: %w", err)
	}
	hash, err := web.HashPassword(strings.TrimRight(string(data), "\r\n"))
	if err != nil {
		return usage("dashboard: %w", err)
	}
	fmt.Fprintln(p.stdout, hash)
	return nil
}

func (p *program) dashboard(ctx context.Context, o dashboardOptions) error {
	if (o.cert == "") != (o.key == "") {
		return usage("dashboard: --tls-cert and --tls-key belong together")
	}
	l, err := web.Listen(ctx, o.listen, o.auth != "")
	if err != nil {
		return usage("dashboard: --listen %s: %w", o.listen, err)
	}
	defer func() { _ = l.Close() }()
	opts := web.Options{
		Version: buildVersion(), Hosts: append(o.hosts, l.Host), Idle: o.idleTime, Grace: p.cfg.Wait(serveGrace), TLS: o.cert != "",
		Log: func(format string, args ...any) { p.note(format, args...) },
	}
	if opts.Password, err = o.password(); err != nil {
		return err
	}
	scheme := "http"
	if opts.TLS {
		scheme = "https"
		if err = l.TLS(o.cert, o.key); err != nil {
			return usage("dashboard: %w", err)
		}
	}
	address := scheme + "://" + l.Address()
	opts.Link = func(path string) { p.note("another browser comes in with %s%s", address, path) }
	s, err := web.New(ctx, p.host(), opts)
	if err != nil {
		return err
	}
	defer s.Close()
	link := address + s.Link()
	fmt.Fprintln(p.stdout, link)
	for _, other := range l.Elsewhere() {
		p.note("other machines reach it at %s://%s, with the password", scheme, other)
	}
	if l.Open && !opts.TLS {
		p.note("what browsers send and get can be read on the way: give --tls-cert and --tls-key, or let a proxy in front bring TLS")
	}
	if o.open {
		if err := openBrowser(ctx, link); err != nil {
			p.note("the browser cannot be opened: %v; open the link yourself", err)
		}
	}
	switch err := s.Serve(ctx, l); {
	case errors.Is(err, web.ErrIdle):
		p.note("nobody used the dashboard for %v, so it ended; `anamnesis dashboard --open` starts it again", o.idleTime)
		return nil
	default:
		return err
	}
}

// password reads the hash of the password, "" when there is none.
func (o *dashboardOptions) password() (string, error) {
	if o.auth == "" {
		return "", nil
	}
	data, err := os.ReadFile(o.auth)
	if err != nil {
		return "", usage("dashboard: --auth: %w", err)
	}
	hash := strings.TrimSpace(string(data))
	if err := web.CheckHash(hash); err != nil {
		return "", usage("dashboard: --auth %s: %w", o.auth, err)
	}
	return hash, nil
}

// openBrowser opens a link with the program that the system has for it.
func openBrowser(ctx context.Context, link string) error {
	name, args := "xdg-open", []string{link}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", link}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
