package recall

// shellPrograms run the command line that they are given.
var shellPrograms = []string{"bash", "sh", "zsh", "dash", "ksh", "fish"}

// wrappers run the program that follows them, shellWords stand before one.
var (
	wrappers = []string{
		"sudo", "doas", "env", "time", "nohup", "nice", "xargs", "command", "exec", "builtin", "stdbuf", "timeout", "ionice", "setsid",
	}
	shellWords = []string{"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "[[", "]]"}
)

// plainPrograms are part of most command lines and are never what a rule is about:
// they look, print and move about. Their arguments are not touched.
var plainPrograms = []string{
	"[", "ag", "alias", "awk", "basename", "bat", "break", "case", "cat", "cd", "cmp", "column", "comm", "continue", "cut", "date",
	"df", "diff", "dirname", "du", "echo", "egrep", "esac", "exit", "export", "false", "fd", "fgrep", "file", "find", "for",
	"function", "gawk", "grep", "head", "hexdump", "hostname", "id", "in", "jq", "less", "ls", "md5sum", "more", "nl", "od", "popd",
	"printenv", "printf", "ps", "pushd", "pwd", "read", "readlink", "realpath", "return", "rg", "sed", "select", "seq", "set",
	"sha256sum", "shasum", "shift", "sleep", "sort", "source", "stat", "strings", "tac", "tail", "tee", "test", "tr", "tree", "true",
	"type", "uname", "uniq", "unset", "wait", "wc", "whereis", "which", "whoami", "xxd", "yes", "yq",
}

// gitReads are the orders of git that change nothing.
var gitReads = []string{
	"blame", "cat-file", "describe", "diff", "grep", "log", "ls-files", "ls-tree", "rev-parse", "shortlog", "show", "status",
}

// families are programs of many orders: the program alone says nothing.
var families = []string{
	"ansible", "apt", "apt-get", "aws", "az", "bash", "bazel", "brew", "bun", "bundle", "cargo", "chmod", "chown", "cmake", "composer",
	"conda", "corepack", "cp", "curl", "deno", "docker", "dotnet", "flutter", "gcloud", "gem", "gh", "git", "glab", "go", "gradle",
	"gradlew", "heroku", "helm", "java", "javac", "just", "kill", "kubectl", "ln", "make", "mix", "mkdir", "mv", "mvn", "mvnw", "nix",
	"node", "npm", "npx", "nx", "perl", "php", "pip", "pip3", "pnpm", "podman", "poetry", "psql", "pulumi", "python", "python3",
	"rake", "rails", "rm", "rsync", "ruby", "rustup", "scp", "sh", "ssh", "swift", "systemctl", "tar", "task", "terraform", "touch",
	"turbo", "uv", "vim", "wget", "yarn", "zsh",
}

// nestedPrograms are those of which the third word says what is done; nil means
// behind any second one.
var nestedPrograms = map[string][]string{
	"gh": nil, "glab": nil, "aws": nil, "az": nil, "gcloud": nil, "heroku": nil,
	"npm": {"run", "exec", "run-script"}, "pnpm": {"run", "exec", "dlx"}, "yarn": {"run", "workspace"}, "bun": {"run", "x"},
	"docker": {"compose", "image", "container", "volume", "network", "buildx"}, "podman": {"compose"},
	"kubectl": {"rollout", "config", "get", "delete", "apply"}, "helm": {"repo"}, "terraform": {"state", "workspace"},
	"git": {"remote", "stash", "worktree", "submodule", "bisect"}, "go": {"mod", "tool"}, "uv": {"run", "pip", "tool"},
	"poetry": {"run"}, "bundle": {"exec"}, "mix": nil, "dotnet": {"ef", "tool"},
}

// verbs are programs whose names are words of English: prose that holds "make test"
// need not mean a command.
var verbs = []string{
	"at", "cut", "find", "go", "just", "kill", "make", "open", "patch", "split", "start", "task", "time", "watch", "write",
}

// callers stand in prose before a command.
var callers = []string{
	"run", "runs", "running", "ran", "rerun", "re-run", "call", "calls", "use", "uses", "using", "with", "via", "by", "then", "never",
	"always", "not", "don't", "only", "invoke", "execute", "type", "do", "through", "command", "mit", "per", "avec", "lance", "lancer",
	"con", "ejecuta", "usa",
}

// valuedFlags are options before the order of a program that take the next word.
var valuedFlags = map[string][]string{
	"git": {"-C", "-c", "--git-dir", "--work-tree"}, "make": {"-C", "-f", "-j", "--directory", "--file"}, "npm": {
		"--prefix", "-w", "--workspace",
	},
	"pnpm": {"--filter", "-F", "-C", "--dir"}, "yarn": {"--cwd"}, "docker": {"-H", "--context", "-c"}, "kubectl": {
		"-n", "--namespace", "--context",
	},
	"go": {"-C"}, "cargo": {"-C", "--config"}, "uv": {"--directory", "--project"}, "gh": {"-R", "--repo"}, "helm": {
		"-n", "--namespace",
	},
	"aws": {"--profile", "--region"}, "gcloud": {"--project"}, "ssh": {"-i", "-p", "-l"}, "poetry": {"-C"}, "just": {
		"-f", "--justfile",
	},
	"task": {"-t", "-d"}, "bundle": {"--gemfile"},
}
