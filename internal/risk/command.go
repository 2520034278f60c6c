package risk

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"anamnesis/internal/text/shell"
)

// interpreters run the code that they are given as an argument, on their input, or in a file.
var interpreters = sync.OnceValue(func() map[string]string {
	return map[string]string{ // the flags before code
		"python": "-c", "python3": "-c", "py": "-c", "node": "-e -p --eval --print -pe", "deno": "eval", "bun": "-e --eval",
		"perl": "-e -E -ne -pe",
		"ruby": "-e", "php": "-r", "lua": "-e", "Rscript": "-e", "osascript": "-e", "awk": "", "tclsh": "",
		"sh": "-c", "bash": "-c", "zsh": "-c", "dash": "-c", "ksh": "-c", "fish": "-c", "pwsh": "-c -Command -e -enc -EncodedCommand",
		"powershell": "-c -Command -e -enc -EncodedCommand", "iex": "", "Invoke-Expression": "",
	}
})

// An installer takes packages from elsewhere.
type installer struct {
	verbs []string // behind which they are named; nil: behind the program
	takes []string // flags with a value
	more  []string // words that follow the verbs
	one   bool     // the first name is the package, the others are its arguments
}

// installers are the package managers and the programs that fetch what they run, after their manuals.
var installers = sync.OnceValue(func() map[string]installer {
	pip := words("-r --requirement -c --constraint -t --target --prefix --python")
	return map[string]installer{
		"npm":  {verbs: words("install i add create init exec x"), takes: words("--prefix -w --workspace --save-prefix --tag")},
		"pnpm": {verbs: words("install i add create dlx"), takes: words("--filter -F -C --dir -w")},
		"yarn": {verbs: words("add create dlx global"), takes: words("--cwd"), more: words("add")}, "bun": {verbs: words("add " +
			"install create x")},
		"npx": {takes: words("-w")}, "bunx": {}, "pnpx": {}, "uvx": {takes: words("--python")},
		"pip": {verbs: words("install download wheel"), takes: pip}, "pip3": {verbs: words("install download wheel"), takes: pip},
		"uv":     {verbs: words("add tool pip"), takes: words("--python --group"), more: words("install run")},
		"pipx":   {verbs: words("install run inject")},
		"poetry": {verbs: words("add"), takes: words("--group -G")}, "pdm": {verbs: words("add")}, "conda": {verbs: words("install create")},
		"mamba": {verbs: words("install create")}, "cargo": {verbs: words("install add binstall"), takes: words("--features -F " +
			"--root --version")},
		"go": {verbs: words("install get run"), one: true}, "gem": {verbs: words("install")}, "composer": {verbs: words("require " +
			"global create-project"), more: words("require")},
		"brew": {verbs: words("install tap cask")}, "apt": {verbs: words("install")}, "apt-get": {verbs: words("install")},
		"apk": {verbs: words("add")}, "dnf": {verbs: words("install")}, "yum": {verbs: words("install")},
		"pacman": {verbs: words("-S -Sy -Syu")},
		"winget": {verbs: words("install")}, "choco": {verbs: words("install")}, "scoop": {verbs: words("install")},
		"snap":   {verbs: words("install")},
		"dotnet": {verbs: words("tool add"), more: words("install package")}, "nuget": {verbs: words("install")},
		"deno": {verbs: words("run install add"), one: true},
		"docker": {verbs: words("run pull create"), takes: words("-p -v -e --name -w -u --network --mount --env --volume --publish " +
			"--platform --entrypoint --env-file"), one: true},
		"podman": {verbs: words("run pull create"), takes: words("-p -v -e --name -w -u --network"), one: true},
		"helm":   {verbs: words("install upgrade"), one: true},
		"code":   {verbs: words("--install-extension")}, "nix": {
			verbs: words("run shell develop profile"), more: words("install"),
			one: true,
		}, "opam": {verbs: words("install")},
		"luarocks": {verbs: words("install")}, "cpan": {}, "cpanm": {}, "R": {verbs: words("install")},
	}
})

// tasks are the programs that do what a file of the project says.
var tasks = words("make gmake just task rake gradle ant")

// publications are the words of programs that publish, deploy or delete, among the first words behind the program. "push" of
// git goes to a remote that the repository has.
var publications = words("publish unpublish upload push deploy deployment delete destroy drop purge yank terminate erase wipe")

// publishers publish, deploy or delete under other words; without any, by most of what they do.
var publishers = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"gh": words("release gist api repo secret workflow ssh-key gpg-key variable"), "glab": words("release api repo snippet variable"),
		"aws": words("cp sync mv rm mb rb put-object send-message invoke"), "gsutil": words("cp rsync mv rm"), "gcloud": words("cp " +
			"rsync submit"),
		"az": words("upload-batch create"), "flyctl": words("launch"), "fly": words("launch"), "heroku": words("create releases config"),
		"terraform": words("apply"), "tofu": words("apply"), "pulumi": words("up"), "kubectl": words("apply"),
		"helm": words("uninstall"), "lerna": words("version"),
		"vercel": nil, "sls": nil, "serverless": nil, "firebase": nil, "goreleaser": nil, "semantic-release": nil,
		"changeset": nil, "dropdb": nil, "dropuser": nil,
	}
})

