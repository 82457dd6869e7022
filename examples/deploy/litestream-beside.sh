#!/bin/sh
# Runs Litestream in a container beside Coffer's: litestream-beside.sh <settings> <the file's lock>. Litestream stops at
# once when Coffer ends for any reason, and the container is restarted: litestream.conf explains why. A running Coffer
# holds the lock, which the system releases when Coffer exits.
set -eu
exec 9<"$2"
litestream replicate -config "$1" 9<&- &
copies=$!
# On SIGTERM, Litestream replicates the remaining changes.
trap 'kill "$copies"' TERM
# Without flock it also exits at once: a missing replica is noticed sooner than a damaged one.
(flock -s 9 || true; kill -KILL "$copies" 2>/dev/null) &
wait "$copies" || true
wait "$copies"
