package risk

import (
	"regexp"
	"strings"
	"sync"
)

// secretPaths are where programs keep credentials, after their manuals: the shells' and frameworks' .env, ssh(1), aws, gcloud,
// az, kubectl, docker, npm, pip, cargo, gem, netrc(5), PostgreSQL, MySQL, git-credential-store, GnuPG, pass, Vault, Terraform,
// gh, the agents, the key chains and browsers of macOS, Linux and Windows, and the store of this program. The samples of
// .env that belong into a repository are none.
var secretPaths = sync.OnceValue(func() (all []*regexp.Regexp) {
	const from, to = `(?i)(?:^|[\s"'\x60(=@:/\\<|,])`, `(?:$|[\s"'\x60),;:!?|>]|\.(?:$|\s))`
	for _, form := range []string{
		`\.env(?:\.(?:local|prod|production|dev|development|staging|secret|secrets|live|ci))*`,
		`(?:~|\$HOME|/home/\S+?|/root|/Users/\S+?)?/?\.(?:ssh|aws|gnupg|kube|azure|password-store|anamnesis)(?:[/\\]\S*)?`,
		`id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?`,
		`[\w./~-]+\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk|ovpn)`,
		`[\w.~-]*/[\w./~-]*\.key`,
		`(?:[\w~./-]*/)?[._](?:netrc|pgpass|my\.cnf|git-credentials|dockercfg|vault-token|s3cfg|boto|pypirc|npmrc|htpasswd|terraformrc)`,
		`(?:[\w~./-]*/)?(?:kubeconfig|service[-_]?account[\w-]*\.json|application_default_credentials\.json|client_secrets?\.json` +
			`|credentials\.(?:json|toml|csv|xml))`,
		`\S*\.config[/\\](?:gcloud|gh|hub|op|doctl|google-chrome|chromium|BraveSoftware)(?:[/\\]\S*)?`,
		`\S*\.(?:docker[/\\]config\.json|claude[/\\]\.credentials\.json|codex[/\\]auth\.json|gemini[/\\]oauth_creds\.json` +
			`|cargo[/\\]credentials\S*|` +
			`m2[/\\]settings\.xml|gem[/\\]credentials|mozilla[/\\]\S*)`,
		`\S*(?:Library[/\\]Keychains|Application Support[/\\](?:Google|Firefox|BraveSoftware)|AppData[/\\](?:Local` +
			`|Roaming)[/\\](?:Google|Mozilla|Microsoft[/\\]Credentials))\S*`,
		`/etc/(?:shadow|sudoers|ssl/private\S*)|/proc/(?:self|\d+|\*)/environ|(?:[\w~./-]*/)?\.(?:bash|zsh|psql|mysql)_history`,
	} {
		all = append(all, regexp.MustCompile(from+`(`+form+`)`+to))
	}
	return all
})

var (
	// secretVariable is the value of a variable whose name says that it is a secret.
	secretVariable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\$\{?(?:env:)?\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)\w*`)
	})
	// secretWord is an argument with which programs print a secret: "auth token", "get secret".
	secretWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[\x60$\n]\s*|[\s(])(gh|glab|gcloud|aws|az|kubectl|oc|vault|op|pass|bw|security|secret-tool` +
			`|gpg|gpg2|doppler|heroku|fly|flyctl|npm|docker|` +
			`keyctl|cmdkey|git)\s+[^\n\x60|;]{0,60}?\b((?:print-)?(?:access-|identity-|id-)?tokens?|(?:get-)?secrets?(?:-value)?` +
			`|export-secret-\w+|` +
			`export-credentials|credentials?|find-(?:generic|internet)-password|dump-keychain|passwords?|read op://\S+|credential fill)\b`)
	})
)

// secrets returns the credentials that a text names.
func secrets(text string) (all []suspect) {
	for _, form := range secretPaths() {
		for _, m := range form.FindAllStringSubmatch(text, 16) {
			if strings.HasSuffix(m[1], ".pub") {
				continue
			}
			all = append(all, suspect{text: m[1], why: "names credentials: " + part(m[1])})
		}
	}
	for _, m := range secretVariable().FindAllString(text, 16) {
		all = append(all, suspect{text: m, why: "uses the value of a secret: " + m})
	}
	for _, m := range secretWord().FindAllString(text, 16) {
		m = strings.Trim(m, " \n`$(")
		all = append(all, suspect{text: m, why: "prints a secret"})
	}
	return all
}