func words(s string) []string { return strings.Fields(s) }

// ownRule reports whether a program has its own rule here, so that it need not be seen in a session.
func ownRule(program string) bool {
	p := shell.Program(program)
	_, installs := installers()[p]
	_, interprets := interpreters()[p]
	return !strings.ContainsAny(program, "/\\") && (installs || interprets || p == "git" || slices.Contains(tasks, p)) ||
		strings.Contains(program, "/") && inside(program)
}

// inside reports whether a path is one of the project: relative, and not above it.
func inside(p string) bool {
	return !strings.Contains(p, "/") || !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") && !strings.Contains(p,
		"..") && !strings.Contains(p, ":") &&
		!strings.Contains(p, "$")
}

// formSuspects returns what a command does that its program and its first words say.
func formSuspects(form []string, l line) (all []suspect) {
	program, text := shell.Program(form[0]), strings.Join(form, " ")
	add := func(why string, names ...string) {
		if why != "" {
			all = append(all, suspect{text: text, why: why, names: names})
		}
	}
	add(interprets(program, form))
	add(registry(form))
	add(publishes(program, form, l.sure || l.code))
	add(bypasses(form))
	add(prints(program, form, l.sure || l.code))
	add(configures(program, form))
	if host := remote(program, form); host != "" {
		add(fmt.Sprintf("connects to %s, which no file of the project and no typed word names", host), host)
	}
	for _, pkg := range packages(program, form) {
		all = append(all, suspect{text: text, why: "fetches " + pkg + ", which no file of the project names", names: []string{bare(pkg)}})
	}
	return all
}

// evaluates is what code calls that runs other code, starts a program, or speaks to a network.
var evaluates = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:eval|exec\w*|system|popen|spawn\w*|fork|subprocess|urlopen|urllib|requests?|https?|httpx` +
		`|fetch|sockets?|net|dgram|ftplib|` +
		`smtplib|base64|b64decode|atob|fromhex|fromCharCode|unpack|compile|__import__|importlib|child_process|IO\.popen|open-uri` +
		`|LWP|curl|wget|` +
		`Invoke-\w+|iwr|irm|iex|DownloadString|do shell script|file_get_contents|readFile\w*|passthru|shell_exec|proc_open|qx|STDIN|rmtree` +
		`|unlink\w*|remove|rm)\b|\x60`)
})

// interprets says what an interpreter is given: code that evaluates or fetches, or a file from outside of the project.
func interprets(program string, form []string) string {
	flags, ok := interpreters()[program]
	if !ok && program != "source" && program != "." {
		return ""
	}
	given := strings.Fields(flags)
	for i, f := range form[1:] {
		switch {
		case encodedFlag(program, f):
			return "runs encoded code"
		case slices.Contains(given, f):
			if evaluates().MatchString(strings.Join(form[min(i+2, len(form)):], " ")) {
				return "gives an interpreter code that fetches or evaluates"
			}
			return ""
		case f == "-m", !strings.HasPrefix(f, "-") && inside(f):
			return ""
		case !strings.HasPrefix(f, "-"):
			return "runs a file from outside of the project"
		}
	}
	return ""
}

// encodedFlag reports whether a flag of PowerShell says that encoded code follows. It takes any begin of the flag.
func encodedFlag(program, f string) bool {
	f = strings.ToLower(f)
	return (program == "pwsh" || program == "powershell") && len(f) > 1 && strings.HasPrefix("-encodedcommand", f)
}

var registryForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:--(?:[\w-]*registry|index|index-url|extra-index-url|default-index|find-links|trusted-host` +
		`|index-servers|source|add-source|repository-url|channel|git)(?:=|$)|` +
		`[@\w:.-]*(?:registry|index[_-]?url|find[_-]links|goproxy|gonosumdb|gonosumcheck|goinsecure|gosumdb)=)`)
})

// registry says that packages come from another place than the usual one.
func registry(form []string) string {
	const why = "takes packages from another registry"
	p := shell.Program(form[0])
	_, installs := installers()[p]
	for i, f := range form {
		if !registryForm().MatchString(f) && !(strings.HasPrefix(p, "pip") && (f == "-i" || f == "-f")) {
			if i > 0 && installs && slices.Contains(form[:i], "config") && registryForm().MatchString(f[strings.LastIndexByte(f, '.')+1:]+"=") {
				return why
			}
			continue
		}
		if installs || i == 0 || p == "export" || p == "env" || p == "set" {
			return why
		}
	}
	return ""
}

