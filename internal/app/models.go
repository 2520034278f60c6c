package app

import (
	"errors"

	"anamnesis/internal/embed"
	"anamnesis/internal/index"
	"anamnesis/internal/llm"
	"anamnesis/internal/recall"
)

// models makes what understands words: the table that is part of the program,
// and the servers that were configured. A server that cannot be used is told
// to people and left out: the built-in models answer as well.
func (r *Rooms) models() (recall.Models, index.Embedding, error) {
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		return recall.Models{}, index.Embedding{}, err
	}
	redact := r.Redactor.Redact
	models := recall.Models{Words: words, Redactor: r.Redactor}
	embedding := index.Embedding{Local: words, Redact: redact}
	set := r.Config.Models
	if r.Rules != nil {
		if set.Embedder.URL != "" || set.Reranker.URL != "" || r.Config.Recall.HyDE {
			r.Notify("no model server is asked, because your redaction rules cannot be used: %v", r.Rules)
		}
		return models, embedding, nil
	}
	unusable := func(setting string, err error) {
		r.Notify("%s: %v; going on with the built-in model", setting, err)
	}
	if set.Embedder.URL != "" {
		if remote, err := llm.NewEmbedder(set.Embedder, set.Network); err != nil {
			unusable("recall.embed.url", err)
		} else {
			embedding.Remote = remote
		}
	}
	if set.Reranker.URL != "" {
		if models.Reranker, err = llm.NewReranker(set.Reranker, set.Network); err != nil {
			unusable("recall.rerank.url", err)
		}
	}
	if r.Config.Recall.HyDE {
		switch chat, err := r.Generator("hyde"); {
		case errors.Is(err, llm.ErrNotConfigured):
			r.Notify("recall.hyde: the model of reflection.provider is %v; questions are used as they stand", err)
		case err != nil:
			r.Notify("reflection.base_url: %v; questions are used as they stand", err)
		default:
			models.Expander = recall.NewHyDE(chat, redact)
		}
	}
	return models, embedding, nil
}
