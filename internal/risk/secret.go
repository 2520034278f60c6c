package risk

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// secretPaths are where programs keep credentials, after their manuals: the shells' and frameworks' .env, ssh(1), aws, gcloud,
// az, kubectl, docker, npm, pip, cargo, gem, netrc(5), PostgreSQL, MySQL, git-credential-store, GnuPG, pass, Vault, Terraform,
// gh, the agents, the key chains and browsers of macOS, Linux and Windows, and the store of this program. The samples of
// .env that belong into a repository are none.
var secretPaths = sync.OnceValue(func() []form {
	return []form{
		{words(".env"), lazily(secretFrom + `\.env(?:\.(?:local|prod|production|dev|development|staging|secret|secrets|live|ci))*` + secretTo)},
		{words(".ssh .aws .gnupg .kube .azure .password-store .anamnesis"), lazily(secretFrom + `(?:~|\$HOME|/home/\S+?|/root` +
			`|/Users/\S+?)?/?\.(?:ssh|aws|gnupg|kube|azure|password-store|anamnesis)(?:[/\\]\S*)?` + secretTo)},
		{words("id_"), lazily(secretFrom + `id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?` + secretTo)},
		{words(".pem .p12 .pfx .jks .keystore .kdbx .ppk .ovpn"), lazily(secretFrom + `[\w./~-]+\.(?:pem|p12|pfx|jks|keystore|kdbx` +
			`|ppk|ovpn)` + secretTo)},
		{words(".key"), lazily(secretFrom + `[\w.~-]*/[\w./~-]*\.key` + secretTo)},
		{
			words("netrc pgpass my.cnf git-credentials dockercfg vault-token s3cfg boto pypirc npmrc htpasswd terraformrc"),
			lazily(secretFrom + `(?:[\w~./-]*/)?[._](?:netrc|pgpass|my\.cnf|git-credentials|dockercfg|vault-token|s3cfg|boto|pypirc` +
				`|npmrc|htpasswd|terraformrc)` + secretTo),
		},
		{words("kubeconfig .json credentials"), lazily(secretFrom + `(?:[\w~./-]*/)?(?:kubeconfig|service[-_]?account[\w-]*\.json` +
			`|application_default_credentials\.json|client_secrets?\.json` +
			`|credentials\.(?:json|toml|csv|xml))` + secretTo)},
		{words(".config"), lazily(secretFrom + `\S*\.config[/\\](?:gcloud|gh|hub|op|doctl|google-chrome|chromium` +
			`|BraveSoftware)(?:[/\\]\S*)?` + secretTo)},
		{words(".json credentials settings.xml .mozilla"), lazily(secretFrom + `\S*\.(?:docker[/\\]config\.json` +
			`|claude[/\\]\.credentials\.json|codex[/\\]auth\.json|gemini[/\\]oauth_creds\.json` +
			`|cargo[/\\]credentials\S*|` +
			`m2[/\\]settings\.xml|gem[/\\]credentials|mozilla[/\\]\S*)` + secretTo)},
		{words("keychains support appdata"), lazily(secretFrom + `\S*(?:Library[/\\]Keychains|Application Support[/\\](?:Google` +
			`|Firefox|BraveSoftware)|AppData[/\\](?:Local` +
			`|Roaming)[/\\](?:Google|Mozilla|Microsoft[/\\]Credentials))\S*` + secretTo)},
		{words("/etc/ environ _history"), lazily(secretFrom + `/etc/(?:shadow|sudoers|ssl/private\S*)|/proc/(?:self|\d+|\*)/environ` +
			`|(?:[\w~./-]*/)?\.(?:bash|zsh|psql|mysql)_history` + secretTo)},
	}
})

// What is around the path of a secret.
const secretFrom, secretTo = `(?i)(?:^|[\s"'\x60(=@:/\\<|,])(`, `)(?:$|[\s"'\x60),;:!?|>]|\.(?:$|\s))`

// secretVariable is the value of a variable whose name says that it is a secret.
var secretVariable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{?(?:env:)?\w*(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|CREDENTIALS?)\w*`)
})

// printers print secrets that they keep, behind some words: gh auth token, kubectl get secret.
var printers = words("gh glab gcloud aws az kubectl oc vault op pass bw security secret-tool gpg gpg2 doppler heroku fly " +
	"flyctl npm docker keyctl cmdkey git")

var secretWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-{0,2}(?:(?:print-)?(?:access-|identity-|id-)?tokens?|(?:get-)?secrets?(?:-value)?|export-secret-[\w-]+|` +
		`export-credentials|credentials?|find-(?:generic|internet)-password|dump-keychain|passwords?|op://\S+)$`)
})

// prints says that a command prints a secret. In prose a name that is a word, too, is none of a program.
func prints(program string, form []string, code bool) string {
	if !slices.Contains(printers, program) || !code && slices.Contains(words("op pass security fly git"), program) {
		return ""
	}
	if (program == "pass" || program == "bw") && len(form) > 1 || slices.ContainsFunc(form[1:min(len(form), 6)], secretWord().MatchString) {
		return "prints a secret"
	}
	return ""
}

// emptied is a statement of SQL that empties a table, where package claim does not know it.
var emptied = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\btruncate\s+(?:only\s+)?[\w."]+(?:\s+cascade)?\s*;`)
})

// secrets returns the credentials that a text names.
func secrets(text string) (all []suspect) {
	low := strings.ToLower(text)
	for i := range secretPaths() {
		if !secretPaths()[i].may(low) {
			continue
		}
		for _, m := range secretPaths()[i].get().FindAllStringSubmatch(text, 16) {
			if strings.HasSuffix(m[1], ".pub") {
				continue
			}
			all = append(all, suspect{text: m[1], why: "names credentials: " + part(m[1])})
		}
	}
	if !strings.Contains(low, "$") && !strings.Contains(low, "truncate") {
		return all
	}
	for _, m := range emptied().FindAllString(text, 4) {
		all = append(all, suspect{text: m, why: "deletes: " + part(m)})
	}
	for _, m := range secretVariable().FindAllString(text, 16) {
		all = append(all, suspect{text: m, why: "uses the value of a secret: " + m})
	}
	return all
}
