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

// A change of the file that would send its key elsewhere is not made.
func TestChangesKeepKeysWithTheirServer(t *testing.T) {
	const openai = `{"reflection": {"provider": "openai", "model": "m", "api_key": "k"}}`
	set := func(pairs ...string) (all []config.Change) {
		for i := 0; i < len(pairs); i += 2 {
			ch := config.Change{Key: pairs[i], Value: &pairs[i+1]}
			if pairs[i+1] == "" {
				ch.Value = nil
			}
			all = append(all, ch)
		}
		return all
	}
	for _, tt := range []struct {
		name, file string
		changes    []config.Change
		want       string // of the error, empty for none
	}{
		{"another address", openai, set("reflection.base_url", "http://127.0.0.1:1/v1"), "was set for api.openai.com and would be sent to 127.0.0.1:1"},
		{"another vendor", openai, set("reflection.provider", "deepseek"), "would be sent to api.deepseek.com"},
		{"with a key of its own", openai, set("reflection.provider", "deepseek", "reflection.api_key", "d"), ""},
		{"without the key", openai, set("reflection.base_url", "http://127.0.0.1:1/v1", "reflection.api_key", ""), ""},
		{"another route", openai, set("reflection.base_url", "https://api.openai.com/v2"), ""},
		{"the first address", `{"recall": {"embed": {"key": "k"}}}`, set("recall.embed.url", "https://a.example"), ""},
		{"the second", `{"recall": {"embed": {"key": "k", "url": "https://a.example"}}}`, set("recall.embed.url", "https://b.example"), "recall.embed.key was set for a.example"},
		{"something else", openai, set("reflection.model", "other"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, nil, tt.file).Edit(tt.changes)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
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
