package main

import (
	"context"

	"anamnesis/lab/origin"
)

// A source is a piece of published text at a pinned version.
type source struct {
	name    string // of the package, module or repository
	kind    string // deb, npm, module, go
	version string
	sum     string   // of the archive: SHA-256 (deb, npm), h1 (module); the version is all there is for go
	licence string   // SPDX where there is an identifier
	files   []string // regular expressions on the paths that are read, none means all
	form    string   // how text is taken from the files: see read.go
	times   int      // how often the text counts; 0 is once
}

// fetch returns the files of a source in the order of their paths.
func (s *source) fetch(ctx context.Context, cache string) ([]origin.File, error) {
	o := origin.Source{Name: s.name, Kind: s.kind, Version: s.version, Sum: s.sum, Files: s.files}
	return o.Fetch(ctx, cache)
}

// sources are all the texts that the table is made of. Only permissive
// licences: nothing here asks what is derived from it to be licensed alike.
// SOURCES.md is this list for reading; a test compares the two.
var sources = []source{
	{
		name: "the Go distribution", kind: "go", version: "go1.26.8", licence: "BSD-3-Clause",
		files: []string{`^(doc|src)/.*\.(go|md|txt)$`}, form: "module",
	},
	{
		name: "postgresql-doc-15", kind: "deb", version: "15.20-0+deb12u1", licence: "PostgreSQL",
		sum:   "4c44bf2c599f208b3f46454a6cf7a72e25ec46ff74d37b59dd31ad76b00eebb7",
		files: []string{`/html/[^/]*\.html$`}, form: "html",
	},
	{
		name: "python3.11-doc", kind: "deb", version: "3.11.2-6+deb12u9", licence: "PSF-2.0",
		sum:   "5b3594189d6ef9a6963ce0347fd307a1cc67620ad697e144db366070e2e146be",
		files: []string{`/html/_sources/.*\.txt$`}, form: "text",
	},
	{
		name: "sqlite3-doc", kind: "deb", version: "3.40.1-2+deb12u2", licence: "blessing (public domain)",
		sum:   "466e30d7066e2641fa13e56bc662a2ad521b8cc9c17dde9c9dac3d4f105e32f2",
		files: []string{`sqlite3/[^/]*\.html$`, `c3ref/.*\.html$`}, form: "html",
	},
	{
		name: "perl-doc", kind: "deb", version: "5.36.0-7+deb12u4", licence: "Artistic-1.0-Perl (or GPL-1.0-or-later; taken under the first)",
		sum:   "f4269cff4576d6f02a6756df842988e58451c7e945b08517dd235531b24e48f8",
		files: []string{`/pod/perl.*\.pod$`}, form: "text",
	},
	{
		name: "zsh-common", kind: "deb", version: "5.9-4", licence: "Zsh (MIT-like)",
		sum:   "4f263aa88910f750965b1a83dcbca1355b2cf509acffe96cc2d856333909a7b5",
		files: []string{`/man/man1/`}, form: "roff",
	},
	{
		name: "zsh-doc", kind: "deb", version: "5.9-4", licence: "Zsh (MIT-like)",
		sum:   "79bd75df4bf03d1021e993fd773f82b8a4c8d76649e420cd32eca940cf418ff4",
		files: []string{`/html/.*\.html$`}, form: "html",
	},
	{
		name: "apache2-doc", kind: "deb", version: "2.4.71-1~deb12u1", licence: "Apache-2.0",
		sum:   "a7b3d1131c1c63dbf9999b28e75f9a133d30f70492b419936bd51759ac77a01f",
		files: []string{`manual/en/.*\.html$`}, form: "html",
	},
	{
		name: "nodejs-doc", kind: "deb", version: "18.20.4+dfsg-1~deb12u3", licence: "MIT",
		sum:   "d2fbd4f3aecccea9d901a03842ef8380379e0d33010a48af5e797ed68ae874ce",
		files: []string{`/api/[^/]*\.html(\.gz)?$`}, form: "html",
	},
	{
		name: "rust-doc", kind: "deb", version: "1.63.0+dfsg1-2", licence: "MIT OR Apache-2.0",
		sum: "96ef96fe6df87d939ca713bd7df3d15c2b778ccb892eca025c4ee504146f697b",
		files: []string{
			`html/(book|reference|rust-by-example|nomicon|cargo|edition-guide|embedded-book)/.*\.html$`,
			`html/std/(fs|io|path|process|env|net|time|thread|string|vec|collections|iter)/.*\.html$`,
		}, form: "html",
	},
	{
		name: "cmake-doc", kind: "deb", version: "3.25.1-1", licence: "BSD-3-Clause",
		sum:   "6e805a758ffed87cc7ea234cf0a7a1bb8ae78b93d8b5783e7fb989a6320f8133",
		files: []string{`/_sources/.*\.txt$`}, form: "text",
	},
	{
		name: "ruby3.1-doc", kind: "deb", version: "3.1.2-7+deb12u1", licence: "BSD-2-Clause OR Ruby",
		sum: "0c5e6976e5279d7abb2fa9e1d65f1d561f289662c589d454575b3aed566aa612",
		files: []string{`/system/(Array|String|Hash|IO|File|Dir|Process|Kernel|Enumerable|FileUtils|Pathname|Time|Date|Net|URI|CSV|JSON|` +
			`Logger|Regexp|Integer|Range|Set|Struct|Thread|Exception|OptionParser|ERB|ENV|Signal)/`, `page-.*\.ri$`}, form: "strings",
	},
	{
		name: "tcl8.6-doc", kind: "deb", version: "8.6.13+dfsg-2", licence: "TCL",
		sum:   "e6468aa726a0d77f3e61ae4714bcf7c4c4ddd02828388977f765ffdda4935876",
		files: []string{`/man/man3/`, `/mann?/`}, form: "roff",
	},
	{
		name: "freebsd-manpages", kind: "deb", version: "12.2-1", licence: "BSD-2-Clause AND BSD-4-Clause",
		sum:   "2d4a9606bd59d4c71e6d8355dee3d2624b0ebdab79d3ab5e9169ed7fbb0c197a",
		files: []string{`share/man/man\d/`}, form: "roff",
	},
	{
		name: "openssh-client", kind: "deb", version: "1:9.2p1-2+deb12u10", licence: "BSD-2-Clause AND ISC",
		sum:   "42c250b8b9110382488c53c066a960bc564ddac2cb9e449f47b6cdbb5fc1cb60",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "openssh-server", kind: "deb", version: "1:9.2p1-2+deb12u10", licence: "BSD-2-Clause AND ISC",
		sum:   "933cd92a2329f9bf26d22660a834ae18ebdbe8df9c6127e4d9fcb098dac9cf72",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "curl", kind: "deb", version: "7.88.1-10+deb12u15", licence: "curl",
		sum:   "0dd9b6bf7a0bd11af2d68a52ec44c2a223fa7c11f9104c36ce1047e1137d4a8f",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "tmux", kind: "deb", version: "3.3a-3", licence: "ISC",
		sum:   "6bd1558face5e145d66d72c9557cbc7ff5ad66701e94dcd568e6daf081269018",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "jq", kind: "deb", version: "1.6-2.1+deb12u3", licence: "MIT AND CC-BY-3.0",
		sum:   "c25f3fda201207ed98b1d63686f2d81b9dfeb99f1ab2d1d35fb3f7b6a1c107dc",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "libarchive-tools", kind: "deb", version: "3.6.2-1+deb12u5", licence: "BSD-2-Clause",
		sum:   "c2b48182c0544e8234557c5c202c3dce898dacee535342e4875e68d72cad948a",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "original-awk", kind: "deb", version: "2022-09-12-1", licence: "MIT-like (Lucent)",
		sum:   "f1835f1e5aca2f69e0b997b285b33b45aaa1abf4071edfd7481149076ca80a63",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "rust-coreutils", kind: "deb", version: "0.0.17-2", licence: "MIT",
		sum:   "3eac703530e3f521dd14bd7b9d34789fbde991ff541576c5b01d4a9937bd059b",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "ripgrep", kind: "deb", version: "13.0.0-4+b2", licence: "MIT OR Unlicense",
		sum:   "feba1aea6022d84c67293686fe82132f7283d3c485a2cbd5af5c0e210615ecc2",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "fd-find", kind: "deb", version: "8.6.0-3", licence: "MIT OR Apache-2.0",
		sum:   "1c0af4b1c6727ee8a8cc3a674cce7919aeb070d7017620d8fdc528739cefb333",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "mksh", kind: "deb", version: "59c-28+deb12u1", licence: "MirOS",
		sum:   "32bcf95c03b4438a1adcaf989f844ebe542229f07b8b438d8bc3d9ec2b32d43c",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "mandoc", kind: "deb", version: "1.14.6-1+b1", licence: "ISC",
		sum:   "af62386fcb99fbfe8813992d5623f5500339d8decee2c72994522366e078c01b",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "netcat-openbsd", kind: "deb", version: "1.219-1", licence: "BSD-3-Clause",
		sum:   "85adebc045f48eb9a91515202a49940a0a57eff790223402333253ff121dfbdd",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "bmake", kind: "deb", version: "20200710-15+b1", licence: "BSD-3-Clause",
		sum:   "2d553e6519ef00f60121bf975eb576bca67e538bbd6d1a09308e2ccec6957f9d",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "sudo", kind: "deb", version: "1.9.13p3-1+deb12u4", licence: "ISC",
		sum:   "ea9987f92630be504998516e1ed9c821c483131d0576ff35a09d6e7f8deff10f",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "tcsh", kind: "deb", version: "6.24.07-1", licence: "BSD-3-Clause",
		sum:   "9fd93ff2618f088ab35f6f17c826bb11b336c70cdef78ee0be03e4adae877bc2",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "libbsd-dev", kind: "deb", version: "0.11.7-2", licence: "BSD-3-Clause",
		sum:   "788ec28ca78eab1ba14d2e1a50727efb7276c6b034163dca40931d8ab3d94aab",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "lua5.4", kind: "deb", version: "5.4.4-3+deb12u1", licence: "MIT",
		sum:   "8a7221aa9614911f1236cbb1ba85401bb06f9ac66b51e5f98f31fbdeeca99fa7",
		files: []string{`share/man/man\d/`}, form: "roff", times: 2,
	},
	{
		name: "jargon-text", kind: "deb", version: "4.4.7-4.1", licence: "public domain",
		sum:   "17d05997e30eb3d5d6713929b8e2f81b63a5f50073858ad2a06701c71f54dcdb",
		files: []string{`/jargon\.txt\.gz$`}, form: "text",
	},
	{
		name: "wordnet-base", kind: "deb", version: "1:3.0-37", licence: "WordNet-3.0",
		sum:   "61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
		files: []string{`/(data|index)\.(noun|verb|adj|adv)$`}, form: "wordnet", times: 2,
	},
	{
		name: "github.com/docker/cli", kind: "module", version: "v29.9.3+incompatible", licence: "Apache-2.0",
		sum:   "h1:SBaMp7ecohadEHMDrUJg22t9I3awqsAVhnJ7GOcWpfE=",
		files: []string{`^docs/.*\.md$`, `^(cli|opts|internal)/.*\.go$`}, form: "module",
	},
	{
		name: "github.com/caddyserver/caddy/v2", kind: "module", version: "v2.11.9", licence: "Apache-2.0",
		sum:   "h1:bhZtcRKQOq0fuLvEgCdPYvUxXyGn9kzjG4lh2332DTE=",
		files: []string{`(?i)\.(go|md|txt)$`}, form: "module",
	},
	{
		name: "github.com/blevesearch/bleve/v2", kind: "module", version: "v2.6.3", licence: "Apache-2.0",
		sum:   "h1:+TvSTA10Kr5c8Dj7gidTIufor8fg7pIj4rQu2Vmw9L0=",
		files: []string{`(?i)\.(go|md|txt)$`}, form: "module",
	},
	{
		name: "github.com/junegunn/fzf", kind: "module", version: "v0.65.2", licence: "MIT",
		sum:   "h1:Uz6Qey1K4JoGNMskYlwRDnGuCEu/sAh+NxQ4YdX3yn0=",
		files: []string{`(?i)\.(go|md|txt)$`}, form: "module",
	},
	{
		name: "github.com/spf13/cobra", kind: "module", version: "v1.10.2", licence: "Apache-2.0",
		sum:   "h1:DMTTonx5m65Ic0GOoRY2c16WCbHxOOw6xxezuLaBpcU=",
		files: []string{`(?i)\.(go|md|txt)$`}, form: "module",
	},
	{
		name: "github.com/goccy/go-yaml", kind: "module", version: "v1.19.2", licence: "MIT",
		sum:   "h1:PmFC1S6h8ljIz6gMRBopkjP1TVT7xuwrButHID66PoM=",
		files: []string{`(?i)\.(go|md|txt)$`}, form: "module",
	},
	{
		name: "golang.org/x/text", kind: "module", version: "v0.41.0", licence: "BSD-3-Clause",
		sum:   "h1:vz/seA0lnX87Othu2f/0L24RcgrXD9/YFTSuGjj3rH8=",
		files: []string{`(?i)\.(go|md|txt)$`}, form: "module",
	},
	{
		name: "golang.org/x/tools", kind: "module", version: "v0.50.0", licence: "BSD-3-Clause",
		sum:   "h1:c2ifzfcuY7L90lZ2aKd8S4K2NpASF08SZx9ZuJkHmSU=",
		files: []string{`(?i)\.(go|md|txt)$`}, form: "module",
	},
	{
		name: "github.com/rogpeppe/go-internal", kind: "module", version: "v1.16.0", licence: "BSD-3-Clause",
		sum:   "h1:O9DK+vNMDVGLr2BeZqmpLeMjiMNkuXfcqntWbZV6S5g=",
		files: []string{`(?i)\.(go|md|txt)$`}, form: "module",
	},
}
