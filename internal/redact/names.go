package redact

import "strings"

// nameStems are the letters a name must hold before we look at it at all.
const nameStems = "pass pwd secret token key auth cred psk session signature salt kennwort contrase senha webhook dsn _pat _pw bindpw rootpw userpw adminpw jwt otp sessid connectionstring connection_string"

// A class says how much a name promises.
type class int

const (
	ordinary class = iota
	weak           // may name a secret: key, session, token_x; only a random value counts
	bare           // secret or token alone, a word of prose and of parsers as well
	secret         // names a secret: api_key, access_token, client-secret
	password       // names a password, which people choose and which may look like a word
)

// classify judges a name by its words: the last one says what a thing is, those
// before it say which.
func classify(name string) class {
	var words [24]string
	n := splitWords(strings.ToLower(name), name, &words)
	w := words[:n]
	for len(w) > 1 && transparent(w[len(w)-1]) {
		w = w[:len(w)-1]
	}
	if len(w) == 0 {
		return ordinary
	}
	last, before := w[len(w)-1], w[:len(w)-1]
	c := head(last, before)
	if c == ordinary {
		// The word stands before something else: TOKEN_GITHUB, but also token_type.
		if attribute(last) {
			return ordinary
		}
		for i := range before {
			if head(before[i], before[:i]) >= bare {
				return weak
			}
		}
		return ordinary
	}
	for _, v := range before {
		if verb(v) {
			return min(c, weak)
		}
	}
	return c
}

// splitWords cuts a name at its joints: _ - . and changes of case. It returns how many words there are.
func splitWords(low, name string, out *[24]string) int {
	n, start := 0, 0
	put := func(end int) {
		if end > start && n < len(out) {
			out[n] = low[start:end]
			n++
		}
		start = end
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case !isAlnum(c):
			put(i)
			start = i + 1
		case i > start && 'A' <= c && c <= 'Z' && ('a' <= name[i-1] && name[i-1] <= 'z' || isDigit(name[i-1]) || i+1 < len(name) && 'a' <= name[i+1] && name[i+1] <= 'z' && isLetter(name[i-1])):
			put(i)
		case i > start && isDigit(c) && isLetter(name[i-1]):
			put(i)
		}
	}
	put(len(name))
	return n
}

// head judges the word that says what the thing is.
func head(last string, before []string) class {
	compound := len(before) > 0
	switch last {
	case "password", "passwd", "passphrase", "passwort", "kennwort", "contrasena", "senha", "passcode", "psk", "pwd", "passw", "motdepasse", "pword":
		return password
	case "pass", "pw":
		if compound || last == "pass" {
			return password
		}
	case "secret", "secrets":
		if compound {
			if last == "secrets" {
				return weak
			}
			return secret
		}
		if last == "secrets" {
			return ordinary
		}
		return bare
	case "token":
		if compound {
			switch before[len(before)-1] {
			case "max", "min", "num", "next", "prev", "stop", "eos", "bos", "pad", "unk", "mask", "sep", "cls", "special", "syntax", "page", "continuation", "cancellation", "cancel", "per", "start", "end", "first", "last", "input", "output", "prompt", "completion", "total", "new", "one", "each", "this", "string", "kind", "lookahead", "peek", "expected", "unexpected":
				return weak
			}
			return secret
		}
		return bare
	case "pat":
		if compound {
			return weak // personal access token, or pattern
		}
	case "credential", "credentials", "creds", "cred":
		if compound {
			return secret
		}
		return bare
	case "key":
		if compound {
			return keyOf(before[len(before)-1], before)
		}
		return weak
	case "auth", "authorization", "session", "sessionid", "sessid", "sid", "phpsessid", "jsessionid", "signature", "salt", "jwt", "otp", "dsn", "webhook", "keys", "connectionstring", "string":
		if last == "string" && (!compound || before[len(before)-1] != "connection") {
			return ordinary
		}
		return weak
	}
	switch {
	case hasSuffix(last, "password", "passwd", "passphrase", "passwort", "kennwort"), strings.HasSuffix(last, "pwd") && last != "oldpwd":
		return password
	case hasSuffix(last, "requirepass", "dbpass", "userpass", "mypass", "smtppass", "mailpass", "rootpass", "adminpass", "ftppass", "sqlpass", "keypass", "storepass", "httppass", "proxypass", "bindpw", "rootpw", "userpw", "adminpw", "dbpw", "loginpass", "authpass"):
		return password
	case hasSuffix(last, "secret"), strings.HasSuffix(last, "token") && !strings.HasSuffix(last, "maxtoken"):
		return secret
	case hasSuffix(last, "apikey", "accesskey", "secretkey", "privatekey", "authkey", "licensekey", "masterkey", "accountkey", "appkey", "signingkey", "encryptionkey", "storagekey", "subscriptionkey", "sharedkey", "clientkey", "servicekey", "deploykey", "writekey", "readkey", "adminkey", "hmackey", "sshkey", "cryptkey", "streamkey", "querykey", "ingestkey", "insertkey"):
		return secret
	}
	return ordinary
}

