package redact_test

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"anamnesis/internal/redact"
)

// No token stands in this file: shapes name what to draw, ‹a20› for twenty
// letters and digits, and what they draw must be gone afterwards.
//
//	a letters and digits   h hexadecimal   u capitals and digits   n digits
//	l small letters        b base64        k small letters and digits
//	g a UUID               p a password of letters, digits and signs
var shapes = []string{
	// Vendors
	"AKIA‹u16›", "ASIA‹u16›", "sk-‹a24›", "sk-proj-‹a48›", "sk-ant-api03-‹a40›-‹a20›AA", "sk_live_‹a24›", "rk_live_‹a24›",
	"ghp_‹a36›", "gho_‹a36›", "ghs_‹a36›", "github_pat_‹a22›_‹a59›", "glpat-‹a20›", "gldt-‹a20›", "glrt-‹a20›", "AIza‹a35›",
	"xoxb-‹n12›-‹n12›-‹a24›", "xoxp-‹n11›-‹n11›-‹n12›-‹h32›", "xapp-1-‹u11›-‹n13›-‹h64›", "xoxe.xoxp-1-‹a60›",
	"https://hooks.slack.com/services/T‹u8›/B‹u8›/‹a24›", "https://discord.com/api/webhooks/‹n18›/‹a68›",
	"SG.‹a22›.‹a43›", "key-‹h32›", "‹h32›-us12", "SK‹h32› is my twilio key", "npm_‹a36›", "pypi-AgEIcHlwaS5vcmc‹a70›",
	"rubygems_‹h48›", "cio‹a32›", "oy2‹k43›", "dckr_pat_‹a27›", "dop_v1_‹h64›", "HRKU-‹g›", "shpat_‹h32›", "shpss_‹h32›",
	"sq0csp-‹a43›", "EAAA‹a60›", "‹n9›:AA‹a33›", "ya29.‹a60›", "1//0‹a60›", "GOCSPX-‹a28›", "hf_‹a34›", "dapi‹h32›",
	"NRAK-‹u27›", "glsa_‹a32›_‹h8›", "glc_‹b60›", "sntrys_‹b60›", "dt0c01.‹u24›.‹u64›", "dp.pt.‹a43›", "hvs.‹a24›", "hvb.‹a100›",
	"‹a14›.atlasv1.‹a64›", "pul-‹h40›", "PMAK-‹h24›-‹h34›", "lin_api_‹a40›", "secret_‹a43›", "ntn_‹a46›", "pat‹a14›.‹h64›",
	"ATATT3‹a60›", "figd_‹a40›", "CFPAT-‹a43›", "sk.eyJ‹a60›.‹a22›", "sgp_‹h40›", "r8_‹a37›", "gsk_‹a52›", "pplx-‹a48›",
	"xai-‹a80›", "tvly-‹a32›", "AGE-SECRET-KEY-1‹u58›", "tskey-auth-‹a12›-‹a30›", "sbp_‹h40›", "pscale_pw_‹a43›", "nfp_‹a36›",
	"vcp_‹a24›", "fo1_‹a43›", "FlyV1 fm2_‹b60›", "AKCp‹a69›", "squ_‹h40›", "CCIPAT_‹a22›_‹h40›", "phc_‹a43›", "tfp_‹a44›",
	"amzn.mws.‹g›", "da2-‹k26›", "FLWSECK_TEST-‹h32›-X", "rzp_live_‹a14›", "whsec_‹a32›", "EZAK‹a54›", "shippo_live_‹h40›",
	"00D‹a12›!‹a96›", "p8e-‹a32›", "sha256~‹a43›", "SWMTKN-1-‹k50›-‹k25›", "LTAI‹a20›", "AKID‹a32›", "nvapi-‹a64›", "sk-or-v1-‹h64›",
	"aws_secret_access_key = ‹b40›", "AWS_SESSION_TOKEN=‹b200›", "AccountKey=‹b86›==;EndpointSuffix=core.windows.net",
	"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=k;SharedAccessKey=‹b43›=", "heroku_api_key: ‹g›", "HEROKU_API_KEY=‹g›",
	"mailchimp_key=‹h32›", "datadog_app: '‹h40›'", "DD_API_KEY=‹h32›", "codecov_token: ‹g›", "SNYK_TOKEN=‹g›", "CIRCLE_TOKEN=‹h40›",
	"fastly_token = \"‹a32›\"", "cloudflare_api = '‹a40›'", "algolia_key: '‹h32›'", "okta token: \"00‹a40›\"", "facebook_secret = '‹h32›'",
	"twitter_consumer_secret = '‹a50›'", "linkedin_secret = '‹a16›'", "consul_http_token=‹g›", "TELEGRAM_BOT_TOKEN=‹n10›:AA‹a33›",
	"figma: X-Figma-Token: ‹a40›", "x-snyk-api: ‹g›", "X-Vault-Token: ‹a26›", "PRIVATE-TOKEN: ‹a20›", "X-Auth-Token: ‹a24›", "api-key: ‹a24›",
	"eyJhbGciOiJIUzI1NiJ9.eyJ‹a30›.‹a43›", "Authorization: Bearer ‹a40›", "-H 'Authorization: Basic ‹b32›'", "Authorization: token ‹h40›",
	"bearer ‹h40›", "Cookie: sessionid=‹k32›; theme=dark", "Set-Cookie: connect.sid=s%3A‹a32›.‹a43›; Path=/",
	"postgres://app:‹p12›@db.internal:5432/x", "mongodb+srv://app:‹p12›@c0.mongodb.net/x", "https://user:‹a20›@git.internal/a.git",
	"redis://:‹a20›@cache.internal:6379/0", "amqp://app:‹p12›@mq.internal/", "jdbc:postgresql://h/db?user=app&password=‹p12›",
	"jdbc:sqlserver://h;user=sa;password=‹p12›;", "jdbc:oracle:thin:scott/‹a12›@h:1521:x", "Server=h;Database=d;User Id=sa;Password=‹p12›;",
	"Driver={ODBC Driver 17 for SQL Server};Server=h;UID=sa;PWD=‹p12›", "app:‹p12›@tcp(db:3306)/x", "smtp://u:‹p12›@mail.internal:587",
	"machine git.internal login me password ‹a12›", "db.internal:5432:prod:app:‹a12›", "//registry.npmjs.org/:_authToken=‹g›", "_auth=‹b40›",
	`{"auths":{"r.io":{"auth":"‹b40›"}}}`, `<add key="ApiKey" value="‹a32›" />`, "<password>‹p10›</password>", `<entry key="db.password" value="‹p10›"/>`,
	"  - name: DB_PASSWORD\n    value: ‹p12›", "  - name: API_TOKEN\n    value: \"‹a24›\"", `{"name":"API_KEY","value":"‹a24›"}`,
	"curl -u admin:‹p10› https://x", "sshpass -p ‹p10› ssh h", "sshpass -p '‹p10›' ssh h", "mysql -u root -p‹a12› db", "redis-cli -a ‹a16› ping",
	"docker login -u me -p ‹a20›", `net use \\srv\share ‹p10› /user:me`, "psexec \\\\srv -u me -p ‹p10› cmd", "Connect-VIServer h -User me -Password ‹p10›",
	`ConvertTo-SecureString "‹p12›" -AsPlainText -Force`, `new NetworkCredential("me", "‹p12›")`, `requests.get(u, auth=("me", "‹p12›"))`,
	"mysqli_connect('localhost', 'root2', '‹p12›', 'db')", "smtp.login('me@x.org', '‹p12›')", "ldapsearch -D cn=x -w ‹p12› -b y", "smbclient -U me%‹p10› //h/s",
	"export API_TOKEN=‹a24›", "ENV SECRET_KEY ‹a24›", "--api-key ‹a24›", "--token=‹a24›", "--password ‹p10›", "-var 'db_password=‹p10›'",
	"PGPASSWORD=‹l10› psql", "MYSQL_ROOT_PASSWORD: ‹l10›", "spring.datasource.password=‹l10›", "define('AUTH_KEY', '‹a60›');", "define('DB_PASSWORD', '‹p10›');",
	"const apiKey = \"‹a32›\"", "let token = '‹a32›';", "client_secret: '‹a32›'", "clientSecret=‹a32›", "'secret' => '‹a32›'", "secret_key_base: ‹h128›",
	"SECRET_KEY = 'django-insecure-‹a40›'", "APP_KEY=base64:‹b43›=", "jwt.secret=‹a32›", "private_key_id\": \"‹h40›\"", "encryption_key: ‹h64›",
	"PrivateKey = ‹b43›=", "PresharedKey = ‹b43›=", "IDENTIFIED BY '‹p10›'", "CREATE USER x WITH PASSWORD '‹p10›'", "password is ‹p10›9x", "the token is ‹a24›",
	"buildConfigField 'String', 'API_KEY', '\"‹h32›\"'", "env('MAIL_PASSWORD', '‹p10›')", "setPassword(\"‹p10›\")", ".password(\"‹p12›\")",
	"user = app\npassword = ‹l10›", "username: app\npassword: ‹l10›", `"password": "‹l8›"`, `{\"password\": \"‹l8›\"}`, `{\\\"api_key\\\": \\\"‹a20›\\\"}`,
	"&quot;password&quot;:&quot;‹p8›&quot;", "?access_token=‹a20›&x=1", "?api_key=‹h32›", "https://maps.x.org/js?key=‹a39›", "?sig=‹b43›%3D",
	"$1$‹a8›$‹a22›", "$2b$12$‹a53›", "$6$‹a12›$‹a86›", "$apr1$‹a8›$‹a22›", "$argon2id$v=19$m=65536,t=3,p=4$‹a22›$‹a43›", "me:$y$j9T$‹a22›$‹a43›:19000",
	"Administrator:500:‹h32›:‹h32›:::", "$krb5tgs$23$*u$R$s*$‹h32›$‹h128›", "pbkdf2_sha256$260000$‹a22›$‹b43›=", "{SSHA}‹b32›",
	"otpauth://totp/x?secret=‹l16›ABCDEFG", "WIFI:T:WPA;S:net;P:‹p10›;;", "enable secret 5 $1$‹a4›$‹a22›", "username adm password 7 ‹h18›",
	"access_token: \"‹a40›\"", "refresh_token=‹a40›", "bot_token := \"‹n10›:AA‹a33›\"", "discord_token = \"M‹a23›.‹a6›.‹a27›\"", "kubeadm join --token ‹k6›.‹k16›",
	"vault_token: s.‹a24›", "azure_devops_pat = ‹k52›", "‹a3›8Q~‹a34›", "storage_key = \"‹b86›==\"", "nuget_apikey=‹k46›", "sonar.login=‹h40›", "JENKINS_API_TOKEN=11‹h32›",
	"new Gitalk({clientID: 'x', clientSecret: '‹h40›'})", "$mail->Password = '‹p10›';", "http://thingsboard.cloud/api/v1/‹k20›/telemetry", "license_key: '‹h40›'",
	"psk=\"‹p12›\"", "wpa_passphrase=‹p12›", "rpcpassword=‹a20›", "requirepass ‹a20›", "bindpw: ‹p12›", "bind_password=‹p12›", "community_token 'x'; api_token '‹a24›'",
	"cosmos.primaryKey=‹b86›==", "hmac_secret=‹h64›", "cookie_secret: ‹b43›=", "WORDPRESS_AUTH_SALT='‹a64›'", "DSN=https://‹h32›@o1.ingest.sentry.io/1",
	"storePassword=‹l8›1", "keyPassword '‹l8›1'", "ansible_ssh_pass=‹p10›", "ansible_become_password: ‹p10›", "rootpw --plaintext ‹p10›", "passphrase: \"‹p12›\"",
	"stripe.api_key = \"sk_test_‹a24›\"", "openai.api_key=\"‹a40›\"", "os.environ[\"API_KEY\"] = \"‹a32›\"", "config['password'] = '‹p10›'", "process.env.TOKEN = '‹a24›'",
	"password: String = \"‹p10›\"", "const PASSWORD: &str = \"‹p10›\";", "char password[] = \"‹p10›\";", "String dbPassword = \"‹p10›\";", "var token string = \"‹a24›\"",
	"@Value(\"${x:y}\") password=‹p10›", "Password=\"‹p10›\" Username=\"me\"", "password=‹p10› user=me host=h", "UserName=me;Password=‹l8›;", "PASSWORD ‹p10›",
}

