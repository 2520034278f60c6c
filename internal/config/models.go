package config

import (
	"fmt"
	"net/url"
	"strings"

	"anamnesis/internal/llm"
)

// Models holds the settings of the models that are asked over HTTP.
type Models struct {
	Network  llm.Network
	Embedder llm.EmbedderOptions
	Reranker llm.RerankerOptions
	Chat     llm.GeneratorOptions
}

// A credential is a key and the address of the server that it belongs to.
type credential struct {
	key, address     *string
	keyRow, addrRow  string
	vendors, envKeys []string // a key of the environment that a vendor's own programs use
	provider         *string  // whose own address stands for an empty one; nil when there is no such thing
	providerRow      string
}

// asked is the address at which the key would be used.
func (cr credential) asked(address string) string {
	if cr.provider == nil {
		return address
	}
	return llm.BaseURL(*cr.provider, address)
}

func (c *Config) credentials() []credential {
	m := &c.Models
	return []credential{
		{key: &m.Embedder.Key, address: &m.Embedder.URL, keyRow: "recall.embed.key", addrRow: "recall.embed.url"},
		{key: &m.Reranker.Key, address: &m.Reranker.URL, keyRow: "recall.rerank.key", addrRow: "recall.rerank.url"},
		{
			key: &m.Chat.Key, address: &m.Chat.URL, keyRow: "reflection.api_key", addrRow: "reflection.base_url",
			vendors: []string{"deepseek.com", "openai.com"}, envKeys: []string{"DEEPSEEK_API_KEY", "OPENAI_API_KEY"},
			provider: &m.Chat.Provider, providerRow: "reflection.provider",
		},
	}
}

// ownAddresses returns the addresses that config.json gives itself, by key.
func (c *Config) ownAddresses(file map[string]string) map[string]string {
	own := make(map[string]string)
	for _, cr := range c.credentials() {
		own[cr.addrRow] = file[cr.addrRow]
		if cr.provider != nil {
			own[cr.addrRow] = llm.BaseURL(strings.ToLower(strings.TrimSpace(file[cr.providerRow])), file[cr.addrRow])
		}
	}
	return own
}

// bindKeys keeps each key to the server it was meant for. A key of config.json
// is not sent to another host than the one that stands beside it, and a vendor's
// key goes to that vendor only.
func (c *Config) bindKeys(own map[string]string, env Environment) {
	for _, cr := range c.credentials() {
		host, secure := hostOf(cr.asked(*cr.address))
		meant, _ := hostOf(own[cr.addrRow])
		if *cr.key != "" && c.sources[cr.keyRow] == FromFile && meant != "" && host != meant {
			c.warn("%s (file): belongs to %s and is not sent to %s; set a key where %s is set", cr.keyRow, meant, host, cr.addrRow)
			*cr.key, c.sources[cr.keyRow] = "", FromDefault
		}
		if *cr.key != "" || !secure {
			continue
		}
		for i, vendor := range cr.vendors {
			if host != vendor && !strings.HasSuffix(host, "."+vendor) {
				continue
			}
			if v, ok := env.Lookup(cr.envKeys[i]); ok && strings.TrimSpace(v) != "" {
				*cr.key, c.sources[cr.keyRow] = strings.TrimSpace(v), FromEnv
			}
		}
	}
}

// stayWithHost refuses a change of config.json after which a key that stays would
// be sent to another host.
func (c *Config) stayWithHost(before, after map[string]string) error {
	was, is := c.ownAddresses(before), c.ownAddresses(after)
	for _, cr := range c.credentials() {
		from, _ := hostOf(was[cr.addrRow])
		to, _ := hostOf(is[cr.addrRow])
		if key := after[cr.keyRow]; key != "" && key == before[cr.keyRow] && from != "" && to != "" && from != to {
			return fmt.Errorf("%s was set for %s and would be sent to %s; give the key of %s in the same command, or take this one out "+
				"first: `anamnesis config unset %s`",
				cr.keyRow, from, to, to, cr.keyRow)
		}
	}
	return nil
}

// hostOf returns the host of an address, with its port, and whether what is
// sent there is encrypted.
func hostOf(address string) (host string, secure bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	return strings.ToLower(u.Host), u.Scheme == "https"
}