// publishes says that a command publishes, deploys or deletes. In prose the words behind a name count where its form shows
// that the name is a program, and not a word of the sentence.
func publishes(program string, form []string, code bool) string {
	if program == "git" || slices.Contains(tasks, program) {
		return gitDeletes(program, form)
	}
	verbs, publisher := publishers()[program]
	_, installs := installers()[program]
	shows := code || shaped(form)
	switch {
	case publisher && verbs == nil && len(form) > 1 && shows:
		return "publishes or deletes"
	case !publisher && !installs && !shows && !wideShape(form):
		return ""
	}
	if slices.ContainsFunc(firstWords(form), func(w string) bool { return slices.Contains(publications, w) || slices.Contains(verbs, w) }) {
		return "publishes or deletes"
	}
	return ""
}

// firstWords returns up to three words behind a program that can be its orders; none where it runs a script of the project.
func firstWords(form []string) (all []string) {
	for _, f := range form[1:] {
		switch {
		case strings.HasPrefix(f, "-"):
			continue
		case len(all) == 3, strings.ContainsAny(f, "/.") && len(all) > 0:
			return all
		case len(all) == 0 && (f == "run" || f == "run-script"), f == "git":
			return nil
		}
		all = append(all, strings.ToLower(f))
	}
	return all
}

// wideShape reports whether a command shows by one of its arguments that it is one: a path, a pattern, a name with a version.
func wideShape(form []string) bool {
	return len(form) > 2 && slices.ContainsFunc(form[2:], func(f string) bool { return strings.ContainsAny(f, "/*@:=") })
}

func gitDeletes(program string, form []string) string {
	if program == "git" && slices.Contains(form, "push") &&
		slices.ContainsFunc(form, func(f string) bool { return f == "--delete" || f == "-d" || f == "--mirror" }) {
		return "publishes or deletes"
	}
	return ""
}

var bypassForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^-{1,2}(?:auto-?)?(?:approve|merge|accept)\b|^--(?:dangerously|bypass|yolo|full-auto|allow-all` +
		`|trust-all|skip-permissions|no-sandbox)[\w-]*`)
})

// bypasses says that a command approves, or skips what a person approves.
func bypasses(form []string) string {
	p := shell.Program(form[0])
	if slices.ContainsFunc(form[1:], func(f string) bool { return bypassForm().MatchString(f) }) ||
		(p == "gh" || p == "glab" || p == "hub") && len(form) > 2 && slices.Contains(words("merge approve accept"), form[2]) {
		return "approves what a person approves"
	}
	return ""
}

var hookKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:core\.(?:hookspath|sshcommand|pager|editor|fsmonitor|gitproxy|askpass)|alias\..+` +
		`|credential\..*helper|filter\..+|diff\..+|` +
		`merge\..+driver|gpg\..*program|url\..+|http\.proxy|script-shell|node-options|init\.templatedir|include\.path)(?:=.*)?$`)
})

// startsAlone are the files that shells, git and systems run on their own.
var startsAlone = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|/)(?:\.git/hooks/|\.(?:bash|zsh|k)(?:rc|_profile|_login|_logout|env)$|\.(?:profile|zprofile` +
		`|zlogin)$|LaunchAgents/|LaunchDaemons/|` +
		`cron\.\w+/|systemd/(?:user|system)/|autostart/|rc\.local$|profile\.d/)`)
})

// configures says that a command makes other commands run something: a hook, an alias, a job.
func configures(program string, form []string) string {
	switch {
	case program == "git" && slices.ContainsFunc(form[1:], hookKey().MatchString),
		program == "alias" && len(form) > 1 && strings.Contains(form[1], "="),
		(program == "npm" || program == "yarn" || program == "pnpm") && slices.Contains(form, "config") &&
			slices.ContainsFunc(form, hookKey().MatchString):
		return "makes other commands run something"
	case program == "crontab" && len(form) > 1 && form[1] != "-l", slices.ContainsFunc(form[1:], startsAlone().MatchString):
		return "makes something run at another time"
	case program == "env" && len(form) == 1, program == "printenv" && len(form) == 1:
		return "prints the variables of the environment"
	}
	return ""
}

// remotes connect to the host that they are given.
var remotes = words("ssh mosh telnet nc ncat netcat ftp sftp scp rsync rclone socat ssh-copy-id mail mutt rlogin rsh ping " +
	"dig nslookup host")

var hostForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[\w.+-]+@)?([A-Za-z0-9][\w.-]*):(?:$|[^\\/\d]|/[^/]|\d+/)`)
})