var drawing = regexp.MustCompile(`‹([a-z])(\d*)›`)

const (
	smallLetters = "abcdefghijklmnopqrstuvwxyz"
	capitals     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits       = "0123456789"
)

// draw fills the blanks of a shape and returns the text and what it drew.
func draw(rnd *rand.Rand, shape string) (text string, drawn []string) {
	pick := func(from string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(from[rnd.IntN(len(from))])
		}
		return b.String()
	}
	text = drawing.ReplaceAllStringFunc(shape, func(m string) string {
		g := drawing.FindStringSubmatch(m)
		n, _ := strconv.Atoi(g[2])
		var s string
		switch g[1] {
		case "a":
			s = pick(smallLetters+capitals+digits, n-2) + pick(digits, 1) + pick(capitals, 1)
		case "h":
			s = pick("abcdef"+digits, n)
		case "u":
			s = pick(capitals+digits, n)
		case "n":
			s = pick("123456789", n)
		case "l":
			s = pick(smallLetters, n)
		case "k":
			s = pick(smallLetters+digits, n)
		case "b":
			s = pick(smallLetters+capitals+digits+"+/", n-3) + pick(smallLetters+capitals+digits, 3)
		case "p":
			s = pick(smallLetters, 2) + pick(smallLetters+capitals+digits+"!$*_.-", n-5) + pick(digits, 1) + pick("!%*", 1) + pick(capitals, 1)
		case "g":
			h := "abcdef" + digits
			s = pick(h, 8) + "-" + pick(h, 4) + "-" + pick(h, 4) + "-" + pick(h, 4) + "-" + pick(h, 12)
		}
		drawn = append(drawn, s)
		return s
	})
	return text, drawn
}