// keyOf judges a key by the word before it.
func keyOf(w string, before []string) class {
	switch w {
	case "primary", "foreign", "public", "pub", "cache", "sort", "partition", "range", "hash", "map", "dict", "row", "index", "unique", "candidate", "composite", "lookup", "natural", "surrogate", "group", "object", "s3", "arrow", "enter", "hot", "short", "shortcut", "modifier", "meta", "ctrl", "control", "shift", "alt", "command", "escape", "tab", "left", "right", "up", "down", "return", "translation", "i18n", "locale", "message", "config", "setting", "property", "json", "yaml", "query", "registry", "host", "idempotency", "shard", "sharding", "order", "item", "field", "column", "node", "by", "any", "each", "first", "last", "next", "prev", "new", "old", "same", "parent", "child", "label", "redis", "memcached", "header", "path", "state", "id", "type", "event", "project", "feature", "dedup", "dedupe", "leader", "bind", "press", "on", "a", "the", "no", "has", "bucket":
		if w == "project" || w == "id" {
			return weak
		}
		return ordinary
	case "api", "access", "secret", "private", "account", "auth", "authentication", "encryption", "encrypt", "decryption", "decrypt", "signing", "sign", "master", "shared", "client", "consumer", "storage", "service", "subscription", "license", "licence", "ssh", "deploy", "deployment", "admin", "functions", "server", "writer", "write", "read", "ingest", "ingestion", "ingress", "insert", "insights", "integration", "webhook", "sas", "symmetric", "hmac", "jwt", "cookie", "crypto", "crypt", "cipher", "aes", "des", "rsa", "root", "developer", "bot", "rest", "vault", "unseal", "recovery", "wallet", "activation", "security", "app", "application", "user", "session", "stream", "preshared", "wg", "ec", "push", "sdk", "data", "gateway", "tenant", "team", "org", "live", "sandbox", "merchant", "partner", "pem", "tls", "ssl", "routing":
		return secret
	case "aws", "azure", "gcp", "google", "gmaps", "maps", "openai", "anthropic", "gemini", "mistral", "cohere", "stripe", "paypal", "twilio", "sendgrid", "mailgun", "mailchimp", "mandrill", "postmark", "sparkpost", "algolia", "datadog", "dd", "newrelic", "relic", "pagerduty", "opsgenie", "cloudflare", "fastly", "heroku", "github", "gitlab", "slack", "discord", "telegram", "firebase", "fcm", "supabase", "airtable", "notion", "linear", "asana", "jira", "sentry", "rollbar", "bugsnag", "segment", "mixpanel", "amplitude", "intercom", "zendesk", "hubspot", "salesforce", "shopify", "square", "coinbase", "binance", "kraken", "etherscan", "infura", "alchemy", "mapbox", "tmdb", "giphy", "youtube", "twitter", "facebook", "spotify", "dropbox", "trello", "wandb", "pinecone", "tavily", "serper", "serpapi", "exa", "brave", "kagi", "groq", "replicate", "deepl", "deepgram", "elevenlabs", "weather", "recaptcha", "captcha", "turnstile", "pusher", "ably":
		return secret
	}
	for _, b := range before {
		if b == "secret" || b == "private" || b == "api" {
			return secret
		}
	}
	return weak
}

// transparent reports whether a word at the end of a name only says which one of several it is.
func transparent(w string) bool {
	switch w {
	case "prod", "production", "dev", "development", "test", "testing", "staging", "stage", "qa", "uat", "live", "sandbox", "base", "value", "val", "data", "default", "new", "old", "current", "previous", "primary", "secondary", "raw", "plain", "plaintext", "text", "encoded", "b", "base64", "hex", "env", "str", "here", "main", "backup", "local", "remote", "master", "admin", "root", "v":
		return true
	}
	return strings.Trim(w, "0123456789") == ""
}

// attribute reports whether a word at the end of a name says that the thing is
// about a secret rather than one.
func attribute(w string) bool {
	switch w {
	case "type", "name", "names", "id", "ids", "path", "file", "filename", "dir", "url", "uri", "endpoint", "count", "length", "len", "size", "limit", "max", "min", "field", "fields", "label", "hint", "placeholder", "prompt", "policy", "regex", "regexp", "pattern", "expiry", "expires", "expiration", "ttl", "lifetime", "age", "version", "format", "class", "method", "var", "ref", "selector", "index", "idx", "manager", "provider", "store", "storage", "service", "client", "handler", "error", "err", "exception", "message", "msg", "title", "description", "help", "text", "input", "form", "button", "page", "view", "template", "reset", "change", "confirm", "confirmation", "required", "enabled", "disabled", "valid", "is", "exists", "map", "list", "set", "usage", "budget", "stream", "kind", "range", "position", "pos", "offset", "owner", "scope", "scopes", "algorithm", "alg", "hash", "hasher", "func", "fn", "callback", "test", "tests", "spec", "board", "word", "words", "ize", "izer", "down", "up", "press", "code", "event", "stroke", "frame", "chain", "ring", "bindings", "binding", "pair", "by", "of", "for", "and", "or", "in", "to", "with", "from", "on":
		return true
	}
	return false
}

// verb reports whether a word makes the name of an action or a question out of a secret's name.
func verb(w string) bool {
	switch w {
	case "get", "is", "has", "have", "no", "not", "forgot", "forgotten", "reset", "change", "show", "hide", "toggle", "add", "remove", "delete", "invalid", "wrong", "incorrect", "missing", "use", "using", "check", "verify", "validate", "hash", "hashed", "encode", "decode", "generate", "create", "make", "parse", "read", "require", "requires", "enable", "disable", "allow", "with", "without", "enter", "ask", "prompt", "fetch", "load", "find", "print", "expired", "needs", "need", "bad", "empty", "update", "compare", "match", "strip", "mask", "redact", "on", "handle", "public":
		return true
	}
	return false
}

func hasSuffix(w string, suffixes ...string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(w, s) {
			return true
		}
	}
	return false
}
