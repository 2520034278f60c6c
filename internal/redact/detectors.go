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
	match matcher
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

// A matcher looks for a secret at a key, which stands from at to end.
type matcher func(x *scan, at, end int)

func row(rule, keys string, match matcher, about string) detector {
	return detector{rule: rule, keys: keys, match: match, about: about}
}

// places are the rows of what holds a secret by where it stands, whatever it looks like.
func places() []detector {
	return []detector{
		row("private-key", "-----begin ", (*scan).keyBlock, "A private key in a block, even if its end is cut off."),
		row("private-key", "-----end ", (*scan).keyBlockTail, "A private key whose beginning is cut off."),
		row("private-key", "private-lines:", (*scan).puttyKey, "The private lines of a key file of PuTTY."),
		row("private-key", `"kty"`, (*scan).webKey, "The private members of a JSON Web Key."),
		{rule: "jwt", keys: "eyJ", exact: true, match: (*scan).webToken, about: "A JSON Web Token."},
		row("address-password", "://", (*scan).address, "The user and the password of an address."),
		row("address-password", "@tcp(", (*scan).driverAddress, "The login of an address as Go's MySQL driver takes it."),
		row("address-password", "@localhost|@127.|@10.|@172.|@192.168.|@db", (*scan).door,
			"The password before the address of a machine that no scheme begins."),
		row("webhook-address", "//hook.|//hooks.|/hook/|/hooks/|/heartbeat/|/webhook/|/webhooks/|/webhookb2/", (*scan).hook,
			"What is random in the address of a webhook."),
		row("webhook-address", "gotify://|gotifys://|pushover://|pover://|slack://|discord://|teams://|msteams://|mmost://|"+
			"mattermost://|rocketchat://|ntfy://|tgram://|matrix://|zulip://|ifttt://|opsgenie://|pushbullet://", (*scan).notifier,
			"What is random in the address of a service that notifies, as Shoutrrr and Apprise take it."),
		{rule: "key-pair", keys: keyIDs, exact: true, match: (*scan).keyPair, about: "The secret behind the identifier of its key."},
		row("login-call", "client(|session(|search(|handler(", (*scan).clientCall,
			"The random strings that a client is made with."),
		row("authorization", "authorization", (*scan).authorization, "The credentials of an authorization header."),
		row("bearer", "bearer", (*scan).bearer, "The token behind the word bearer."),
		row("basic", "basic ", (*scan).basic, "Base64 of a login behind the word Basic."),
		row("cookie", "cookie", (*scan).cookies, "The values of cookies that name a session or a token, or are random."),
		row("netrc", "machine", (*scan).netrc, "An entry of .netrc."),
		row("mailer-login", "mail->", (*scan).mailer, "Host, user and password of PHP's mailer."),
		row("private", "private", (*scan).tag, "A <private> tag, which Redact strips."),
		row("piped-secret", "echo |printf ", (*scan).piped,
			"What is piped to a command that reads a secret, or written to a file of secrets."),
		row("piped-secret", "send", (*scan).typed, "What a script types where a program asks for a password."),
		row("piped-secret", " <<", (*scan).hereText, "A here document for a command that reads a secret."),
		row("printed-secret", "base64 -d|base64 --decode", (*scan).decoded, "What a command printed that decoded a secret."),
		row("recovery-code", "codes|code:", (*scan).codes, "Lists of codes that recover an account."),
		row("recovery-code", "backup code |recovery code ", (*scan).oneCode, "One such code."),
		row("named-secret", "jwt.|hmac", (*scan).signingCall, "The key that a function signs with."),
		row("named-secret", "fernet(|aesgcm(|aes.new(|secretbox(|secretkeyspec(|chacha20poly1305(", (*scan).cipherCall,
			"The key that a function encrypts with."),
		row("login",
			"login=|login: |userpwd|credential|ssh in |creds |creds:|zugangsdaten|log in|login with|login as|sign in",
			(*scan).pairOfLogin, "The password of a pair in prose: log in with admin:…."),
		row("login", "user=", (*scan).userValue, "The password of a user that is given with it: user=ops:…."),
		row("login", ".com:|.org:|.net:|.io:|.dev:|.local:|.edu:|.com / |.org / |.net / |.io / |.dev / ", (*scan).mailbox,
			"A password behind an address of mail."),
		row("pin",
			"pin |pin:|pin=|unlock code|access code|security code|verification code|door code|combination |otp |otp:",
			(*scan).pin, "The digits of a PIN and of codes that open something."),
		row("pin", "code is ", (*scan).codeIs, "Such a code where a sentence says what it is."),
		row("otp-seed", "fa seed|otp seed", (*scan).seed, "The seed of one-time passwords."),
		{rule: "kubernetes-secret", keys: "kind: Secret", exact: true, match: (*scan).manifest, about: "The values of a Secret of Kubernetes."},
		row("kubernetes-secret", `"secret"`, (*scan).jsonManifest, "The same in JSON."),
		row("kubernetes-secret", "--from-literal", (*scan).fromLiteral, "What such a Secret is made of on a command line."),
		row("password", "chpasswd:", (*scan).passwordList, "The users and passwords of cloud-init."),
		row("password", "insert into ", (*scan).insertInto, "What SQL puts into columns that are named for secrets."),
		row("password", "identified ", (*scan).identifiedBy, "The password of a user in SQL, without quotes."),
		{
			rule: "password", keys: foreignKeys(), match: (*scan).foreign, named: true,
			about: "The value behind a word for password of another language.",
		},
		row("login-call",
			"networkcredential(|passwordauthentication(|basicauth(|basic_auth(|basic_auth |->connect(|database(|httpbasicauth(|"+
				"httpdigestauth(|db.auth(|twilio(|twilio.client(|twilio.rest.client(|sequelize(|usernamepasswordtoken(|"+
				"passwordcredentials(|basicawscredentials(|setbasicauth(|plainauth(|.login(|auth=(|auth = (|getconnection(|"+
				"mysql_connect(|mysqli_connect(|new mysqli(|new pdo(|pg_connect(|ftp_login(|ldap_bind(|imap_open(|withbasicauth(|"+
				".authenticate(|awscredentials(|passwordidentity(|authenticator(",
			(*scan).loginCall, "User and password among the strings that a function takes."),
	}
}

// keyIDs are the beginnings of identifiers of keys that are issued with a secret: AWS, Alibaba, Tencent,
// Scaleway, Twilio, Razorpay.
const keyIDs = "AKIA|ASIA|LTAI|AKID|SCW|rzp_live_|rzp_test_|" +
	"AC0|AC1|AC2|AC3|AC4|AC5|AC6|AC7|AC8|AC9|ACa|ACb|ACc|ACd|ACe|ACf"

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
