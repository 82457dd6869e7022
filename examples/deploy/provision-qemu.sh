#!/bin/sh
# A provisioner for QEMU on this machine: `coffer serve` runs it for every server that is ordered or given up. Copy it
# and read it first.
#
#   provision-qemu.sh [--disk-only] FOLDER ADDRESS [IMAGE]
#
# It reads the order on standard input. A server is a folder in FOLDER, named by the order's id, with its disk, and a
# QEMU process. It is reached at ADDRESS, on a port of its own that leads to its port 22. The disk is empty, or begins
# as IMAGE, a qcow2 file that must stay where it is. With --disk-only nothing is started and there is no address.
# It needs jq, qemu-img (qemu-utils) and qemu-system-x86_64 (qemu-system-x86).
#
# What always holds: the same order again finds its server and answers the same; "created": false is said only where
# nothing is left behind; everything else ends with another exit code than 0, and a person has to look.
set -eu
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 077

PORT_FIRST=22001
PORT_LAST=22999
# Tenths of a second that a guest has to end before it is killed.
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

# One order at a time: until this process ends.
exec 9>>"$folder/lock"
flock 9

# Is process $1 the server? A number alone may be another's by now.
is_server() { tr '\0' '\n' <"/proc/$1/cmdline" 2>/dev/null | grep -qF "file=$server/disk.qcow2,"; }

# The process of the server, where it runs.
running() {
  pid=$(cat "$server/pid" 2>/dev/null) && is_server "$pid" && echo "$pid"
}

# Ends the server's process, and takes the folder away.
remove() {
  if pid=$(running); then
    kill "$pid"
    tenths=0
    # It takes its pid file away before it ends: only the process itself tells.
    while is_server "$pid"; do
      if [ "$tenths" -eq "$END_TENTHS_MAX" ]; then kill -KILL "$pid"; fi
      [ "$tenths" -le $((2 * END_TENTHS_MAX)) ] || fail "process $pid does not end"
      sleep 0.1
      tenths=$((tenths + 1))
    done
  fi
  rm -rf "$server"
}

# Nothing of the order is left. A server that was handed over is another's, with what is on its disk: it stays.
not_created() {
  [ ! -e "$server/answer.json" ] || fail "$id was made before, and now: $1"
  remove
  jq -cn --arg reason "$1" '{created: false, reason: $reason}'
  exit 0
}

# The first port that no other server has.
free_port() {
  port=$PORT_FIRST
  while grep -qxF "$port" "$folder"/*/port 2>/dev/null; do port=$((port + 1)); done
  [ "$port" -le "$PORT_LAST" ] && echo "$port"
}

make_disk() {
  # Complete, or not there: what a crash leaves is begun anew.
  rm -f "$server/disk.new"
  if [ -n "$image" ]; then set -- -b "$image" -F qcow2; else set --; fi
  qemu-img create -q -f qcow2 "$@" "$server/disk.new" "${disk_gb}G" >&2 && mv "$server/disk.new" "$server/disk.qcow2"
}

start() {
  # Without /dev/kvm it is emulated: slow, and the same otherwise.
  if [ -w /dev/kvm ]; then set -- -accel kvm -accel tcg; else set -- -accel tcg; fi
  # The lock is not the server's to hold.
  qemu-system-x86_64 "$@" -name "$hostname" -smp "$cpu" -m "$ram_mb" \
    -drive "file=$server/disk.qcow2,if=virtio,format=qcow2" \
    -nic "user,model=virtio-net-pci,hostfwd=tcp:$address:$port-:22" \
    -display none -serial "file:$server/console.log" -monitor none -pidfile "$server/pid" -daemonize >&2 9>&-
}

# Keeps what is answered, and answers it.
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