// TestShapes asks for every shape in several surroundings that its secret is gone.
func TestShapes(t *testing.T) {
	r := newRedactor(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	total, missed := 0, map[string]int{}
	for _, shape := range shapes {
		for _, around := range []string{"%", "see: %\nthen", "\t%  # note", "Run `%` first.", `{"text":"%\nnext"}`} {
			if strings.Contains(shape, "\n") && around[0] == '{' {
				continue
			}
			for range 8 {
				text, drawn := draw(rnd, shape)
				if around[0] == '{' {
					text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"`, `\"`)
				}
				text = strings.ReplaceAll(around, "%", text)
				out := r.Redact(text).String()
				total++
				if last := drawn[len(drawn)-1]; strings.Contains(out, last) {
					missed[shape]++
					if missed[shape] == 1 {
						t.Logf("kept a secret: %q gives %q", text, out)
					}
				}
			}
		}
	}
	n := 0
	for _, k := range missed {
		n += k
	}
	t.Logf("%d of %d drawings of %d shapes kept, %d shapes touched", n, total, len(shapes), len(missed))
	if float64(n) > 0.01*float64(total) {
		t.Errorf("%d of %d secrets survive, want at most 1 %%", n, total)
	}
}

func newRedactor(tb testing.TB, rules ...redact.Rule) *redact.Redactor {
	tb.Helper()
	r, err := redact.New(rules...)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}
