package config_test

import (
	"strings"
	"testing"

	"anamnesis/internal/config"
	"anamnesis/internal/llm"
	"anamnesis/internal/reflection"
)

// RF-06: the names and the defaults of reflection.
func TestReflectionDefaults(t *testing.T) {
	c := load(t, nil, "")
	want := reflection.Options{MaxTokens: 120000, DailyCalls: 200, DailyTokens: 5000000, Consolidate: true, SkillPatches: true, Expire: true, QuotaGate: true}
	if c.Reflection != want || !c.Capture.Summary || c.Capture.MaxTokens != 120000 || c.Models.Chat != (llm.GeneratorOptions{Provider: llm.Heuristic, Timeout: 30}) {
		t.Errorf("%+v\n%+v\n%+v", c.Reflection, c.Capture, c.Models.Chat)
	}
	c = load(t, map[string]string{
		"ANAMNESIS_REFLECTION_PROVIDER": "DeepSeek", "ANAMNESIS_REFLECTION_MODEL": "m", "ANAMNESIS_REFLECTION_TIMEOUT": "4.5", "ANAMNESIS_REFLECTION_MAX_TOKENS": "90",
		"ANAMNESIS_REFLECT_AUTO": "Yes", "ANAMNESIS_REFLECTION_DAILY_CALLS": "0", "ANAMNESIS_REFLECTION_DAILY_TOKENS": "1000", "ANAMNESIS_REFLECTION_SUMMARY": "off",
	}, "")
	want = reflection.Options{Auto: true, MaxTokens: 90, DailyTokens: 1000, Consolidate: true, SkillPatches: true, Expire: true, QuotaGate: true}
	if len(c.Warnings) != 0 || c.Reflection != want || c.Capture.Summary || c.Capture.MaxTokens != 90 || c.Models.Chat.Provider != llm.DeepSeek || c.Models.Chat.Timeout != 4.5 {
		t.Errorf("%v\n%+v\n%+v\n%+v", c.Warnings, c.Reflection, c.Capture, c.Models.Chat)
	}
	c = load(t, map[string]string{"ANAMNESIS_REFLECTION_DAILY_CALLS": "five"}, "")
	if c.Reflection.DailyCalls != 200 || len(c.Warnings) != 1 {
		t.Errorf("no number: %d, %v", c.Reflection.DailyCalls, c.Warnings)
	}
}

// A variable that is set to nothing switches Auto off; one that is not set asks the file.
func TestAutoIsDecidedByTheVariable(t *testing.T) {
	const file = `{"reflection": {"auto": true}}`
	for value, want := range map[string]bool{"": false, "0": false, "on": true} {
		if c := load(t, map[string]string{"ANAMNESIS_REFLECT_AUTO": value}, file); c.Reflection.Auto != want || len(c.Warnings) != 0 {
			t.Errorf("%q: %v, %v", value, c.Reflection.Auto, c.Warnings)
		}
	}
	if !load(t, nil, file).Reflection.Auto {
		t.Error("the file is not read")
	}
}

// A provider that is a vendor has that vendor's address, and its key goes there
// and nowhere else.
func TestVendorsOwnAddress(t *testing.T) {
	env := map[string]string{"DEEPSEEK_API_KEY": "d", "OPENAI_API_KEY": "o"}
	for provider, want := range map[string]string{"deepseek": "d", "openai": "o", "local": "", "heuristic": "", "claude": ""} {
		env["ANAMNESIS_REFLECTION_PROVIDER"] = provider
		if c := load(t, env, ""); c.Models.Chat.Key != want || c.Models.Chat.URL != "" {
			t.Errorf("%s: key %q, address %q", provider, c.Models.Chat.Key, c.Models.Chat.URL)
		}
	}
	env["ANAMNESIS_REFLECTION_PROVIDER"], env["ANAMNESIS_REFLECTION_BASE_URL"] = "openai", "https://proxy.example/v1"
	if c := load(t, env, ""); c.Models.Chat.Key != "" {
		t.Errorf("a vendor's key goes to a proxy: %q", c.Models.Chat.Key)
	}
	const file = `{"reflection": {"provider": "deepseek", "api_key": "mine"}}`
	c := load(t, map[string]string{"ANAMNESIS_REFLECTION_BASE_URL": "https://proxy.example"}, file)
	if c.Models.Chat.Key != "" || !strings.Contains(strings.Join(c.Warnings, ""), "belongs to api.deepseek.com") {
		t.Errorf("a key that was meant for the vendor goes to a proxy: %q, %v", c.Models.Chat.Key, c.Warnings)
	}
	if v, _ := c.Get("reflection.provider"); v.Source != config.FromFile {
		t.Errorf("%+v", v)
	}
}
