package main

import (
	"slices"

	"anamnesis/lab/origin"
)

// A source is a piece of published text at a pinned version.
type source struct {
	name    string // of the package or module
	kind    string // deb, npm, module, go
	version string
	sum     string   // of the archive: SHA-256 (deb, npm), h1 (module); the version is all there is for go
	licence string   // SPDX where there is an identifier
	files   []string // regular expressions on the paths that are read
	held    bool     // trains nothing: what was trained is judged by it
}

func (s *source) origin() *origin.Source {
	return &origin.Source{Name: s.name, Kind: s.kind, Version: s.version, Sum: s.sum, Files: s.files}
}

// sources are all the texts that pairs are taken from. Only permissive licences:
// nothing here asks what is derived from it to be licensed alike. SOURCES.md is
// this list for reading; a test compares the two.
var sources = slices.Concat(modules, debs, packages)

// modules are Go modules, and the Go distribution.
var modules = []source{
	{
		name: "the Go distribution", kind: "go", version: "go1.26.8", licence: "BSD-3-Clause",
		files: []string{`^(doc|src)/.*\.(go|md)$`},
	},
	{
		name: "github.com/docker/cli", kind: "module", version: "v29.9.3+incompatible", licence: "Apache-2.0",
		sum:   "h1:SBaMp7ecohadEHMDrUJg22t9I3awqsAVhnJ7GOcWpfE=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "github.com/caddyserver/caddy/v2", kind: "module", version: "v2.11.9", licence: "Apache-2.0",
		sum:   "h1:bhZtcRKQOq0fuLvEgCdPYvUxXyGn9kzjG4lh2332DTE=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "github.com/blevesearch/bleve/v2", kind: "module", version: "v2.6.3", licence: "Apache-2.0",
		sum:   "h1:+TvSTA10Kr5c8Dj7gidTIufor8fg7pIj4rQu2Vmw9L0=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "github.com/junegunn/fzf", kind: "module", version: "v0.65.2", licence: "MIT",
		sum:   "h1:Uz6Qey1K4JoGNMskYlwRDnGuCEu/sAh+NxQ4YdX3yn0=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "github.com/spf13/cobra", kind: "module", version: "v1.10.2", licence: "Apache-2.0",
		sum:   "h1:DMTTonx5m65Ic0GOoRY2c16WCbHxOOw6xxezuLaBpcU=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "github.com/goccy/go-yaml", kind: "module", version: "v1.19.2", licence: "MIT",
		sum:   "h1:PmFC1S6h8ljIz6gMRBopkjP1TVT7xuwrButHID66PoM=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "golang.org/x/text", kind: "module", version: "v0.41.0", licence: "BSD-3-Clause",
		sum:   "h1:vz/seA0lnX87Othu2f/0L24RcgrXD9/YFTSuGjj3rH8=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "golang.org/x/tools", kind: "module", version: "v0.50.0", licence: "BSD-3-Clause",
		sum:   "h1:c2ifzfcuY7L90lZ2aKd8S4K2NpASF08SZx9ZuJkHmSU=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "github.com/rogpeppe/go-internal", kind: "module", version: "v1.16.0", licence: "BSD-3-Clause",
		sum:   "h1:O9DK+vNMDVGLr2BeZqmpLeMjiMNkuXfcqntWbZV6S5g=",
		files: []string{`\.(go|md)$`},
	},
	{
		name: "code.gitea.io/gitea", kind: "module", version: "v1.27.3", licence: "MIT",
		sum:   "h1:SRnjvw24ASELKCqyYvAWIlzwOqyFMgfD+UkqQ9SE5eU=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "entgo.io/ent", kind: "module", version: "v0.14.5", licence: "Apache-2.0",
		sum:   "h1:Rj2WOYJtCkWyFo6a+5wB3EfBRP0rnx1fMk6gGA0UUe4=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/aws/aws-sdk-go-v2/service/s3", kind: "module", version: "v1.114.8", licence: "Apache-2.0",
		sum:   "h1:0g/xXBWQEyR6Mcxo1ukBYqzeRX0bQ/ZdXrtKkIo+yT0=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/bufbuild/buf", kind: "module", version: "v1.75.0", licence: "Apache-2.0",
		sum:   "h1:FvUEktoR5wduFOq1j+HmOswL0PM4pjDivLkJ1iwRztg=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/cilium/cilium", kind: "module", version: "v1.20.2", licence: "Apache-2.0",
		sum:   "h1:dqiEGIcXc+gqCLYG/l7VCFJ8GHyb4HUrwbZOpkX5dL8=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/containerd/containerd/v2", kind: "module", version: "v2.4.2", licence: "Apache-2.0",
		sum:   "h1:p6Qg+xbEz8lvwdhHDx0U469xENvp4LgGBx+E7djXkGw=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/cosmos/cosmos-sdk", kind: "module", version: "v0.55.0", licence: "Apache-2.0",
		sum:   "h1:BGGVSTRbCjRSJ0XWWJVB2YhNr5ztSsROyBKVqXzW7nM=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/evilmartians/lefthook", kind: "module", version: "v1.13.6", licence: "MIT",
		sum:   "h1:uzuFWpgmqCUg3FoLz0CBkiOHUS/vU3nhB92zReyR09U=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/go-task/task/v3", kind: "module", version: "v3.54.0", licence: "MIT",
		sum:   "h1:xDgD9BNHIDnHhemB3gumYb+ozUoa6oCFMIz44GGosj8=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/gofiber/fiber/v3", kind: "module", version: "v3.1.0", licence: "MIT",
		sum:   "h1:1p4I820pIa+FGxfwWuQZ5rAyX0WlGZbGT6Hnuxt6hKY=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/goreleaser/goreleaser/v2", kind: "module", version: "v2.15.1", licence: "MIT",
		sum:   "h1:qgg9Y4JfURDRnt43eA76QRkzlWCYIph/yz4jyQdczMs=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/influxdata/telegraf", kind: "module", version: "v1.37.2", licence: "MIT",
		sum:   "h1:mYr0I/suEw9+UM4KrCFuYuzJuq/e99cINniIwqO6ykw=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/mikefarah/yq/v4", kind: "module", version: "v4.54.2", licence: "MIT",
		sum:   "h1:b9g8xQc/1v8T7FZhBtPlsAynEkI8FvRfGTS0FGACgto=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/modelcontextprotocol/go-sdk", kind: "module", version: "v1.8.0", licence: "Apache-2.0 AND MIT",
		sum:   "h1:KIvahhYqwtbeniWVPs3TcXEA7b8jEtwfBpOTAI+Urx4=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/nats-io/nats-server/v2", kind: "module", version: "v2.15.2", licence: "Apache-2.0", held: true,
		sum:   "h1:yLsgt2kslgymvxvjFq1WGWck5hkat2YYfbXvQ145tzU=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/open-policy-agent/opa", kind: "module", version: "v1.22.2", licence: "Apache-2.0",
		sum:   "h1:WzqReKk2VjcvBN/NQTlcIxKqFPKpzIdb6KYMHzPEbe0=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/prometheus/prometheus", kind: "module", version: "v0.316.0", licence: "Apache-2.0",
		sum:   "h1:f1GRFerhTMKQma+awCoC9T820ecWeGSdF+xAlMHzZzM=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/rclone/rclone", kind: "module", version: "v1.76.0", licence: "MIT", held: true,
		sum:   "h1:Gabl7KmhxyOXyMtFNA/s6wZ3LZ/2x0NP7xZLNEW3Guo=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/sqlc-dev/sqlc", kind: "module", version: "v1.31.1", licence: "MIT",
		sum:   "h1:+V+BjBJfFNPX/RFfL8eiZD9jk9lVJUEGGllWvnYNqbc=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/tetratelabs/wazero", kind: "module", version: "v1.12.0", licence: "Apache-2.0",
		sum:   "h1:DuWcpNu/FzgEXgGBDp8J1Spc+CWOvvtvVyjKlaZopYU=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "github.com/traefik/traefik/v3", kind: "module", version: "v3.7.13", licence: "MIT", held: true,
		sum:   "h1:T8wy9KuaFzCkmXCqAzDy7t73pBDR1DHrJe3pqXpNXTw=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "go.etcd.io/etcd/server/v3", kind: "module", version: "v3.7.3", licence: "Apache-2.0",
		sum:   "h1:KcTZ/aEZrOiQe0/kdr7iYYcvyfbEoOwDOacHkz8xwZc=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "gonum.org/v1/gonum", kind: "module", version: "v0.17.0", licence: "BSD-3-Clause",
		sum:   "h1:VbpOemQlsSMrYmn7T2OUvQ4dqxQXU+ouZFQsZOx50z4=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "google.golang.org/grpc", kind: "module", version: "v1.85.0", licence: "Apache-2.0",
		sum:   "h1:BPBCfuVRQ1qvBhKDOq9uvQllMvO59rKsYhXpp7Dd8vw=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "helm.sh/helm/v3", kind: "module", version: "v3.22.0", licence: "Apache-2.0",
		sum:   "h1:n1if5iQgHYsujPAcO5oonH/KiSNUmqmUF0iGVjSF3AU=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "istio.io/istio", kind: "module", version: "v0.0.0-20260827124520-eed52ebb66ad", licence: "Apache-2.0",
		sum:   "h1:ui9TJjRMAV/hb5ehQaZDq7IUGxuQP6dra9lapT/VjHI=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "k8s.io/kubernetes", kind: "module", version: "v1.37.2", licence: "Apache-2.0",
		sum:   "h1:A2VDEiObzkYqFTKhSsn0ZEb0RlLEXpHWj93gi2HqEwE=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
	{
		name: "sigs.k8s.io/cluster-api", kind: "module", version: "v1.14.2", licence: "Apache-2.0",
		sum:   "h1:o3GFNaeNFAOEEMpDPfhCK+2CjmV6gtQ8yLEcUwCg7bA=",
		files: []string{`\.(go|md|rst|sh)$`, `(^|/)Makefile$`, `Documentation/.*\.txt$`, `locale_en-US\.(ini|json)$`},
	},
}

// packages are packages of npm.
var packages = []source{
	{
		name: "@angular/core", kind: "npm", version: "21.2.26", licence: "MIT",
		sum:   "9d5ce09a9edb741dfb23a3b771501f00b1662a665647dacbe2130508ea0f7450",
		files: []string{`\.d\.ts$`, `\.md$`},
	},
	{
		name: "aws-sdk", kind: "npm", version: "2.1693.0", licence: "Apache-2.0",
		sum:   "9ec237477ac3852d06f2fbd9a382207906ef5a35f99a7cb38c504c2ad2f85291",
		files: []string{`\.d\.ts$`, `\.md$`},
	},
	{
		name: "@mui/material", kind: "npm", version: "9.5.0", licence: "MIT",
		sum:   "0b222105eac08eebc55fe9d071c07766df1db7027ab5ae21e6f3c3ec7dfff032",
		files: []string{`\.d\.ts$`, `\.md$`},
	},
	{
		name: "npm", kind: "npm", version: "11.21.2", licence: "Artistic-2.0",
		sum:   "8ad8563b81e71b90ef405b140bccf3ba9b5e7884ab210bd49ee4e2f4bc6f61f5",
		files: []string{`docs/content/.*\.md$`},
	},
	{
		name: "playwright-core", kind: "npm", version: "1.65.1", licence: "Apache-2.0",
		sum:   "6f5a60be62a4fddfbe7d10c448d8fbd54547da3358f2f8a04211440471ee863e",
		files: []string{`\.d\.ts$`, `\.md$`},
	},
	{
		name: "@types/node", kind: "npm", version: "26.6.6", licence: "MIT",
		sum:   "7ef006842f7a647868e9d53588148cb058008b107aea6a728143730bee020456",
		files: []string{`\.d\.ts$`, `\.md$`},
	},
	{
		name: "@types/vscode", kind: "npm", version: "1.140.0", licence: "MIT", held: true,
		sum:   "337c2b6f3cb9757a310e4fb267dfc41e2b69f693345d73431ae5570cbcd0af9e",
		files: []string{`\.d\.ts$`, `\.md$`},
	},
	{
		name: "typescript", kind: "npm", version: "7.0.2", licence: "Apache-2.0",
		sum:   "da2513f4b95176d6dde8b51aab7afe8a927656c9d277369793f77f7e59371c08",
		files: []string{`\.d\.ts$`, `\.md$`},
	},
}
