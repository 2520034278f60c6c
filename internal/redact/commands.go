package redact

import "strings"

// A command is what a program takes of secrets on its command line.
type command struct {
	flags  string // those whose argument is a secret
	glued  string // those that may be written together with it: -pSECRET
	login  string // those whose argument is user:password
	place  int    // the argument that is a secret, flags not counted, from one
	always bool   // what is glued is never anything but a secret
	force  bool   // mask what looks like a variable as well: the command is nothing but a login
	slash  bool   // the first argument is user/password, with a place behind it
	jar    string // those whose argument is cookies
	pair   bool   // an argument may be user:password
	asks   bool   // it asks for the secret, unless its first flags hold a b
}

// commandLines are the rows of programs whose flags do not speak for themselves. A flag such
// as --password needs none: the names know it.
func commandLines() []detector {
	flags := func(about, programs string, c command) detector {
		rule := "command-secret"
		if c.login != "" {
			rule = "command-login"
		}
		return row(rule, programs, (&c).read, about)
	}
	return []detector{
		flags("The login of curl.", "curl ", command{login: "-u --user -U --proxy-user", jar: "-b --cookie"}),
		flags("Logins behind --user.", "wget |etcdctl ", command{login: "--user"}),
		flags("The login of HTTPie and xh.", "http |https |xh ", command{login: "-a --auth"}),
		flags("The password of sshpass.", "sshpass ", command{flags: "-p", glued: "-p"}),
		flags("Passwords of MySQL and of archives, which stand behind -p without a blank.",
			"mysql |mysqldump |mysqladmin |mysqlimport |mysqlcheck |mysqlshow |mariadb |mariadb-dump |7z |7za |unrar ",
			command{glued: "-p", always: true}),
		flags("Passwords behind -p.",
			"mongo |mongosh |mongodump |cqlsh |docker login|podman login|buildah login|helm registry login|oc login|"+
				"az login|cf login|psexec|smbmap |cypher-shell |couchbase-cli |twine |rdesktop |mongorestore |mongoexport |"+
				"mongoimport |asterisk ", command{flags: "-p"}),
		flags("The password of redis-cli.", "redis-cli ", command{flags: "-a"}),
		flags("The password of influx.", "influx ", command{flags: "-password -p"}),
		flags("Passwords of SQL Server.", "sqlcmd |bcp ", command{flags: "-P", glued: "-P"}),
		flags("The tokens of kubeadm.", "kubeadm ", command{flags: "--token --discovery-token --tls-bootstrap-token --certificate-key"}),
		flags("The password of root in Kickstart.", "rootpw ", command{flags: "--plaintext --iscrypted"}),
		flags("Logins of Samba.", "smbclient |rpcclient ", command{login: "-U"}),
		flags("Passwords and hashes of tools for testing Windows.", "crackmapexec |evil-winrm ", command{flags: "-p -H"}),
		flags("Passwords of LDAP.", "ldapsearch |ldapmodify |ldapadd |ldapwhoami |ldapdelete ", command{flags: "-w"}),
		flags("Passwords behind -P.", "mosquitto_pub |mosquitto_sub |ipmitool |unzip ", command{flags: "-P"}),
		flags("Pass phrases of SNMP.", "snmpwalk |snmpget |snmpset ", command{flags: "-A -X"}),
		flags("The password of xfreerdp.", "xfreerdp ", command{glued: "/p:"}),
		flags("Passwords of new users.", "useradd |usermod ", command{flags: "-p --password"}),
		flags("Secrets in the second place.",
			"net user |rabbitmqctl add_user |rabbitmqctl change_password |poetry config pypi-token|wpa_passphrase |"+
				"pulumi config set --secret |bw login |sentinel auth-pass ", command{place: 2}),
		flags("Secrets in the first place.",
			"vault login |vault operator unseal |bao login |bao operator unseal |snyk auth |ngrok authtoken |"+
				"ngrok config add-authtoken |cargo login |oathtool |nuget setapikey |rclone obscure |bw unlock |"+
				"cloudflared service install |ansible-vault encrypt_string ", command{place: 1}),
		flags("Logins of package registries.", "http-basic.", command{place: 3}),
		flags("Secrets that are stored in AWS and Azure.", "aws ssm put-parameter |aws secretsmanager |az keyvault secret set ",
			command{flags: "--value --secret-string"}),
		flags("Passwords of planned tasks of Windows.", "schtasks ", command{flags: "/rp /p"}),
		flags("Tokens behind -t.",
			"codecov |codecov.io/bash|heroku authorizations:create |influx config |fly auth |glab auth login |tea login add ", command{flags: "-t"}),
		flags("The password of rar.", "rar ", command{glued: "-hp", always: true}),
		flags("The password of winrs.", "winrs ", command{glued: "-p: /p: -password:"}),
		flags("The login of ZooKeeper.", "addauth ", command{login: "digest"}),
		flags("The secret key of MinIO.", "mc alias set |mc config host add ", command{place: 4}),
		flags("The password of htpasswd.", "htpasswd ", command{place: 3, asks: true}),
		flags("Logins of Oracle: user/password@place.", "sqlplus |sqlldr |expdp |impdp |rman target ", command{slash: true}),
		flags("The token of DigitalOcean.", "doctl auth ", command{flags: "-t --access-token"}),
		flags("Secrets of GitHub.", "gh secret set ", command{flags: "-b --body"}),
		flags("Variables of GitLab.", "glab variable set ", command{flags: "-v --value"}),
		flags("Passwords of the keychain of macOS.", "security ", command{flags: "-w -p"}),
		flags("The pass phrase of ssh-keygen.", "ssh-keygen ", command{flags: "-N -P"}),
		flags("Passwords of ldappasswd.", "ldappasswd ", command{flags: "-w -s -a"}),
		flags("The key of NuGet.", "dotnet nuget push ", command{flags: "-k"}),
		flags("Passwords of pk12util.", "pk12util ", command{flags: "-W -K"}),
		flags("The password of swaks.", "swaks ", command{flags: "-ap"}),
		flags("The password of zip.", "zip ", command{flags: "-P --password"}),
		flags("The login of lftp.", "lftp ", command{login: "-u"}),
		flags("Pass phrases of openssl and apksigner.", "openssl |apksigner ", command{glued: "pass:"}),
		flags("Keys of the ciphers of openssl.", "openssl aes|openssl des", command{flags: "-k -K", glued: "pass:"}),
		flags("Keys of openssl enc.", "openssl enc ", command{flags: "-k -K -iv", glued: "pass:"}),
		flags("Logins of sources of gems.", "bundle config |bundler config ", command{pair: true}),
		flags("The login of VMware.", "connect-viserver ", command{flags: "-user -password", force: true}),
		flags("The password of signtool.", "signtool ", command{flags: "/p"}),
		row("command-secret", "net use ", (*scan).netUse, "The password of net use."),
		row("command-secret", "convertto-securestring ", (*scan).secureString, "The text of a secure string of PowerShell."),
		row("command-secret", " -u | --user | --username ", (*scan).userFlag, "A password flag beside one for a user, of any program."),
		row("command-secret", " login ", (*scan).loginCommand, "The last of two arguments of login."),
		row("command-secret", " -p:| /p:", (*scan).slashFlag, "What is glued to -p: and /p:."),
	}
}

