package config_test

import (
	"strings"
	"testing"

	"anamnesis/internal/config"
)

// Every row of a key must be masked wherever settings are shown.
func TestKeysAreMasked(t *testing.T) {
	const secret = "s3cr3t-and-long"
	keys := []string{"recall.embed.key", "recall.rerank.key", "reflection.api_key"}
	var flags []string
	for _, k := range keys {
		flags = append(flags, k+"="+secret)
	}
	c := load(t, nil, "", flags...)
	masked := 0
	for _, v := range c.Values() {
		if strings.Contains(v.Value, secret) {
			t.Errorf("%s is shown", v.Key)
		}
		if v.Value == config.Mask(secret) {
			masked++
		}
		if last := v.Key[strings.LastIndex(v.Key, ".")+1:]; strings.Contains(last, "key") || strings.Contains(last, "token") && !strings.HasSuffix(last, "_tokens") || strings.Contains(last, "secret") {
			if v.Value != config.Mask(secret) {
				t.Errorf("%s = %q looks like a credential and is not masked", v.Key, v.Value)
			}
		}
	}
	if masked != len(keys) || c.Models.Embedder.Key != secret || c.Models.Reranker.Key != secret || c.Models.Chat.Key != secret {
		t.Errorf("%d of %d keys are masked; %+v", masked, len(keys), c.Models)
	}
	if v, _ := c.Get("RECALL_EMBED_KEY"); v.Value != config.Mask(secret) {
		t.Errorf("config get shows %q", v.Value)
	}
	bad := load(t, map[string]string{"RECALL_EMBED_KEY": secret + "\n" + secret}, `{"recall": {"embed": {"key": "`+secret+`"}}}`)
	if w := strings.Join(bad.Warnings, "\n"); !strings.Contains(w, "recall.embed.key (env)") || strings.Contains(w, secret) {
		t.Errorf("warnings %q", w)
	}
}

func TestKeysStayWithTheirServer(t *testing.T) {
	const file = `{"reflection": {"base_url": "https://api.deepseek.com", "api_key": "from-file"}}`
	for _, tt := range []struct {
		name string
		env  map[string]string
		file string
		key  string
		from config.Source
		warn string
	}{
		{"file", nil, file, "from-file", config.FromFile, ""},
		{"another route of the same host", map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "https://API.deepseek.com/v1"}, file, "from-file", config.FromFile, ""},
		{"another host", map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "https://evil.example"}, file, "", config.FromDefault, "belongs to api.deepseek.com and is not sent to evil.example"},
		{"another host with a key", map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "https://x.example", "ANAMNESIS_REFLECTION_API_KEY": "k"}, file, "k", config.FromEnv, ""},
		{"an address elsewhere, a key in the file", map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "https://x.example"}, `{"reflection": {"api_key": "k"}}`, "k", config.FromFile, ""},
		{"a vendor's key for the vendor", map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "https://api.deepseek.com", "DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}, "", "d", config.FromEnv, ""},
		{"and for the other", map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "https://api.openai.com/v1", "DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}, "", "o", config.FromEnv, ""},
		{"not for others", map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "https://notopenai.com", "OPENAI_API_KEY": "o"}, "", "", config.FromDefault, ""},
		{"not unencrypted", map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "http://api.openai.com", "OPENAI_API_KEY": "o"}, "", "", config.FromDefault, ""},
		{"not without an address", map[string]string{"OPENAI_API_KEY": "o"}, "", "", config.FromDefault, ""},
		{"not before a key of ours", map[string]string{"DEEPSEEK_API_KEY": "d"}, file, "from-file", config.FromFile, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, tt.env, tt.file)
			v, err := c.Get("reflection.api_key")
			if err != nil || c.Models.Chat.Key != tt.key || v.Source != tt.from {
				t.Errorf("key %q from %s (%v), want %q from %s", c.Models.Chat.Key, v.Source, err, tt.key, tt.from)
			}
			if got := strings.Join(c.Warnings, "\n"); !strings.Contains(got, tt.warn) || tt.warn == "" && got != "" {
				t.Errorf("warnings %q, want %q", got, tt.warn)
			}
		})
	}
}

func TestAddressesAreChecked(t *testing.T) {
	c := load(t, map[string]string{"RECALL_EMBED_URL": "https://u:p4ss@x.example", "RECALL_RERANK_URL": "localhost:8080"}, "")
	got := strings.Join(c.Warnings, "\n")
	if c.Models.Embedder.URL != "" || c.Models.Reranker.URL != "" || strings.Contains(got, "p4ss") {
		t.Errorf("%+v\n%s", c.Models, got)
	}
	for _, want := range []string{"recall.embed.url (env): must not hold a user", "recall.rerank.url (env): must start with"} {
		if !strings.Contains(got, want) {
			t.Errorf("no warning %q in\n%s", want, got)
		}
	}
}
