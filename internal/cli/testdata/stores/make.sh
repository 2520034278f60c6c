#!/usr/bin/env bash
# Makes a store with a program of ours, for TestFormerStores:
# make.sh PROGRAM ARCHIVE
#
# Whoever raises the schema of the index adds the store that the first program with that
# schema makes. The commands are written for all of them: one that a program does not know
# is passed over.
set -uo pipefail
program=$(realpath "$1") archive=$(realpath -m "$2")
here=$(realpath "$(dirname "$0")")
export HOME=/tmp/former PATH=/usr/bin:/bin LC_ALL=C.UTF-8 TZ=UTC ANAMNESIS_MACHINE_ID=old GIT_CONFIG_GLOBAL=/dev/null

rm -rf $HOME
mkdir -p $HOME/shop/.git/{refs,objects}
cd $HOME/shop || exit 1
echo 'ref: refs/heads/main' >.git/HEAD
printf '[remote "origin"]\n\turl = https://github.com/acme/shop.git\n' >.git/config
cp "$here"/*.jsonl $HOME

try() { timeout 60 "$program" "$@" </dev/null >/dev/null 2>&1; }
try add --title 'Use tabs in Go files' --body 'gofmt writes tabs; an editor set to spaces makes noise in every diff.' --tag style
try add --type procedural --title 'Regenerate the clients after editing payments.proto' --body 'Run make proto-gen; without it staging breaks at checkout.' --tag grpc
try add --global --title 'No attribution lines in commit messages' --body 'The team reads the log; say what changed and why.'
try add --scope machine-local --title 'The staging database is at port 5433' --body 'A tunnel of this machine.'
try add --title 'The cache lives in Redis' --body 'This turned out to be wrong.'
try capture --transcript $HOME/first.jsonl --no-sync
id=$(basename "$(grep -l 'cache lives' .. -r --include='*.md' | head -n 1)" .md)
try forget "$id" --now || try forget "$id" --apply || try forget "$id"
try drain || try doctor drain
try sync
# A session that waits: whoever holds the lock of background runs keeps them from capturing it.
event='{"session_id":"5e551012-0000-4000-8000-000000000002","transcript_path":"/tmp/former/second.jsonl","cwd":"/tmp/former/shop","hook_event_name":"SessionEnd","reason":"clear"}'
sleep 1
(
	flock 9
	ANAMNESIS_HOOK=1 timeout 20 "$program" capture <<<"$event"
	sleep 2
) 9>$HOME/.anamnesis/drain.lock
tar --sort=name --owner=0 --group=0 --numeric-owner -C $HOME -cf - . | gzip -9n >"$archive"
rm -rf $HOME
