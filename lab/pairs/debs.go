package main

// debs are packages of Debian. Most are read for their documentation only.
var debs = []source{
	{
		name: "postgresql-doc-15", kind: "deb", version: "15.20-0+deb12u1", licence: "PostgreSQL",
		sum:   "4c44bf2c599f208b3f46454a6cf7a72e25ec46ff74d37b59dd31ad76b00eebb7",
		files: []string{`/html/[^/]*\.html$`},
	},
	{
		name: "python3.11-doc", kind: "deb", version: "3.11.2-6+deb12u9", licence: "PSF-2.0",
		sum:   "5b3594189d6ef9a6963ce0347fd307a1cc67620ad697e144db366070e2e146be",
		files: []string{`/html/_sources/.*\.txt$`},
	},
	{
		name: "sqlite3-doc", kind: "deb", version: "3.40.1-2+deb12u2", licence: "blessing (public domain)",
		sum:   "466e30d7066e2641fa13e56bc662a2ad521b8cc9c17dde9c9dac3d4f105e32f2",
		files: []string{`sqlite3/[^/]*\.html$`, `c3ref/.*\.html$`},
	},
	{
		name: "zsh-common", kind: "deb", version: "5.9-4", licence: "Zsh (MIT-like)",
		sum:   "4f263aa88910f750965b1a83dcbca1355b2cf509acffe96cc2d856333909a7b5",
		files: []string{`/man/man1/`},
	},
	{
		name: "apache2-doc", kind: "deb", version: "2.4.71-1~deb12u1", licence: "Apache-2.0",
		sum:   "a7b3d1131c1c63dbf9999b28e75f9a133d30f70492b419936bd51759ac77a01f",
		files: []string{`manual/en/.*\.html$`},
	},
	{
		name: "nodejs-doc", kind: "deb", version: "18.20.4+dfsg-1~deb12u3", licence: "MIT",
		sum:   "d2fbd4f3aecccea9d901a03842ef8380379e0d33010a48af5e797ed68ae874ce",
		files: []string{`/api/[^/]*\.html(\.gz)?$`},
	},
	{
		name: "rust-doc", kind: "deb", version: "1.63.0+dfsg1-2", licence: "MIT OR Apache-2.0",
		sum: "96ef96fe6df87d939ca713bd7df3d15c2b778ccb892eca025c4ee504146f697b",
		files: []string{
			`html/(book|reference|rust-by-example|nomicon|cargo|edition-guide|embedded-book)/.*\.html$`,
			`html/std/(fs|io|path|process|env|net|time|thread|string|vec|collections|iter)/.*\.html$`,
		},
	},
	{
		name: "cmake-doc", kind: "deb", version: "3.25.1-1", licence: "BSD-3-Clause",
		sum:   "6e805a758ffed87cc7ea234cf0a7a1bb8ae78b93d8b5783e7fb989a6320f8133",
		files: []string{`/_sources/.*\.txt$`},
	},
	{
		name: "tcl8.6-doc", kind: "deb", version: "8.6.13+dfsg-2", licence: "TCL",
		sum:   "e6468aa726a0d77f3e61ae4714bcf7c4c4ddd02828388977f765ffdda4935876",
		files: []string{`/man/man3/`, `/mann?/`},
	},
	{
		name: "freebsd-manpages", kind: "deb", version: "12.2-1", licence: "BSD-2-Clause AND BSD-4-Clause",
		sum:   "2d4a9606bd59d4c71e6d8355dee3d2624b0ebdab79d3ab5e9169ed7fbb0c197a",
		files: []string{`share/man/man\d/`},
	},
	{
		name: "wordnet-base", kind: "deb", version: "1:3.0-37", licence: "WordNet-3.0",
		sum:   "61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
		files: []string{`/data\.(noun|verb|adj|adv)$`},
	},
	{
		name: "erlang-manpages", kind: "deb", version: "1:25.2.3+dfsg-1+deb12u4", licence: "Apache-2.0",
		sum:   "e8730a12ce1d535878122194c46e5de12c409739cb2685250e7b55e3b45b5767",
		files: []string{`/man/man\d/`},
	},
	{
		name: "libboost1.74-doc", kind: "deb", version: "1.74.0+ds1-21", licence: "BSL-1.0",
		sum:   "10a7c2aa42068bcb71093fc375bf3a9ef2235baa91cc4960aa0c02df3c733d4a",
		files: []string{`\.html$`},
	},
	{
		name: "libcurl4-doc", kind: "deb", version: "7.88.1-10+deb12u15", licence: "curl", held: true,
		sum:   "34fe1d613c249a9f02696777cbc06f95c50ea030413d596262f3a03aaf12eb62",
		files: []string{`/man/man\d/`},
	},
	{
		name: "libpython3.11-stdlib", kind: "deb", version: "3.11.2-6+deb12u9", licence: "PSF-2.0",
		sum:   "10f13e000ee757f5f2d2d3569f9e30546214a0c850acd78695feae373bfa3e53",
		files: []string{`python3\.11/.*\.py$`},
	},
	{
		name: "libssl-doc", kind: "deb", version: "3.0.22-1~deb12u2", licence: "Apache-2.0",
		sum:   "b79995160eeb7673b3933bf270105e075814a13b3d499db8c65bb41735748b41",
		files: []string{`/man/man\d/`},
	},
	{
		name: "libx11-doc", kind: "deb", version: "2:1.8.4-2+deb12u2", licence: "MIT (X11)",
		sum:   "a8a31c9473ce3068721e7a44210446672baaa4b945ed469681c4d41538c6d1ee",
		files: []string{`/man/man\d/`},
	},
	{
		name: "llvm-14-doc", kind: "deb", version: "1:14.0.6-12", licence: "Apache-2.0 WITH LLVM-exception",
		sum:   "d83d576ccf39dd9c698f983677f5569284cb4d55f084dd135859a73d31910b1a",
		files: []string{`_sources/.*\.(rst|md)(\.txt)?(\.gz)?$`},
	},
	{
		name: "ncurses-doc", kind: "deb", version: "6.4-4", licence: "MIT (X11)",
		sum:   "c3dab5d65bfd62a7468daacf59c63f15fb627fe4e4d105b54777a370d0c6df77",
		files: []string{`/man/man\d/`},
	},
	{
		name: "openmpi-doc", kind: "deb", version: "4.1.4-3", licence: "BSD-3-Clause",
		sum:   "f297ec1e56a40a48b475cb62ab6283b6d2dd3cdb4f948a68c3c41cdeaaeb63c3",
		files: []string{`/man/man\d/`},
	},
	{
		name: "python-django-doc", kind: "deb", version: "3:3.2.25-0+deb12u7", licence: "BSD-3-Clause", held: true,
		sum:   "87307f067916df72e17180d35b7cde5c7ea6080336cda518efd7f6e66988a7ca",
		files: []string{`\.html$`},
	},
	{
		name: "python-pandas-doc", kind: "deb", version: "1.5.3+dfsg-2", licence: "BSD-3-Clause",
		sum:   "4998405ff6b12432f46594963e95554ade1104705795428396345fca58d853f8",
		files: []string{`_sources/.*\.(rst|txt)(\.gz)?$`},
	},
	{
		name: "python-sklearn-doc", kind: "deb", version: "1.2.1+dfsg-1", licence: "BSD-3-Clause",
		sum:   "4e244556326064e87e7563e3e544c2288d44b5719db2d7b3a85c9a84ae93488d",
		files: []string{`_sources/.*\.(rst|txt)(\.gz)?$`, `\.py$`},
	},
	{
		name: "python-sqlalchemy-doc", kind: "deb", version: "1.4.46+ds1-1", licence: "MIT",
		sum:   "8805c3167ef75278ac6fd58ed9856321c2b2e3a7e441edba84b2eb955216d0fd",
		files: []string{`\.html$`},
	},
	{
		name: "python3-django", kind: "deb", version: "3:3.2.25-0+deb12u7", licence: "BSD-3-Clause",
		sum:   "9ad8ed29d9026207970777e194f658c39b3a7a96a932967f043503fc25bdc319",
		files: []string{`django/.*\.py$`},
	},
	{
		name: "python3-matplotlib", kind: "deb", version: "3.6.3-1+b1", licence: "PSF-2.0 (matplotlib)",
		sum:   "9fff6d846b94ddf454f9757efbbc943220686e1347f8ae605fcf86af087bf525",
		files: []string{`\.py$`},
	},
	{
		name: "python3-networkx", kind: "deb", version: "2.8.8-1", licence: "BSD-3-Clause", held: true,
		sum:   "69888603d1b54696f5c3d02d05527628d2d18661d845109a62fe24aff241aa7b",
		files: []string{`\.py$`},
	},
	{
		name: "python3-numpy", kind: "deb", version: "1:1.24.2-1+deb12u1", licence: "BSD-3-Clause",
		sum:   "64c6e18bd85f881328d70071154c2d8b93fd6de2e07855f81fad5e499694ac03",
		files: []string{`\.py$`},
	},
	{
		name: "python3-pandas", kind: "deb", version: "1.5.3+dfsg-2", licence: "BSD-3-Clause",
		sum:   "4c530b36c107dcfdcbf2a2bef4008a4667b1833084259c0c40ef7d26b7fec0a5",
		files: []string{`\.py$`},
	},
	{
		name: "python3-scipy", kind: "deb", version: "1.10.1-2", licence: "BSD-3-Clause",
		sum:   "75175eb18aa9ef6424c69050a751335fe686c24b65bc1773d0769a74a21c869d",
		files: []string{`\.py$`},
	},
	{
		name: "python3-sklearn", kind: "deb", version: "1.2.1+dfsg-1", licence: "BSD-3-Clause",
		sum:   "ca0c6be401d14871c7e93cfdd8d1f561595dc65e6e2ad2501d568aee7f7efc58",
		files: []string{`\.py$`},
	},
	{
		name: "python3-sqlalchemy", kind: "deb", version: "1.4.46+ds1-1", licence: "MIT",
		sum:   "141f3ed680b5de944c82aff900b1aeb4909a5d17ee0ddd3d697e250b5f765468",
		files: []string{`\.py$`},
	},
	{
		name: "python3-sympy", kind: "deb", version: "1.11.1-1", licence: "BSD-3-Clause",
		sum:   "b437232be31819aafd267ddf2132c16293ef75e02fd58b4ad31eee3ef1d5b49e",
		files: []string{`\.py$`},
	},
	{
		name: "python3-twisted", kind: "deb", version: "22.4.0-4+deb12u1", licence: "MIT",
		sum:   "d8194df7c9b8a524ce7d350fcb4c6a734410a2c701f2bfa8c0d3f01864f51f6a",
		files: []string{`\.py$`},
	},
}
