#!/bin/sh
# A provisioner for QEMU on this machine: `coffer serve` runs it for every ordered or deleted server. Copy it and read it
# first.
#
#   provision-qemu.sh [--disk-only] FOLDER ADDRESS [IMAGE]
#
# It reads the order from standard input. A server is a QEMU process and a folder in FOLDER, named by the order's id, with
# its disk. It is reached at ADDRESS, on a separate port that leads to its port 22. The disk is empty, or based on IMAGE, a
# qcow2 file that must not be moved. With --disk-only no process is started, and the server has no address.
# It needs jq, qemu-img (qemu-utils) and qemu-system-x86_64 (qemu-system-x86).
#
# Invariant: a repeated order finds its server and gets the same answer. The answer "created": false is given only if
# nothing is left behind. Every other failure has a non-zero exit code and needs a person.
set -eu
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077

PORT_FIRST=22001
PORT_LAST=22999
# Tenths of a second for a guest to shut down before it is killed.
END_TENTHS_MAX=100

fail() {
  echo "provision-qemu: $1" >&2
  exit 1
}

disk_only=no
if [ "${1:-}" = --disk-only ]; then
  disk_only=yes
  shift
fi
[ $# -ge 2 ] || fail "usage: provision-qemu.sh [--disk-only] FOLDER ADDRESS [IMAGE]"
folder=$(cd "$1" && pwd)
address=$2
image=${3:-}
case $folder in *,*) fail "a comma in $folder would end an option of QEMU" ;; esac

order=$(cat)
field() { printf '%s' "$order" | jq -er ".$1"; }
number() { field "$1" | grep -xE '[1-9][0-9]{0,8}'; }
action=$(field action)
id=$(field id | grep -xE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}') || fail "the order has no id"
server=$folder/$id

# One order at a time: the lock is held until this process exits.
exec 9>>"$folder/lock"
flock 9

# Succeeds if process $1 is the server. The process id alone may have been reused.
is_server() { tr '\0' '\n' <"/proc/$1/cmdline" 2>/dev/null | grep -qF "file=$server/disk.qcow2,"; }

# Prints the process id of a running server.
running() {
  pid=$(cat "$server/pid" 2>/dev/null) && is_server "$pid" && echo "$pid"
}

# Stops the server's process and removes the folder.
remove() {
  if pid=$(running); then
    kill "$pid"
    tenths=0
    # QEMU removes its pid file before it exits, so only the process itself is checked.
    while is_server "$pid"; do
      if [ "$tenths" -eq "$END_TENTHS_MAX" ]; then kill -KILL "$pid"; fi
      [ "$tenths" -le $((2 * END_TENTHS_MAX)) ] || fail "process $pid does not end"
      sleep 0.1
      tenths=$((tenths + 1))
    done
  fi
  rm -rf "$server"
}

# Reports failure with nothing left. A delivered server belongs to a customer, with the data on its disk: it stays.
not_created() {
  [ ! -e "$server/answer.json" ] || fail "$id was made before, and now: $1"
  remove
  jq -cn --arg reason "$1" '{created: false, reason: $reason}'
  exit 0
}

# Prints the first port that no other server uses.
free_port() {
  port=$PORT_FIRST
  while grep -qxF "$port" "$folder"/*/port 2>/dev/null; do port=$((port + 1)); done
  [ "$port" -le "$PORT_LAST" ] && echo "$port"
}

make_disk() {
  # The disk is complete or missing: after a crash it is created again.
  rm -f "$server/disk.new"
  if [ -n "$image" ]; then set -- -b "$image" -F qcow2; else set --; fi
  qemu-img create -q -f qcow2 "$@" "$server/disk.new" "${disk_gb}G" >&2 && mv "$server/disk.new" "$server/disk.qcow2"
}

start() {
  # Without /dev/kvm the server is emulated, which is slow but otherwise equal.
  if [ -w /dev/kvm ]; then set -- -accel kvm -accel tcg; else set -- -accel tcg; fi
  # The server does not inherit the lock.
  qemu-system-x86_64 "$@" -name "$hostname" -smp "$cpu" -m "$ram_mb" \
    -drive "file=$server/disk.qcow2,if=virtio,format=qcow2" \
    -nic "user,model=virtio-net-pci,hostfwd=tcp:$address:$port-:22" \
    -display none -serial "file:$server/console.log" -monitor none -pidfile "$server/pid" -daemonize >&2 9>&-
}

# Stores the answer and prints it.
answer() {
  cat >"$server/answer.new"
  mv "$server/answer.new" "$server/answer.json"
  cat "$server/answer.json"
}

create() {
  [ "$(field type)" = kvm ] || not_created "this provisioner makes servers of type kvm only"
  hostname=$(field hostname | grep -xE '[0-9A-Za-z.-]+') || fail "the order has no host name"
  cpu=$(number cpu) && ram_mb=$(number ramMb) && disk_gb=$(number diskGb) || fail "the order has no size"
  mkdir -p "$server"
  if [ -e "$server/order.json" ]; then
    [ "$(cat "$server/order.json")" = "$order" ] || fail "$id was another order before"
  else
    printf '%s\n' "$order" >"$server/order.new"
    mv "$server/order.new" "$server/order.json"
  fi
  if [ -e "$server/answer.json" ] && [ ! -e "$server/disk.qcow2" ]; then fail "the disk of $id is gone"; fi
  [ -e "$server/disk.qcow2" ] || make_disk || not_created "the disk could not be made"
  if [ "$disk_only" = yes ]; then
    jq -cn --arg ref "$id" '{ref: $ref}' | answer
    return
  fi
  if [ ! -s "$server/port" ]; then
    port=$(free_port) || not_created "no port is free"
    echo "$port" >"$server/port"
  fi
  port=$(cat "$server/port")
  running >/dev/null || start || not_created "the server could not be started"
  jq -cn --arg address "$address:$port" --arg ref "$id" '{address: $address, ref: $ref}' | answer
}

case $action in
  create) create ;;
  delete)
    remove
    echo '{}'
    ;;
  *) fail "there is no action $action" ;;
esac
