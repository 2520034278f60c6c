package redact

import "strings"

// A command is a program that takes secrets on its command line.
type command struct {
	name   string
	flags  string // those whose argument is a secret
	glued  string // those that may be written together with it: -pSECRET
	login  string // those whose argument is user:password
	force  bool   // mask variables as well: the command is nothing but a login
	place  int    // the argument that is a secret, flags not counted, from one
	always bool   // what is glued is never anything but a secret
	slash  bool   // the first argument is user/password, with a place behind it
}

// commands lists programs whose flags do not speak for themselves. A flag such
// as --password needs no row: the assignment rule knows it.
var commands = [...]command{
	{name: "curl ", login: "-u --user -U --proxy-user"},
	{name: "wget ", login: "--user"},
	{name: "http ", login: "-a --auth"},
	{name: "https ", login: "-a --auth"},
	{name: "sshpass ", flags: "-p", glued: "-p"},
	{name: "mysql ", glued: "-p", always: true},
	{name: "mysqldump ", glued: "-p", always: true},
	{name: "mysqladmin ", glued: "-p", always: true},
	{name: "mysqlimport ", glued: "-p", always: true},
	{name: "mysqlcheck ", glued: "-p", always: true},
	{name: "mysqlshow ", glued: "-p", always: true},
	{name: "mariadb ", glued: "-p", always: true},
	{name: "mariadb-dump ", glued: "-p", always: true},
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
	{name: "7z ", glued: "-p", always: true},
	{name: "7za ", glued: "-p", always: true},
	{name: "unrar ", glued: "-p", always: true},
	{name: "useradd ", flags: "-p --password"},
	{name: "usermod ", flags: "-p --password"},
	{name: "net user ", place: 2},
	{name: "vault login ", place: 1},
	{name: "vault operator unseal ", place: 1},
	{name: "bao login ", place: 1},
	{name: "bao operator unseal ", place: 1},
	{name: "rabbitmqctl add_user ", place: 2},
	{name: "rabbitmqctl change_password ", place: 2},
	{name: "poetry config http-basic", place: 3},
	{name: "composer config http-basic", place: 3},
	{name: "composer config --global http-basic", place: 3},
	{name: "aws ssm put-parameter ", flags: "--value"},
	{name: "schtasks ", flags: "/rp /p"},
	{name: "codecov ", flags: "-t"},
	{name: "snyk auth ", place: 1},
	{name: "rar ", glued: "-hp", always: true},
	{name: "winrs ", glued: "-p: /p: -password:"},
	{name: "addauth ", login: "digest"},
	{name: "poetry config pypi-token", place: 2},
	{name: "ngrok authtoken ", place: 1},
	{name: "ngrok config add-authtoken ", place: 1},
	{name: "cargo login ", place: 1},
	{name: "nuget setapikey ", place: 1},
	{name: "mc alias set ", place: 4},
	{name: "mc config host add ", place: 4},
	{name: "wpa_passphrase ", place: 2},
	{name: "htpasswd ", place: 3, flags: "-bnBC"},
	{name: "pulumi config set --secret ", place: 2},
	{name: "heroku authorizations:create ", flags: "-t"},
	{name: "sqlplus ", slash: true},
	{name: "sqlldr ", slash: true},
	{name: "expdp ", slash: true},
	{name: "impdp ", slash: true},
	{name: "rman target ", slash: true},
	{name: "influx config ", flags: "-t"},
	{name: "doctl auth ", flags: "-t --access-token"},
	{name: "fly auth ", flags: "-t"},
	{name: "gh secret set ", flags: "-b --body"},
	{name: "glab variable set ", flags: "-v --value"},
	{name: "glab auth login ", flags: "-t"},
	{name: "security ", flags: "-w -p"},
	{name: "ssh-keygen ", flags: "-N -P"},
	{name: "cypher-shell ", flags: "-p"},
	{name: "couchbase-cli ", flags: "-p"},
	{name: "ldapwhoami ", flags: "-w"},
	{name: "ldappasswd ", flags: "-w -s -a"},
	{name: "ldapdelete ", flags: "-w"},
	{name: "snmpget ", flags: "-A -X"},
	{name: "snmpset ", flags: "-A -X"},
	{name: "twine ", flags: "-p"},
	{name: "dotnet nuget push ", flags: "-k"},
	{name: "rdesktop ", flags: "-p"},
	{name: "pk12util ", flags: "-W -K"},
	{name: "swaks ", flags: "-ap"},
	{name: "mongorestore ", flags: "-p"},
	{name: "mongoexport ", flags: "-p"},
	{name: "mongoimport ", flags: "-p"},
	{name: "etcdctl ", login: "--user"},
	{name: "xh ", login: "-a --auth"},
	{name: "tea login add ", flags: "-t"},
	{name: "zip ", flags: "-P --password"},
	{name: "unzip ", flags: "-P"},
	{name: "lftp ", login: "-u"},
	{name: "keytool ", flags: "-storepass -keypass"},
	{name: "openssl ", glued: "pass:"},
	{name: "openssl aes", flags: "-k -K", glued: "pass:"},
	{name: "openssl des", flags: "-k -K", glued: "pass:"},
	{name: "openssl enc ", flags: "-k -K -iv", glued: "pass:"},
	{name: "apksigner ", glued: "pass:"},
	{name: "asterisk ", flags: "-p"},
	{name: "connect-viserver ", flags: "-user -password", force: true},
	{name: "rclone obscure ", place: 1},
	{name: "bw login ", place: 2},
	{name: "bw unlock ", place: 1},
	{name: "signtool ", flags: "/p"},
	{name: "az keyvault secret set ", flags: "--value"},
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
	for i := range out {
		out[i].skip = rarest(out[i].text)
	}
	return out
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
	x.placed(c, args)
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
			if c.name == "htpasswd " && k == 0 {
				if !strings.Contains(word, "b") {
					return // it asks for the password
				}
				n += strings.Count(word, "n") // and writes no file
			}
			continue
		}
		n++
		switch {
		case c.slash && n == 1:
			login, _, _ := strings.Cut(strings.Trim(word, `"'\`), "@")
			user, pass, ok := strings.Cut(login, "/")
			if ok && user != "" && len(pass) >= 3 && !standsIn(pass) && !strings.Contains(pass, "/") {
				start := a.start + strings.Index(word, login) + len(user) + 1
				x.add("command-secret", start, start+len(pass))
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
	none := isFiller(w) || isSecretWord(w) && !weakPassword(w) ||
		pathlike(w) && strings.ContainsAny(w, `/\`) || len(w) < 6 && strings.Trim(w, digits+":") == ""
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
	if user == mark || isReference(pass) || isPlaceholder(pass) || isSecretWord(pass) && !weakPassword(pass) ||
		strings.EqualFold(user, pass) {
		return
	}
	start := v.start + strings.Index(v.of(x.s), w)
	x.addBeside("command-login", start, start+len(w))
	at := start + len(w) - len(pass)
	if !strings.HasSuffix(w, pass) {
		at = start // the key in the place of the user
	}
	x.values = append(x.values, span{at, at + len(pass)})
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
func (x *scan) netUse(at int) {
	for _, a := range arguments(x.s, at+len("net use"), 300) {
		w := a.of(x.s)
		if hasPrefix(w, "/", `\`, `"\`) || len(w) == 2 && w[1] == ':' || w == "*" {
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
