package redact

import "strings"

// logins are functions that take a user and a password as strings.
var logins = [...]string{
	"networkcredential(", "passwordauthentication(", "basicauth(", "basic_auth(", "basic_auth ", "->connect(", "database(",
	"httpbasicauth(",
	"httpdigestauth(", "db.auth(", "twilio(", "twilio.client(", "twilio.rest.client(", "sequelize(", "usernamepasswordtoken(",
	"passwordcredentials(", "basicawscredentials(", "setbasicauth(", "plainauth(", ".login(", "auth=(", "auth = (",
	"getconnection(", "mysql_connect(", "mysqli_connect(", "new mysqli(", "new pdo(", "pg_connect(", "ftp_login(",
	"ldap_bind(", "imap_open(", "withbasicauth(", ".authenticate(", "awscredentials(", "passwordidentity(", "authenticator(",
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
	if len(found) == 1 && random(found[0].of(s)) {
		x.add("login-call", found[0].start, found[0].end) // client.login('…')
	}
	for k := len(found) - 1; k >= 1; k-- {
		v, u := found[k], found[k-1]
		pass, user := v.of(s), u.of(s)
		if len(pass) < 4 || strings.Contains(pass, " ") || standsIn(pass) && !weakPassword(pass) || pathlike(pass) || label(pass) ||
			strings.EqualFold(pass, user) {
			continue
		}
		if len(user) >= 3 && !strings.ContainsAny(user, " :/") && !isPlaceholder(user) && !isReference(user) {
			x.addBeside("login", u.start, u.end)
		}
		x.add("login-call", v.start, v.end)
		return
	}
}
