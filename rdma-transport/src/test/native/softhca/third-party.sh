#!/usr/bin/env bash
# Runs Debian's unmodified rping and perftest on the software adapter, preloaded into both processes.
#
#   third-party.sh LIBSOFTHCA    prints TAP; needs rping (rdmacm-utils) and perftest
#
# Without these programs it skips, or fails where RDMASHUFFLE_CI=true says that everything must run.
set -u
library=$(readlink -f "${1:?usage: third-party.sh path/to/libsofthca.so}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOFTHCA_QUIET=1

for program in rping ib_read_bw ib_read_lat; do
  command -v "$program" >/dev/null && continue
  echo "1..0 # SKIP $program is not installed (Debian: rdmacm-utils, perftest)"
  [[ ${RDMASHUFFLE_CI:-} != true ]]
  exit
done

number=0
failed=0
port=$((20000 + $$ % 10000))

# Preloaded into the two processes only: the tools around them stay as they are.
on_adapter() { timeout 60 env LD_PRELOAD="$library" "$@"; }

# Waits until the server listens; CM port p is TCP port p ^ 0x4000, or p itself where one of the two is below 1024.
listening() {
  local hex
  hex=$(printf '%04X' $(($1 ^ 0x4000)))
  for _ in $(seq 200); do
    grep -q ":$hex .* 0A " /proc/net/tcp /proc/net/tcp6 && return 0
    sleep 0.05
  done
  return 1
}

# pair NAME SERVER -- CLIENT: both must end well.
pair() {
  local name=$1 server=() status=0 pid
  shift
  while [[ $1 != -- ]]; do
    server+=("$1")
    shift
  done
  shift
  number=$((number + 1))
  on_adapter "${server[@]}" >"$work/server.log" 2>&1 &
  pid=$!
  listening "$port" || echo "# nobody listens on CM port $port"
  on_adapter "$@" >"$work/client.log" 2>&1 || status=1
  wait "$pid" || status=1
  if ((status)); then
    failed=1
    sed 's/^/# server: /' "$work/server.log" | tail -n 8
    sed 's/^/# client: /' "$work/client.log" | tail -n 8
    echo "not ok $number - $name"
  else
    grep -A1 '#bytes' "$work/client.log" | sed 's/^/# /'
    echo "ok $number - $name"
  fi
  port=$((port + 1))
}

rping_pair() {
  pair "rping $*" rping -s -a 127.0.0.1 -p "$port" -C 200 -v "$@" -- rping -c -a 127.0.0.1 -p "$port" -C 200 -v "$@"
}

perftest_pair() {
  local tool=$1
  shift
  pair "$tool -R $*" "$tool" -R -p "$port" "$@" -- "$tool" -R -p "$port" "$@" 127.0.0.1
}

echo "1..9"
rping_pair -S 64
rping_pair -S 60000
perftest_pair ib_read_bw -s 65536 -n 1000
perftest_pair ib_read_bw -s 1048576 -n 500
perftest_pair ib_read_bw -s 65536 -n 500 -q 4
perftest_pair ib_read_lat -s 4096 -n 1000
perftest_pair ib_read_lat -s 4096 -n 1000 -e
export SOFTHCA_DIRECT=0
perftest_pair ib_read_bw -s 65536 -n 500
perftest_pair ib_read_lat -s 4096 -n 500 -e
exit "$failed"
