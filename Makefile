# make check && make test is what a change must pass. `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go

# The tools stand in .ci/tools.txt with their versions, and are installed below
# .tools: not into go.mod, where their modules would become ours.
TOOLS := $(CURDIR)/.tools
INSTALLED := $(TOOLS)/.installed

# The version in the binary; git describes it when there is a tag.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
DATE := $(shell git log -1 --format=%cI 2>/dev/null)
LDFLAGS := -s -w -X anamnesis/internal/cli.version=$(VERSION) \
	-X anamnesis/internal/cli.revision=$(COMMIT) -X anamnesis/internal/cli.revised=$(DATE)

TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
FUZZTIME ?= 20s

.PHONY: help build check test quick bench house site generate soak cross fuzz tools clean

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

build: ## build ./anamnesis: static, without symbols
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o anamnesis .

check: $(INSTALLED) ## format, lint (which vets)
	@unformatted=$$($(TOOLS)/gofumpt -l .); if [ -n "$$unformatted" ]; then \
		echo "run gofumpt -w on:"; echo "$$unformatted"; exit 1; fi
	$(TOOLS)/golangci-lint run
	cd lab && $(TOOLS)/golangci-lint run

test: ## run the tests; they need Go and git, nothing else
	$(GO) test ./...
	$(GO) -C lab test ./...

# ANAMNESIS_QUICK names the changed files: long suites run a few cases, and those that belong to these files.
quick: ## test the packages with files that are not committed, the long suites in part
	@changed=$$(git status --porcelain --untracked-files=all | awk '{print $$NF}'); \
	dirs=$$(grep -E '\.go$$|/testdata/' <<<"$$changed" | sed -E 's#/testdata/.*##; s#(^|/)[^/]+\.go$$##' | grep -v '^lab\b' | sort -u || true); \
	for d in $$dirs; do [ ! -d "$$d" ] || echo "./$$d"; done | ANAMNESIS_QUICK="$${changed:-none}" xargs $(GO) test -short ./internal
	@if [ -n "$$(git status --porcelain -- lab)" ]; then $(GO) -C lab test -short ./...; fi

bench: ## measure, and compare with the budgets (docs/performance.md)
	$(GO) run -C lab ./bench

house: ## measure what the program costs to change and to run, and compare with docs/house.json
	$(GO) run -C lab ./measure house -check

site: ## make a web site of the documentation below ./site
	$(GO) run -C lab ./site -out ../site

generate: ## write the pages that are made from the code
	$(GO) test ./internal/config -run TestDocs -update
	$(GO) test ./internal/cli -run 'TestHelp|TestManual' -update
	$(GO) test ./internal/mcp -run 'TestDocs|TestToolList' -update
	$(GO) test ./internal/doctor -run TestDocs -update
	$(GO) test ./internal/connect -run TestDocs -update
	$(GO) test ./internal/redact -run TestDocs -update
	$(GO) test ./internal -run TestDecisionIndex -update

soak: ## long runs: crashes at every write, many processes at once, machines that sync
	ANAMNESIS_SOAK=1 $(GO) test ./internal/cli -run 'Soak|Crash|Many|Interleavings' -count=1 -timeout 120m -v
	ANAMNESIS_TEST_FORTNIGHT=1h $(GO) test ./internal/cli -run Fortnight -count=1 -timeout 90m -v

cross: ## build and vet every platform we promise
	@for target in $(TARGETS); do \
		echo "== $$target"; \
		export GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0; \
		$(GO) build -trimpath ./... && $(GO) vet ./... && $(GO) -C lab build ./... && $(GO) -C lab vet ./...; \
	done

fuzz: ## run each fuzz target for FUZZTIME
	@.ci/fuzz $(FUZZTIME)

tools: $(INSTALLED) ## install the tools that check needs

$(INSTALLED): .ci/tools.txt
	mkdir -p $(TOOLS)
	while read -r tool; do GOBIN=$(TOOLS) $(GO) install "$$tool"; done < $<
	touch $@

clean: ## remove what the other targets made
	rm -rf anamnesis anamnesis.exe dist .tools
