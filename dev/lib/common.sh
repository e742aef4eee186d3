# shellcheck shell=bash
# Shared by the scripts in dev/ and .ci/; sourced, never run.

# modprobe, mkfs and nft are not on every user's path.
PATH=$PATH:/usr/sbin:/sbin

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
script=$(readlink -f "$0") # the one that runs; before it changes the folder

say() { printf '%s\n' "$*"; }
warn() { printf 'warning: %s\n' "$*" >&2; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}
# The arguments are wrong: exit code 2.
misused() {
  printf 'error: %s; try %s --help\n' "$*" "${script#"$root/"}" >&2
  exit 2
}
# A script's first comment, without the marks.
usage() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$script"; }
have() { command -v "$1" >/dev/null 2>&1; }

# Comes before anything else a script does. -h or --help among the arguments: prints the usage and
# ends. An option that the usage does not name is refused.
check_options() { # check_options ARGUMENT...
  local argument known
  known=$(usage)
  for argument in "$@"; do
    if [[ $argument == -h || $argument == --help ]]; then
      say "$known"
      exit 0
    fi
  done
  for argument in "$@"; do
    [[ $argument != -* ]] || grep -qE -- "(^|[^[:alnum:]-])$argument([^[:alnum:]-]|\$)" <<<"$known" \
      || misused "unknown option '$argument'"
  done
}

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
