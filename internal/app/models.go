package app

import (
	"cmp"
	"errors"

	"anamnesis/internal/embed"
	"anamnesis/internal/embed/models"
	"anamnesis/internal/index"
	"anamnesis/internal/llm"
	"anamnesis/internal/recall"
)

// reportUnusable says that a model that was configured cannot be used.
func reportUnusable(r *Rooms, setting string, err error) {
	next := ""
	if errors.Is(err, models.ErrNone) {
		next = "; `anamnesis config models` lists those of this machine"
	}
	r.Notify("%s: %v%s; going on with the built-in model", setting, err, next)
}

// ModelFolder is the folder of the models that run on this machine. Throw-away stores have
// those of the store that they were made for.
func ModelFolder(r *Rooms) *models.Folder {
	return models.Of(cmp.Or(r.Host.modelsOf, r.Store.Path("")), r.Host.Disk)
}

// OpenModels makes what understands words: the table that is part of the program, the models
// of this machine and the servers that were configured. A server that cannot be used is reported
// to people and left out: the built-in models answer as well.
func OpenModels(r *Rooms) (recall.Models, index.Embedding, error) {
	words, err := embed.OpenStatic(index.Words)
	if err != nil {
		return recall.Models{}, index.Embedding{}, err
	}
	redact := r.Redactor.Redact
	asked := recall.Models{Words: words, Redactor: r.Redactor}
	embedding := index.Embedding{Local: words, Redact: redact}
	set := r.Config.Models
	named := NamedModels(r)
	if name, ok := named[EmbedSetting]; ok {
		if local, err := ModelFolder(r).Embedder(name); err != nil {
			reportUnusable(r, EmbedSetting, err)
		} else {
			embedding.Local = local
		}
	}
	if name, ok := named[RerankSetting]; ok {
		if local, err := ModelFolder(r).Reranker(name); err != nil {
			reportUnusable(r, RerankSetting, err)
		} else {
			asked.Local = local
		}
	}
	if r.Rules != nil {
		if set.Embedder.URL != "" || set.Reranker.URL != "" || r.Config.Recall.HyDE {
			r.Notify("no model server is asked, because your redaction rules cannot be used: %v", r.Rules)
		}
		return asked, embedding, nil
	}
	if set.Embedder.URL != "" {
		if remote, err := llm.NewEmbedder(set.Embedder, set.Network); err != nil {
			reportUnusable(r, "recall.embed.url", err)
		} else {
			embedding.Remote = remote
		}
	}
	if set.Reranker.URL != "" {
		if asked.Reranker, err = llm.NewReranker(set.Reranker, set.Network); err != nil {
			reportUnusable(r, "recall.rerank.url", err)
		}
	}
	if r.Config.Recall.HyDE {
		switch chat, err := NewGenerator(r, "hyde"); {
		case set.Chat.Provider == llm.Files:
			r.Notify("recall.hyde: the provider files answers later; questions are used as they stand")
		case errors.Is(err, llm.ErrNotConfigured):
			r.Notify("recall.hyde: %v; questions are used as they stand", err)
		case err != nil:
			r.Notify("reflection.base_url: %v; questions are used as they stand", err)
		default:
			asked.Expand = recall.HyDE(chat, redact)
		}
	}
	return asked, embedding, nil
}

// The settings that name a model of this machine, or one of a server.
const (
	EmbedSetting  = "recall.embed.model"
	RerankSetting = "recall.rerank.model"
)

// NamedModels are the models of this machine that settings name, by the setting. With a
// server, the name is that of a separate model.
func NamedModels(r *Rooms) map[string]string {
	named := make(map[string]string)
	set := r.Config.Models
	if set.Embedder.URL == "" && set.Embedder.Model != "" {
		named[EmbedSetting] = set.Embedder.Model
	}
	if set.Reranker.URL == "" && set.Reranker.Model != "" {
		named[RerankSetting] = set.Reranker.Model
	}
	return named
}
