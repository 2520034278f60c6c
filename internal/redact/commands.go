package redact

import "strings"

// A command is a program that takes secrets on its command line.
type command struct {
	name  string
	flags string // those whose argument is a secret
	glued string // those that may be written together with it: -pSECRET
	login string // those whose argument is user:password
	force bool   // mask variables as well: the command is nothing but a login
}

// commands lists programs whose flags do not speak for themselves. A flag such
// as --password needs no row: the assignment rule knows it.
var commands = [...]command{
	{name: "curl ", login: "-u --user -U --proxy-user"},
	{name: "wget ", login: "--user"},
	{name: "http ", login: "-a --auth"},
	{name: "https ", login: "-a --auth"},
	{name: "sshpass ", flags: "-p", glued: "-p"},
	{name: "mysql ", glued: "-p"},
	{name: "mysqldump ", glued: "-p"},
	{name: "mysqladmin ", glued: "-p"},
	{name: "mariadb ", glued: "-p"},
	{name: "mongo ", flags: "-p"},
	{name: "mongosh ", flags: "-p"},
	{name: "mongodump ", flags: "-p"},
	{name: "redis-cli ", flags: "-a"},
	{name: "cqlsh ", flags: "-p"},
	{name: "influx ", flags: "-password -p"},
	{name: "sqlcmd ", flags: "-P", glued: "-P"},
	{name: "bcp ", flags: "-P", glued: "-P"},
	{name: "docker login", flags: "-p"},
	{name: "podman login", flags: "-p"},
	{name: "buildah login", flags: "-p"},
	{name: "helm registry login", flags: "-p"},
	{name: "skopeo ", login: "--creds --src-creds --dest-creds"},
	{name: "oc login", flags: "-p"},
	{name: "kubeadm ", flags: "--token --discovery-token --tls-bootstrap-token --certificate-key"},
	{name: "rootpw ", flags: "--plaintext --iscrypted"},
	{name: "az login", flags: "-p"},
	{name: "cf login", flags: "-p"},
	{name: "psexec", flags: "-p"},
	{name: "smbclient ", login: "-U"},
	{name: "rpcclient ", login: "-U"},
	{name: "smbmap ", flags: "-p"},
	{name: "crackmapexec ", flags: "-p -H"},
	{name: "evil-winrm ", flags: "-p -H"},
	{name: "ldapsearch ", flags: "-w"},
	{name: "ldapmodify ", flags: "-w"},
	{name: "ldapadd ", flags: "-w"},
	{name: "mosquitto_pub ", flags: "-P"},
	{name: "mosquitto_sub ", flags: "-P"},
	{name: "ipmitool ", flags: "-P"},
	{name: "snmpwalk ", flags: "-A -X"},
	{name: "xfreerdp ", glued: "/p:"},
	{name: "cmdkey ", glued: "/pass:"},
	{name: "7z ", glued: "-p"},
	{name: "zip ", flags: "-P --password"},
	{name: "unzip ", flags: "-P"},
	{name: "lftp ", login: "-u"},
	{name: "keytool ", flags: "-storepass -keypass"},
	{name: "openssl ", glued: "pass:"},
	{name: "asterisk ", flags: "-p"},
	{name: "connect-viserver ", flags: "-user -password", force: true},
	{name: "convertto-securestring ", flags: "-string"},
	{name: "new-psdrive ", flags: "-password"},
}

// commandKeywords makes the keywords of the table, of net use and of calls
// that take a login.
func commandKeywords() []keyword {
	var out []keyword
	for i := range commands {
		c := &commands[i]
		out = append(out, keyword{text: c.name, match: func(x *scan, at int) { x.command(c, at) }})
	}
	out = append(out,
		keyword{text: "net use ", match: (*scan).netUse},
		keyword{text: "convertto-securestring ", match: (*scan).secureString},
	)
	for _, f := range logins {
		out = append(out, keyword{text: f, match: func(x *scan, at int) { x.loginCall(at + len(f)) }})
	}
	return out
}

// logins are functions that take a user and a password as strings.
var logins = [...]string{
	"networkcredential(", "passwordauthentication(", "basicauth(", "basic_auth(", "httpbasicauth(", "httpdigestauth(",
	"passwordcredentials(", "basicawscredentials(", "setbasicauth(", "plainauth(", ".login(", "auth=(", "auth = (",
	"getconnection(", "mysql_connect(", "mysqli_connect(", "new mysqli(", "new pdo(", "pg_connect(", "ftp_login(",
	"ldap_bind(", "imap_open(", "withbasicauth(", ".authenticate(", "awscredentials(", "passwordidentity(", "authenticator(",
}

// command masks the secrets on the command line that begins at offset at.
func (x *scan) command(c *command, at int) {
	if at > 0 && (isAlnum(x.s[at-1]) || strings.IndexByte("_.", x.s[at-1]) >= 0) {
		return
	}
	if c.name == x.lastCommand && at < x.commandEnd {
		return // the same word as an argument
	}
	i := at + len(strings.TrimRight(c.name, " "))
	args := arguments(x.s, i, 600)
	x.lastCommand, x.commandEnd = c.name, i
	if len(args) > 0 {
		x.commandEnd = args[len(args)-1].end
	}
	for k, a := range args {
		word := a.of(x.s)
		if k+1 < len(args) {
			v := args[k+1]
			switch {
			case listed(c.flags, word):
				x.argument(c, v)
			case listed(c.login, word):
				x.loginArgument(v)
			}
		}
		for g := range strings.FieldsSeq(c.glued) {
			if hasFold(word, 0, strings.ToLower(g)) && word[:len(g)] == g && len(word) > len(g)+2 {
				if v := word[len(g):]; g[0] != '-' || !wordlike(v) || len(v) > 8 {
					x.argument(c, span{a.start + len(g), a.end})
				}
			}
		}
		for g := range strings.FieldsSeq(c.login) {
			if strings.HasPrefix(g, "--") && strings.HasPrefix(word, g+"=") ||
				len(g) == 2 && strings.HasPrefix(word, g) && strings.Contains(word, ":") {
				x.loginArgument(span{a.start + len(g) + strings.Count(word[len(g):len(g)+1], "="), a.end})
			}
		}
	}
}

