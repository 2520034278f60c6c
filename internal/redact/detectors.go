package redact

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A detector is a row of the table of all that gives a secret away. What is found under its
// keys bears the name of its rule, but for names and values: there the class of the name
// says what it is.
type detector struct {
	rule  string
	keys  string // parted by |: one must stand in a text before the matcher is asked; three bytes each at least
	match func(x *scan, at, end int)
	about string // what it finds

	exact   bool // keys are meant letter by letter; else in any case of ASCII
	named   bool // keys are looked for by their beginnings, so that rows which know one name are asked in order
	pattern *pattern
}

// detectors returns the table. Where several rows know what stands at one place, they are asked
// in its order. TestAblation switches each row off, and wants a case that notices.
var detectors = sync.OnceValue(func() []detector {
	return slices.Concat(places(), commandLines(), patterns(rulesText), []detector{{
		rule: "password", match: (*scan).assignment, named: true,
		about: "The value that is given to a name: password, named-secret, possible-secret.",
		keys: "pass|pwd|secret|token|key|auth|cred|psk|session|signature|salt|kennwort|contrase|senha|webhook|dsn|phrase|mnemonic|" +
			"masterauth|authtok|pw=|pw:|pw |_pat|_pw|bindpw|rootpw|userpw|adminpw|jwt|otp|sessid|connectionstring|connection_string",
	}})
})

// places are the rows of what holds a secret by where it stands, whatever it looks like.
func places() []detector {
	return []detector{
		{rule: "private-key", keys: "-----begin ", match: (*scan).keyBlock, about: "A private key in a block, even if its end is cut off."},
		{rule: "private-key", keys: "-----end ", match: (*scan).keyBlockTail, about: "A private key whose beginning is cut off."},
		{rule: "private-key", keys: "private-lines:", match: (*scan).puttyKey, about: "The private lines of a key file of PuTTY."},
		{rule: "private-key", keys: `"kty"`, match: (*scan).webKey, about: "The private members of a JSON Web Key."},
		{rule: "jwt", keys: "eyJ", exact: true, match: (*scan).webToken, about: "A JSON Web Token."},
		{rule: "address-password", keys: "://", match: (*scan).address, about: "The user and the password of an address."},
		{rule: "address-password", keys: "@tcp(", match: (*scan).driverAddress, about: "The login of an address as Go's MySQL driver takes it."},
		{rule: "authorization", keys: "authorization", match: (*scan).authorization, about: "The credentials of an authorization header."},
		{rule: "bearer", keys: "bearer", match: (*scan).bearer, about: "The token behind the word bearer."},
		{rule: "basic", keys: "basic ", match: (*scan).basic, about: "Base64 of a login behind the word Basic."},
		{rule: "cookie", keys: "cookie", match: (*scan).cookies, about: "The values of cookies that name a session or a token, or are random."},
		{rule: "netrc", keys: "machine", match: (*scan).netrc, about: "An entry of .netrc."},
		{rule: "mailer-login", keys: "mail->", match: (*scan).mailer, about: "Host, user and password of PHP's mailer."},
		{rule: "private", keys: "private", match: (*scan).tag, about: "A <private> tag, which Redact strips."},
		{rule: "piped-secret", keys: "echo |printf ", match: (*scan).piped, about: "What is piped to a command that reads a secret, or written to a file of secrets."},
		{rule: "piped-secret", keys: "send", match: (*scan).typed, about: "What a script types where a program asks for a password."},
		{rule: "piped-secret", keys: " <<", match: (*scan).hereText, about: "A here document for a command that reads a secret."},
		{rule: "printed-secret", keys: "base64 -d|base64 --decode", match: (*scan).decoded, about: "What a command printed that decoded a secret."},
		{rule: "recovery-code", keys: "codes|code:", match: (*scan).codes, about: "Lists of codes that recover an account."},
		{rule: "recovery-code", keys: "backup code |recovery code ", match: (*scan).oneCode, about: "One such code."},
		{rule: "named-secret", keys: "jwt.|hmac", match: (*scan).signingCall, about: "The key that a function signs with."},
		{
			rule: "login", match: (*scan).pairOfLogin, about: "The password of a pair in prose: log in with admin:….",
			keys: "login=|login: |userpwd|credential|ssh in |creds |zugangsdaten|log in|login with|login as|sign in",
		},
		{rule: "login", keys: ".com:|.org:|.net:|.io:|.dev:|.local:|.edu:|.com / |.org / |.net / ", match: (*scan).mailbox, about: "A password behind an address of mail."},
		{
			rule: "pin", match: (*scan).pin, about: "The digits of a PIN and of codes that open something.",
			keys: "pin |pin:|pin=|unlock code|access code|security code|verification code|door code|combination |otp |otp:",
		},
		{rule: "pin", keys: "code is ", match: (*scan).codeIs, about: "Such a code where a sentence says what it is."},
		{rule: "otp-seed", keys: "fa seed|otp seed", match: (*scan).seed, about: "The seed of one-time passwords."},
		{rule: "kubernetes-secret", keys: "kind: Secret", exact: true, match: (*scan).manifest, about: "The values of a Secret of Kubernetes."},
		{rule: "kubernetes-secret", keys: `"secret"`, match: (*scan).jsonManifest, about: "The same in JSON."},
		{rule: "kubernetes-secret", keys: "--from-literal", match: (*scan).fromLiteral, about: "What such a Secret is made of on a command line."},
		{rule: "password", keys: "chpasswd:", match: (*scan).passwordList, about: "The users and passwords of cloud-init."},
		{rule: "password", keys: "insert into ", match: (*scan).insertInto, about: "What SQL puts into columns that are named for secrets."},
		{rule: "password", keys: "identified ", match: (*scan).identifiedBy, about: "The password of a user in SQL, without quotes."},
		{rule: "password", keys: foreignKeys(), match: (*scan).foreign, named: true, about: "The value behind a word for password of another language."},
		{
			rule: "login-call", match: (*scan).loginCall, about: "User and password among the strings that a function takes.",
			keys: "networkcredential(|passwordauthentication(|basicauth(|basic_auth(|basic_auth |->connect(|database(|httpbasicauth(|" +
				"httpdigestauth(|db.auth(|twilio(|twilio.client(|twilio.rest.client(|sequelize(|usernamepasswordtoken(|" +
				"passwordcredentials(|basicawscredentials(|setbasicauth(|plainauth(|.login(|auth=(|auth = (|getconnection(|" +
				"mysql_connect(|mysqli_connect(|new mysqli(|new pdo(|pg_connect(|ftp_login(|ldap_bind(|imap_open(|withbasicauth(|" +
				".authenticate(|awscredentials(|passwordidentity(|authenticator(",
		},
	}
}

// foreignKeys lists the words for a password of other languages, and those in capitals that
// begin with no letter of ASCII.
func foreignKeys() string {
	var all []string
	for _, w := range foreignNames() {
		w = strings.ReplaceAll(w, "_", " ")
		all = append(all, w)
		if first, n := utf8.DecodeRuneInString(w); first >= utf8.RuneSelf && unicode.ToUpper(first) != first {
			all = append(all, string(unicode.ToUpper(first))+w[n:])
		}
	}
	return strings.Join(all, "|")
}
