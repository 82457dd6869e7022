#!/bin/sh
# Starts a sandbox beside the steps of a job, and prints what they need to know of it: start-sandbox.sh <archive>, which is
# coffer-VERSION-x86_64-linux.tar.gz. COFFER_LISTEN says where it listens, on a free port if nothing does; it obeys no other
# setting that the job has. It ends with the job; its log is coffer-sandbox.*/log in the job's folder.
set -eu
for name in $(env | sed -n 's/^\(COFFER_[A-Z0-9_]*\)=.*/\1/p'); do
  if [ "$name" != COFFER_LISTEN ]; then unset "$name"; fi
done
folder=$(mktemp -d "${RUNNER_TEMP:-${CI_PROJECT_DIR:-${TMPDIR:-/tmp}}}/coffer-sandbox.XXXXXX")
program=$folder/program
mkdir "$program"
tar -xzf "$1" -C "$program" --strip-components=1
# The log has a line for each request.
set -- --listen "${COFFER_LISTEN:-127.0.0.1:0}" --log debug --json --ready-file "$folder/ready"
nohup "$program/bin/coffer" sandbox "$@" >/dev/null 2>"$folder/log" </dev/null &
ready() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" "$folder/ready"; }
for _ in $(seq 100); do
  if [ -s "$folder/ready" ]; then
    url=$(ready url) secret=$(ready webhookSecret)
    if [ -z "$url" ] || [ -z "$secret" ]; then break; fi
    # No value has a blank: both shells and GitHub read these lines.
    echo "COFFER_URL=$url"
    echo "COFFER_KEY=sk_test_sandbox"
    echo "COFFER_WEBHOOK_SECRET=$secret"
    echo "COFFER_PID=$!"
    # It runs on without its file.
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
