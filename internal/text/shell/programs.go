package shell

// shellPrograms run the command line that they are given behind one of lineFlags.
var (
	shellPrograms = []string{"bash", "sh", "zsh", "dash", "ksh", "fish", "pwsh", "powershell"}
	lineFlags     = []string{"-c", "-lc", "-ec", "-ic", "-lic", "-Command", "-command"}
)

// blockWords begin a part of a loop, of a condition or of a function.
var blockWords = []string{"if", "then", "else", "elif", "fi", "while", "until", "for", "do", "done", "case", "esac", "function", "select"}

// shellWords precede a command.
var shellWords = []string{"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "[[", "]]"}

// runners run the command that follows them, or follows one of the words: sudo, npx, uv run.
var runners = map[string][]string{
	"sudo": nil, "doas": nil, "env": nil, "time": nil, "nohup": nil, "nice": nil, "xargs": nil, "command": nil, "exec": nil,
	"builtin": nil, "eval": nil, "stdbuf": nil, "timeout": nil, "ionice": nil, "setsid": nil, "busybox": nil,
	"cmd": {"/c", "/C"}, "npx": nil, "bunx": nil, "uvx": nil, "corepack": nil,
	"npm": {"exec", "x"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "bun": {"x"}, "uv": {"run"}, "poetry": {"run"},
	"pipenv": {"run"}, "pipx": {"run"}, "bundle": {"exec"}, "python": {"-m"}, "python3": {"-m"}, "py": {"-m"},
}

// runnerFlags are options of runners that take the next word.
var runnerFlags = map[string][]string{
	"sudo": {"-u", "-g", "-h", "-p", "-C", "-D", "-T", "--user", "--group"}, "doas": {"-u", "-C"}, "env": {"-u", "-C", "-S"},
	"nice": {"-n"}, "ionice": {"-c", "-n", "-p"}, "timeout": {"-s", "-k"}, "stdbuf": {"-i", "-o", "-e"}, "time": {"-o", "-f"},
	"xargs": {"-n", "-P", "-I", "-L", "-d", "-a", "-E", "-s"}, "npx": {"-p", "--package"}, "uvx": {"--from", "--with", "--python"},
	"uv": {"--directory", "--project", "--with", "--python"}, "npm": {"--prefix", "-w", "--workspace"},
	"pnpm": {"--filter", "-F", "-C", "--dir"}, "yarn": {"--cwd"}, "poetry": {"-C"}, "bundle": {"--gemfile"},
}

// silentPrograms print, list and move about. They are part of most command lines, so a call of
// them alone costs no look into the index, and no trigger of a command fits them.
var silentPrograms = []string{
	"[", "alias", "basename", "break", "case", "cd", "continue", "date", "df", "dirname", "du", "echo", "esac", "exit", "export",
	"false", "for", "function", "hostname", "id", "in", "ls", "popd", "printenv", "printf", "ps", "pushd", "pwd", "read", "return",
	"select", "seq", "set", "shift", "sleep", "test", "true", "type", "uname", "unset", "wait", "whereis", "which", "whoami", "yes",
}
