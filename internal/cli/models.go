package cli

import (
	"context"
	"strings"

	"anamnesis/internal/app"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/embed/models"

	"github.com/spf13/cobra"
)

func newModels(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "models",
		Short: "Transformers that run on this machine, in the program itself",
		Long: `An encoder makes the vectors by which notes are found by their meaning, in place of
the word vectors that are built in. A cross-encoder reads the best notes together with the
question, in place of the built-in reader. Both run in the program itself, on at most two
cores: no text leaves the machine, and no server is needed.

Models of BERT's shape run, such as MiniLM, BGE and TinyBERT, from the files in which they
are published: config.json, model.safetensors, tokenizer.json or vocab.txt. Nothing is
downloaded unless you give an address to models add, with --apply.

The settings recall.embed.model and recall.rerank.model choose one by its name. After a
change of the encoder all notes are embedded again in the background. A model that is not
ready in time for a prompt is left out of that answer.`,
		Example: `  anamnesis config models add ~/Downloads/all-MiniLM-L6-v2
  anamnesis config models add ~/Downloads/all-MiniLM-L6-v2 --apply
  anamnesis config set recall.embed.model all-minilm-l6-v2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.listModels(cmd) },
	}
	cmd.AddCommand(&cobra.Command{
		Use: "list", Short: "List the models, and check all their files", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.listModels(cmd) },
	}, newModelsAdd(p), newModelsRemove(p))
	return cmd
}

func (p *program) listModels(cmd *cobra.Command) error {
	return run(p, cmd, "models", filesOnly, func(_ context.Context, r *app.Rooms) (setup.ModelsAnswer, error) {
		return setup.ListModels(r)
	}, func(a setup.ModelsAnswer) {
		for _, m := range a.Models {
			p.printModel(m)
			if len(m.UsedBy) > 0 {
				p.printf("  used by %s\n", strings.Join(m.UsedBy, ", "))
			}
			if m.Problem != "" {
				p.printf("  NOT USED: %s\n", firstLine(m.Problem, 300))
			}
		}
		if len(a.Models) == 0 {
			p.printf("models: none; the word vectors and the reader that are built in answer\n")
		}
	})
}

func newModelsAdd(p *program) *cobra.Command {
	var o models.Order
	var apply bool
	cmd := &cobra.Command{
		Use:   "add DIR|URL",
		Short: "Take in a model, or say what would be taken in",
		Long: `Say what would be taken in: the files of a model, their sizes and checksums, and the
licence that they name. With --apply the files are copied into the store, or downloaded
there, and the model is opened and tried before it counts.

An address is that of the folder in which the files are, and begins with https://. Of an
address the checksums are known when the files are there: --sha256 says which weights are
wanted, and nothing else is taken. Links in a folder are not followed.`,
		Example: `  anamnesis config models add ./bge-small-en-v1.5
  anamnesis config models add https://models.example.com/minilm --name minilm --apply`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.From = args[0]
			return run(p, cmd, "models", filesOnly, func(ctx context.Context, r *app.Rooms) (setup.ModelAdded, error) {
				return setup.AddModel(ctx, r, o, apply)
			}, p.printModelAdded)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "`NAME` for settings (default: that of the folder)")
	f.StringVar(&o.SHA256, "sha256", "", "`CHECKSUM` that model.safetensors must have")
	f.BoolVar(&apply, "apply", false, "do it")
	return cmd
}

func (p *program) printModelAdded(a setup.ModelAdded) {
	for _, x := range a.Model.Files {
		sum, bytes := x.SHA256, "size unknown"
		if sum == "" {
			sum = "checksum known once it is here"
		}
		if x.Size >= 0 {
			bytes = size(x.Size)
		}
		p.printf("  %-24s %10s  %s\n", x.Name, bytes, sum)
	}
	p.printModel(a.Model)
	if !a.Applied {
		p.printf("models: %s would be taken in (dry-run; pass --apply)\n", plural(len(a.Model.Files), "file"))
		return
	}
	p.printf("  a short text takes it %.1f ms\n", a.TookMS)
	p.printf("models: %s is here; use it with `anamnesis config set %s %[1]s`\n", a.Model.Name, a.Setting)
}

func (p *program) printModel(m setup.ModelView) {
	what, licence := m.What, firstLine(m.Licence, 80)
	if what == "" {
		what = "kind known once it is here"
	}
	if licence == "" {
		licence = "its files name none: ask where it is from"
	}
	p.printf("%s: %s, %s\n", m.Name, firstLine(what, 120), size(m.Bytes))
	p.printf("  licence: %s\n", licence)
	p.printf("  from %s\n", firstLine(m.Source, 200))
}

func newModelsRemove(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Delete a model that no setting names", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(p, cmd, "models", filesOnly, func(_ context.Context, r *app.Rooms) (setup.ModelRemoved, error) {
				return setup.RemoveModel(r, args[0])
			}, func(a setup.ModelRemoved) { p.printf("models: %s is gone, %s\n", a.Name, size(a.Bytes)) })
		},
	}
}
