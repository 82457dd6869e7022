#!/bin/sh
# Litestream in a container beside Coffer's: litestream-beside.sh <settings> <the file's lock>. It ends at once when Coffer
# ends, however that is, and the container is started again; litestream.conf says why. While Coffer runs it holds the lock,
# which the system lets go of when Coffer is gone.
set -eu
exec 9<"$2"
litestream replicate -config "$1" 9<&- &
copies=$!
# On SIGTERM Litestream copies what is left.
trap 'kill "$copies"' TERM
# Without flock it ends at once too: a copy that is not made is seen sooner than one that is damaged.
(flock -s 9 || true; kill -KILL "$copies" 2>/dev/null) &
wait "$copies" || true
wait "$copies"
