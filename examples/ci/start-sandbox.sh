#!/bin/sh
# Starts a sandbox beside the steps of a job, and prints what they need to know of it: start-sandbox.sh <archive>, which is
# coffer-VERSION-x86_64-linux.tar.gz. COFFER_LISTEN says where it listens, on a free port if nothing does. It is
# unpacked into a new folder, where its log is too. It ends with the job.
set -eu
folder=$(mktemp -d)
tar -xzf "$1" -C "$folder" --strip-components=1
listen=${COFFER_LISTEN:-127.0.0.1:0}
nohup "$folder/bin/coffer" sandbox --listen "$listen" --ready-file "$folder/ready" >/dev/null 2>"$folder/log" </dev/null &
for _ in $(seq 100); do
  if [ -s "$folder/ready" ]; then
    sed -n 's/^coffer ready url=\([^ ]*\).*/COFFER_URL=\1/p' "$folder/ready"
    echo "COFFER_KEY=sk_test_sandbox"
    echo "COFFER_LOG_FILE=$folder/log"
    echo "COFFER_PID=$!"
    exit 0
  fi
  if ! kill -0 "$!" 2>/dev/null; then break; fi
  sleep 0.1
done
cat "$folder/log" >&2
echo "start-sandbox: no sandbox came up" >&2
exit 1