// read masks the secrets on the command line whose program stands from at to end.
func (c *command) read(x *scan, at, end int) {
	if at > 0 && (isAlnum(x.s[at-1]) || strings.IndexByte("_.", x.s[at-1]) >= 0) {
		return
	}
	if c == x.lastCommand && at < x.commandEnd {
		return // the same word as an argument
	}
	args := arguments(x.s, end, 600)
	x.lastCommand, x.commandEnd = c, end
	if len(args) > 0 {
		x.commandEnd = args[len(args)-1].end
	}
	x.placed(c, args)
	for k, a := range args {
		word := a.of(x.s)
		if user, _, ok := strings.Cut(word, ":"); c.pair && ok {
			x.secondOf(user, span{a.start + len(user) + 1, a.end})
		}
		if k+1 < len(args) {
			v := args[k+1]
			switch {
			case listed(c.flags, word):
				x.argument(c, v)
			case listed(c.login, word):
				x.loginArgument(v)
			case listed(c.jar, word):
				x.cookieList(v.start+len(quoteAt(x.s, v.start)), v.end)
			}
		}
		if flag, _, ok := strings.Cut(word, "="); ok && len(flag) == 2 && listed(c.flags, flag) {
			x.argument(c, span{a.start + len(flag) + 1, a.end})
		}
		for g := range strings.FieldsSeq(c.glued) {
			if hasFold(word, 0, strings.ToLower(g)) && word[:len(g)] == g && len(word) > len(g)+2 {
				if v := word[len(g):]; g[0] != '-' || c.always || !wordlike(v) || len(v) > 8 {
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

// placed masks the argument of a command that is a secret by its place.
func (x *scan) placed(c *command, args []span) {
	n := 0
	for k, a := range args {
		word := a.of(x.s)
		if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "<") || strings.HasPrefix(word, ">") {
			if c.asks && k == 0 {
				if !strings.Contains(word, "b") {
					return
				}
				n += strings.Count(word, "n") // and writes no file
			}
			continue
		}
		if k > 0 && !c.asks && wordlike(word) && strings.HasPrefix(args[k-1].of(x.s), "-") {
			continue // --registry my-registry
		}
		n++
		switch {
		case c.slash && n == 1:
			login, _, _ := strings.Cut(strings.Trim(word, `"'\`), "@")
			user, pass, ok := strings.Cut(login, "/")
			if ok && user != "" && len(pass) >= 3 && !standsIn(pass) && !strings.Contains(pass, "/") {
				start := a.start + strings.Index(word, login) + len(user) + 1
				x.add(start, start+len(pass))
			}
			return
		case n == c.place:
			if !strings.ContainsAny(word, "=/:") || len(word) >= 40 || strings.HasSuffix(word, "=") {
				x.argument(c, a)
			}
			return
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
	none := isFiller(w) || isFiller(v.of(x.s)) || isSecretWord(w) && !weakPassword(w) ||
		pathlike(w) && strings.ContainsAny(w, `/\`) || len(w) < 6 && strings.Trim(w, digits+":") == ""
	if strings.HasPrefix(w, "-") || w == "" || w == mark || none && !c.force {
		return
	}
	x.add(v.start, v.end)
}

// loginArgument masks user:password, user%password of Samba, or user,password of lftp.
func (x *scan) loginArgument(v span) {
	w := strings.Trim(v.of(x.s), `"'\`)
	user, pass, ok := strings.Cut(w, ":")
	for _, sep := range [...]string{"%", ","} {
		if !ok {
			user, pass, ok = strings.Cut(w, sep)
		}
	}
	if !ok || isReference(user) || isTemplate(pass) || user == mark {
		return
	}
	start := v.start + strings.Index(v.of(x.s), w)
	switch {
	case pass == "" && random(user): // an API key in the place of the user
		x.add(start, start+len(user))
	case standsIn(pass) && !weakPassword(pass), strings.EqualFold(user, pass):
	default:
		x.addBeside(start, start+len(w))
		x.values = append(x.values, span{start + len(w) - len(pass), start + len(w)})
	}
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
				if k := strings.Index(s[min(hi, j+len(q)):hi], q); k >= 0 {
					j += k + 2*len(q)
					continue
				}
			}
			if strings.HasPrefix(s[j:hi], `\\`) {
				j += 2
				continue
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
func (x *scan) netUse(at, i int) {
	if !boundary(x.s, at) {
		return // subnet use
	}
	for _, a := range arguments(x.s, i, 300) {
		w := a.of(x.s)
		if hasPrefix(w, "/", `\`, `"\`) || len(w) == 2 && w[1] == ':' || w == "*" {
			continue
		}
		if !isReference(w) && !isPlaceholder(w) && !isSecretWord(w) {
			x.add(a.start, a.end)
		}
		return
	}
}

// secureString masks the text that PowerShell is to make a secure string of.
func (x *scan) secureString(_, i int) {
	i = skipBlanks(x.s, i, 8)
	if hasFold(x.s, i, "-string ") {
		i = skipBlanks(x.s, i+len("-string "), 8)
	}
	v, ok := quoted(x.s, i)
	if !ok {
		return
	}
	if w := v.of(x.s); len(w) >= 4 && !isFiller(w) {
		x.add(v.start, v.end)
	}
}
