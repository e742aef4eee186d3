# shellcheck shell=bash
# Shared by the scripts in dev/ and .ci/; sourced, never run.

# modprobe, mkfs and nft are not on every user's path.
PATH=$PATH:/usr/sbin:/sbin

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

# The home of the first JDK 17 or newer: JAVA_HOME, then javac on the PATH, then the usual places.
find_jdk() {
  local home javac
  javac=$(command -v javac || true)
  for home in "${JAVA_HOME:-}" "${javac:+$(dirname "$(dirname "$(readlink -f "$javac")")")}" \
    /usr/lib/jvm/*; do
    if [[ -n $home && -x $home/bin/javac && -f $home/include/jni.h ]] \
      && (($(javac_major "$home") >= 17)); then
      say "$home"
      return
    fi
  done
  return 1
}

javac_major() {
  local version
  version=$("$1/bin/javac" -version 2>&1) || version=
  if [[ $version =~ ^javac\ ([0-9]+) ]]; then
    say "${BASH_REMATCH[1]}"
  else
    say 0
  fi
}

# Maven, from the checked-in wrapper, with the JDK the build needs. Callers bootstrap first.
maven() {
  JAVA_HOME=$(find_jdk) "$root/mvnw" --batch-mode --no-transfer-progress --file "$root/pom.xml" "$@"
}
