#!/bin/sh
# Installs anamnesis for you alone, without root:
#
#   curl -fsSL ADDRESS/install.sh | sh
#
# It downloads the archive for this system and the checksums of the release, unpacks
# nothing whose SHA-256 does not fit, and puts one file into ~/.local/bin. It changes no
# other file: it prints the line that your shell's profile may need.
#
#   ANAMNESIS_RELEASES     address of the folder with the files of a release
#   ANAMNESIS_INSTALL_DIR  folder for the program, instead of ~/.local/bin
#
# Everything stands in functions that the last line calls: of a script that arrives cut
# off, nothing runs.
set -eu

# A release writes its own address here; a checkout has none.
address=

say() { printf '%s\n' "install.sh: $*" >&2; }

fail() {
	say "$*"
	say "nothing was installed"
	exit 1
}

# get downloads address $1 into file $2. A file that is not there is a failure.
# A server of https does not redirect to http.
get() {
	proto='=http,https'
	case $1 in https:*) proto='=https' ;; esac
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --retry 2 --proto "$proto" --proto-redir "$proto" -o "$2" "$1"
	elif command -v wget >/dev/null 2>&1; then
		if [ "$proto" = =https ] && wget -S --spider "$1" 2>&1 | grep -qi '^ *location: *http:'; then
			fail "$1 redirects to an address without encryption"
		fi
		wget -q -O "$2" "$1"
	else
		fail "neither curl nor wget is there to download with"
	fi
}

# sum prints the SHA-256 of file $1.
sum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1"
	elif command -v shasum >/dev/null 2>&1; then
		shasum -a 256 "$1"
	elif command -v openssl >/dev/null 2>&1; then
		openssl dgst -sha256 -r "$1"
	else
		fail "none of sha256sum, shasum and openssl is there to check with"
	fi | cut -d ' ' -f 1
}

system() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no archive for $(uname -s); on Windows use Scoop or npm" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no archive for the processor $(uname -m)" ;;
	esac
	# A shell that Rosetta translates says amd64 on a machine that is not.
	if [ "$os/$arch" = darwin/amd64 ] && [ "$(sysctl -n hw.optional.arm64 2>/dev/null || :)" = 1 ]; then
		arch=arm64
	fi
}

main() {
	address=${ANAMNESIS_RELEASES:-$address}
	[ -n "$address" ] || fail "this copy does not know where releases are; set ANAMNESIS_RELEASES to the address of one"
	address=${address%/}
	case $address in
	https://* | http://127.0.0.1[:/]* | http://localhost[:/]*) ;;
	*) fail "releases come over https, and $address does not" ;;
	esac
	dir=${ANAMNESIS_INSTALL_DIR:-${HOME:?}/.local/bin}
	system

	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	get "$address/checksums.txt" "$tmp/checksums.txt" || fail "$address/checksums.txt cannot be downloaded"

	# One line: the sum, two spaces, anamnesis_VERSION_OS_ARCH.tar.gz.
	line=$(grep -E "^[0-9a-f]{64}  anamnesis_[0-9A-Za-z.+~-]+_${os}_$arch\\.tar\\.gz\$" "$tmp/checksums.txt") ||
		fail "the release has no archive for $os/$arch"
	[ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "the release has more than one archive for $os/$arch"
	want=${line%% *}
	archive=${line##* }

	get "$address/$archive" "$tmp/archive" || fail "$address/$archive cannot be downloaded"
	got=$(sum "$tmp/archive")
	[ "$got" = "$want" ] || fail "$archive is not what the release says: its SHA-256 is $got, and should be $want"
	tar -xzf "$tmp/archive" -C "$tmp" anamnesis || fail "$archive cannot be unpacked"
	"$tmp/anamnesis" version >/dev/null || fail "the program does not run here"

	# Written beside its place and renamed: a running hook sees the old one or the new one.
	mkdir -p "$dir" || fail "$dir cannot be made"
	new=$dir/.anamnesis.new.$$
	if ! { cp "$tmp/anamnesis" "$new" && chmod 755 "$new" && mv -f "$new" "$dir/anamnesis"; }; then
		rm -f "$new"
		fail "$dir cannot be written; set ANAMNESIS_INSTALL_DIR to a folder that can"
	fi
	say "$dir/anamnesis is there: $("$dir/anamnesis" version)"
	case :$PATH: in
	*":$dir:"*) say 'next: anamnesis init --print shows what connecting your agents would change' ;;
	*)
		say "$dir is not on your PATH. This line in the profile of your shell puts it there:"
		# shellcheck disable=SC2016 # it is for the profile, which expands it
		printf '  export PATH="%s:$PATH"\n' "$dir" >&2
		say "next: $dir/anamnesis init --print shows what connecting your agents would change"
		;;
	esac
}

main "$@"