// listed reports whether word is one of the flags, in any case if they are long.
func listed(flags, word string) bool {
	for f := range strings.FieldsSeq(flags) {
		if f == word || len(f) > 4 && strings.EqualFold(f, word) {
			return true
		}
	}
	return false
}

// argument masks one argument unless it is plainly none.
func (x *scan) argument(c *command, v span) {
	w := strings.Trim(v.of(x.s), `"'\`)
	none := standsIn(w) || pathlike(w) && strings.ContainsAny(w, `/\`) || len(w) < 6 && strings.Trim(w, digits+":") == ""
	if strings.HasPrefix(w, "-") || w == "" || w == mark || none && !c.force {
		return
	}
	x.add("command-secret", v.start, v.end)
}

// loginArgument masks user:password, or user%password.
func (x *scan) loginArgument(v span) {
	w := strings.Trim(v.of(x.s), `"'\`)
	user, pass, ok := strings.Cut(w, ":")
	if !ok {
		user, pass, ok = strings.Cut(w, "%")
	}
	if !ok || isReference(user) || isTemplate(pass) {
		return
	}
	if pass == "" {
		pass = user // an API key in the place of the user
		if !random(user) {
			return
		}
	}
	if user == mark || isReference(pass) || isPlaceholder(pass) || isSecretWord(pass) || strings.EqualFold(user, pass) {
		return
	}
	start := v.start + strings.Index(v.of(x.s), w)
	x.add("command-login", start, start+len(w))
}

// arguments splits a command line at blanks outside quotes. A backslash at the
// end of a line continues it; a pipe, a semicolon or a line feed ends it.
func arguments(s string, i, limit int) []span {
	var out []span
	for hi := min(len(s), i+limit); i < hi && len(out) < 64; {
		switch {
		case isBlank(s[i]):
			i++
			continue
		case s[i] == '\\' && i+1 < hi && s[i+1] == '\n':
			i += 2
			continue
		case s[i] == '\n' || s[i] == '\r' || s[i] == '|' || s[i] == ';' || s[i] == '`':
			return out
		}
		j := i
		for j < hi && !isBlank(s[j]) && s[j] != '\n' && s[j] != '\r' {
			if q := quoteAt(s, j); q != "" && q != "`" {
				if k := strings.Index(s[j+len(q):hi], q); k >= 0 {
					j += k + 2*len(q)
					continue
				}
			}
			if s[j] == '`' || s[j] == '\\' && j+1 < hi && (s[j+1] == 'n' || s[j+1] == '"') {
				break
			}
			j++
		}
		if j == i {
			return out
		}
		out = append(out, span{i, j})
		i = j
	}
	return out
}

// netUse masks the password of net use: the first argument that is neither a
// drive, a share nor an option.
func (x *scan) netUse(at int) {
	for _, a := range arguments(x.s, at+len("net use"), 300) {
		w := a.of(x.s)
		if hasPrefix(w, "/", `\\`, `"\\`) || len(w) == 2 && w[1] == ':' || w == "*" {
			continue
		}
		if !isReference(w) && !isPlaceholder(w) && !isSecretWord(w) {
			x.add("command-secret", a.start, a.end)
		}
		return
	}
}

// secureString masks the text that PowerShell is to make a secure string of.
func (x *scan) secureString(at int) {
	i := skipBlanks(x.s, at+len("convertto-securestring"), 8)
	if hasFold(x.s, i, "-string ") {
		i = skipBlanks(x.s, i+len("-string "), 8)
	}
	v, ok := quoted(x.s, i)
	if !ok {
		return
	}
	if w := v.of(x.s); len(w) >= 4 && !isFiller(w) {
		x.add("command-secret", v.start, v.end)
	}
}

// loginCall masks the user and the password among the strings that a call takes:
// the last string that looks like a password, and the one before it.
func (x *scan) loginCall(i int) {
	s := x.s
	var found []span
	for hi := min(len(s), i+400); i < hi && len(found) < 5; {
		i = skipBlanks(s, i, 40)
		v, ok := quoted(s, i)
		if ok {
			found = append(found, v)
			i = v.end + len(quoteAt(s, i))
		} else {
			k := strings.IndexAny(s[i:hi], ",)\n\"'")
			if k < 0 {
				break
			}
			i += k
		}
		i = skipBlanks(s, i, 8)
		if i >= hi || s[i] != ',' {
			break
		}
		i++
	}
	for k := len(found) - 1; k >= 1; k-- {
		v, u := found[k], found[k-1]
		pass, user := v.of(s), u.of(s)
		if len(pass) < 4 || strings.Contains(pass, " ") || standsIn(pass) || pathlike(pass) || label(pass) || !evidence(pass) && len(pass) < 8 {
			continue
		}
		if len(user) >= 3 && !strings.ContainsAny(user, " :/") && !isPlaceholder(user) && !isReference(user) {
			x.add("login", u.start, u.end)
		}
		x.add("login-call", v.start, v.end)
		return
	}
}
