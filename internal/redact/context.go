package redact

// contexts lists tokens that look like any other random text and are known only
// by the name of their service before them. Names that say what they hold
// (DATADOG_API_KEY) need no row: the assignment rule knows them all.
var contexts = [...]contextRule{
	{"aws-secret-key", "Secret key or session token of AWS.", "aws_secret aws.secret awssecret secretaccesskey secret_access_key aws_sec", `[A-Za-z0-9/+]{38,44}=?`},
	{"aws-session-token", "Session token of AWS.", "aws_session_token aws_security_token sessiontoken", `[A-Za-z0-9/+=._-]{80,}`},
	{"heroku-key", "API key of Heroku.", "heroku", `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`},
	{"uuid-key", "Keys that are UUIDs: Snyk, Postmark, Nexmo, LaunchDarkly, Segment, Zendesk, SauceLabs, Hubspot.", "snyk postmark x-postmark-server-token sauce hapikey launchdarkly ldapikey", `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}`},
	{"telegram-bot-token", "Token of a Telegram bot.", "telegram telebot bot_token bottoken tgbot", `[0-9]{8,10}:[\w-]{35}`},
	{"discord-token", "Token of a Discord bot.", "discord client.login bot.run client.run bot.login bot_token", `[MNO][\w-]{23,27}\.[\w-]{6,7}\.[\w-]{27,40}`},
	{"okta-token", "API token of Okta.", "okta ssws", `00[\w-]{38,40}`},
	{"codeclimate-token", "Reporter or API token of Code Climate, Codecov, Coveralls, Codacy.", "codeclimate code_climate cc_test_reporter_id codecov coveralls codacy", `[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32}|[0-9a-f-]{36}`},
	{"service-hex-token", "Hexadecimal tokens of services that give them no prefix.", "datadog dd_api dd_app x-dd-ap pagerduty rollbar bugsnag honeybadger raygun algolia sonar_login sonar.login appid sonarqube travis circleci circle_token buildkite drone_ bitrise appveyor loggly logdna papertrail mixpanel amplitude branch_key pusher pubnub trello x-shodan shodan virustotal vt_key abuseipdb securitytrails wakatime wandb lastfm flickr giphy imgur themoviedb tmdb openweather weatherapi newsapi consumer_key consumerkey consumer_secret trello_token linode vultr gitea facebook fb_secret fb_app instagram live_chat zendesk gitalk gitment dingtalk pushbullet", `[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}`},
	{"service-mixed-token", "Tokens of letters and digits of services that give them no prefix.", "cloudflare cf_api cf_token fastly fastly_api netlify vercel digitalocean hashnode mapbox segment_ contentful bitly dropbox asana jira jenkins artifactory nexus sonatype linkedin twitter tw_secret consumer_secret nuget npm_auth cohere co_api mistral deepgram assemblyai elevenlabs salesforce sfdc adobe shutterstock clearbit intercom freshdesk helpscout drift_ crisp zoom webex ringcentral vonage nexmo messagebird plivo sinch kraken binance bitfinex coinbase kucoin okx bybit plaid dwolla adyen worldpay particle blynk thingspeak ubidots losant balena", `[A-Za-z0-9_-]{32,64}`},
	{"kagi-key", "API key or session token of Kagi.", "kagi", `[\w-]{9,14}\.[\w.-]{40,}`},
	{"vault-old-token", "Token of HashiCorp Vault before 1.10.", "vault", `[sbr]\.[A-Za-z0-9][\w-]{23,}`},
	{"kubernetes-bootstrap", "Bootstrap token of a Kubernetes cluster.", "bootstrap kubeadm discovery-token join-token --token", `[a-z0-9]{6}\.[a-z0-9]{16}`},
	{"consul-nomad-token", "Token of Consul or Nomad, or of a Vault approle.", "consul nomad secret_id role_id acl_token", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`},
	{"azure-devops-old-token", "Personal access token of Azure DevOps before 2024.", "azure_devops azuredevops visualstudio.com dev.azure.com ado_pat vsts system_accesstoken az_pat azure_pat", `[a-z2-7]{52}`},
	{"azure-storage-key", "Account or access key of Azure in a connection string or a setting.", "accountkey accesskey sharedaccesskey account_key storagekey storage_key azure_storage primarykey primary_key cosmos eventhub servicebus", `[A-Za-z0-9+/]{42,88}={0,2}`},
	{"wireguard-key", "Private or pre-shared key of WireGuard.", "privatekey presharedkey private_key preshared_key", `[A-Za-z0-9+/]{42,43}=`},
	{"twilio-token", "Key or secret of Twilio.", "twilio", `SK[0-9a-f]{32}|[0-9a-f]{32}|[A-Za-z0-9]{32}`},
	{"gcp-key-id", "Identifier of a Google service account's private key.", "private_key_id", `[0-9a-f]{40}`},
}
