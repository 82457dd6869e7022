#!/bin/sh
# Starts a sandbox for the steps of a job and prints its settings: start-sandbox.sh <archive>, where the archive is
# coffer-VERSION-x86_64-linux.tar.gz. COFFER_LISTEN is the listening address, by default a free port. Other settings of
# the job have no effect. The sandbox ends with the job. Its log is coffer-sandbox.*/log in the job's folder.
set -eu
for name in $(env | sed -n 's/^\(COFFER_[A-Z0-9_]*\)=.*/\1/p'); do
  if [ "$name" != COFFER_LISTEN ]; then unset "$name"; fi
done
folder=$(mktemp -d "${RUNNER_TEMP:-${CI_PROJECT_DIR:-${TMPDIR:-/tmp}}}/coffer-sandbox.XXXXXX")
program=$folder/program
mkdir "$program"
tar -xzf "$1" -C "$program" --strip-components=1
# The log has one line for each request.
set -- --listen "${COFFER_LISTEN:-127.0.0.1:0}" --log debug --json --ready-file "$folder/ready"
nohup "$program/bin/coffer" sandbox "$@" >/dev/null 2>"$folder/log" </dev/null &
ready() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$folder/ready"; }
for _ in $(seq 100); do
  if [ -s "$folder/ready" ]; then
    url=$(ready url) secret=$(ready webhookSecret)
    if [ -z "$url" ] || [ -z "$secret" ]; then break; fi
    # No value contains a space, so that shells and GitHub can read these lines.
    echo "COFFER_URL=$url"
    echo "COFFER_KEY=sk_test_sandbox"
    echo "COFFER_WEBHOOK_SECRET=$secret"
    echo "COFFER_PID=$!"
    # The program keeps running after its file is deleted.
    rm -r "$program"
    exit 0
  fi
  if ! kill -0 "$!" 2>/dev/null; then break; fi
  sleep 0.1
done
kill "$!" 2>/dev/null || true
cat "$folder/log" >&2
echo "start-sandbox: no sandbox came up" >&2
exit 1