// remote returns the host that a command connects to.
func remote(program string, form []string) string {
	if !slices.Contains(remotes, program) {
		return ""
	}
	for _, f := range form[1:] {
		if m := hostForm().FindStringSubmatch(f); m != nil && len(m[1]) > 1 {
			return m[1]
		}
	}
	switch program {
	case "scp", "rsync", "rclone", "socat":
		return ""
	}
	for _, f := range form[1:] {
		if f != "" && f[0] != '-' && strings.ContainsFunc(f, letter) && !strings.ContainsAny(f, "<>") {
			host := f[strings.LastIndexByte(f, '@')+1:]
			if local(host) || program == "host" && !strings.Contains(host, ".") {
				return ""
			}
			return host
		}
	}
	return ""
}

var packageForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^@?[.A-Za-z0-9][\w./+:\[\]@=<>~^,-]*$`) })

// packages returns the packages that a command fetches.
func packages(program string, form []string) (all []string) {
	in, ok := installers()[program]
	if !ok {
		return nil
	}
	rest := in.behind(form[1:])
	one := in.one || in.verbs == nil || slices.ContainsFunc(form, func(f string) bool { return slices.Contains(runsOne, f) })
	for i := 0; i < len(rest); i++ {
		f := rest[i]
		switch {
		case slices.Contains(in.takes, f):
			i++
			continue
		case f == "" || f[0] == '-' || slices.Contains(in.more, f):
			continue
		case !packageForm().MatchString(f) || source(f):
			return all
		}
		if f[0] != '.' {
			all = append(all, f)
		}
		if one {
			break
		}
	}
	return all
}

// runsOne are the words behind which one package follows, and then its arguments.
var runsOne = words("dlx exec x run tool create init")

// source reports whether an argument is a file or an address, and no package.
func source(f string) bool {
	return strings.HasSuffix(f, ".go") || strings.HasSuffix(f, ".ts") || strings.HasSuffix(f, ".js") || strings.Contains(f, "://")
}

// behind returns what follows the word that installs, nil when there is none.
func (in *installer) behind(rest []string) []string {
	if in.verbs == nil {
		return rest
	}
	i := slices.IndexFunc(rest, func(f string) bool { return slices.Contains(in.verbs, f) })
	if i < 0 || i > 2 || i > 0 && !strings.HasPrefix(rest[0], "-") {
		return nil
	}
	return rest[i+1:]
}

// bare returns a package without its version.
func bare(pkg string) string {
	if i := strings.IndexAny(pkg, "=<>~^["); i > 0 {
		pkg = pkg[:i]
	}
	if i := strings.LastIndexByte(pkg, '@'); i > 0 {
		pkg = pkg[:i]
	}
	return strings.TrimSuffix(pkg, "/...")
}

var pipeForms = sync.OnceValue(func() (all []*regexp.Regexp) {
	const programs = `(?:ba|z|da|k|fi)?sh|pwsh|powershell|python[\d.]*|py|node|deno|bun|perl|ruby|php|lua|osascript|iex` +
		`|Invoke-Expression|psql|mysql|sqlite3`
	for _, form := range []string{
		`\|&?\s*(?:(?:sudo|env|nohup|exec|command|time)\s+(?:-\S+\s+)*)*(?:[\w./~-]*/)?(?:` + programs +
			`)(?:\.exe)?\s*((?:[^|;&\n\x60"')]|\\.)*)`,
		`(?:^|[\s;&|("'\x60])(?:(?:` + programs + `|source|eval|exec|xargs)\s+(?:-\S+\s+)*|\.\s+)["']?(?:<\(|\$\(|<<<|\x60)()`,
	} {
		all = append(all, regexp.MustCompile(form))
	}
	return all
})

// piped returns the parts of a line in which an interpreter is given what another command prints.
func piped(s string) (all []suspect) {
	if !strings.ContainsAny(s, "|$<`") {
		return nil
	}
	for _, form := range pipeForms() {
		for _, m := range form.FindAllStringSubmatchIndex(s, 8) {
			rest := strings.Fields(s[m[2]:m[3]])
			if len(rest) > 0 && (rest[0] == "-m" || rest[0] == "-c" || !strings.HasPrefix(rest[0], "-") && !strings.HasPrefix(rest[0], "<")) &&
				m[2] != m[3] {
				if rest[0] != "-m" && rest[0] != "-c" && !strings.ContainsAny(rest[0], "./") && wordsFollow(rest) {
					all = append(all, suspect{text: s, why: "gives an interpreter what another command prints"})
				}
				continue
			}
			all = append(all, suspect{text: s, why: "gives an interpreter what another command prints"})
		}
	}
	return all
}

// wordsFollow reports whether what follows an interpreter is the rest of a sentence, and no argument.
func wordsFollow(rest []string) bool {
	for _, w := range rest {
		if strings.Trim(strings.ToLower(w), "abcdefghijklmnopqrstuvwxyz,.") != "" {
			return false
		}
	}
	return true
}
