#!/usr/bin/env bash
# Builds the native libraries into the classes folder, from where they travel in the jar.
# Maven runs it (see rdma-transport/pom.xml); it is a no-op when everything is up to date.
#
#   build.sh CLASSES_DIR WORK_DIR
#
# JAVA_HOME        the JDK whose jni.h to use
# NATIVE_REQUIRED  true: what is missing fails the build. Otherwise the Java build goes on, and
#                  CLASSES_DIR/native/ABSENT.txt tells the runtime why there is no library.
# NATIVE_CROSS     auto: also build for the other architecture if its compiler is here.
#                  true: do, and fail if it is not. false: do not.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
classes=$1/native
work=$2
libraries=(disni softhca)

declare -A packages=(
  [gcc]=gcc [make]=make [strip]=binutils [stdio.h]=libc6-dev
  [infiniband/verbs.h]=libibverbs-dev [rdma/rdma_cma.h]=librdmacm-dev
  [jni.h]=openjdk-17-jdk-headless
)

have() { command -v "$1" >/dev/null 2>&1; }

compiles() { # compiles CC HEADER...
  local cc=$1
  shift
  printf '#include <%s>\n' "$@" \
    | "$cc" "-I${JAVA_HOME:-/nonexistent}/include" "-I${JAVA_HOME:-/nonexistent}/include/linux" \
      -x c -fsyntax-only - 2>/dev/null
}

# Prints what is missing to build with the given tools, one name a line.
missing_for() { # missing_for CC STRIP
  local cc=$1 strip=$2 name
  local headers=(stdio.h infiniband/verbs.h rdma/rdma_cma.h jni.h)
  have make || echo make
  have "$strip" || echo "$strip"
  have "$cc" || {
    echo "$cc"
    return
  }
  compiles "$cc" "${headers[@]}" && return
  for name in "${headers[@]}"; do
    # verbs.h needs the C library's headers, so those alone are named if they are what is missing.
    compiles "$cc" "$name" || {
      echo "$name"
      [[ $name != stdio.h ]] || return 0
    }
  done
}

# Folders of this host stay out of the debug information, from which the build id is computed: the
# same sources give the same libraries.
same_everywhere="-ffile-prefix-map=$here=native -ffile-prefix-map=${JAVA_HOME:-/nonexistent}=jdk"

# What the runtime compares before it lets the dynamic linker have the library: LibraryDigest.
write_digest() { # write_digest LIBRARY DIGEST
  printf '%s %s\n' "$(sha256sum <"$1" | cut -d ' ' -f 1)" "$(stat -c %s "$1")" >"$2"
}

build_for() { # build_for MACHINE CC STRIP
  local machine=$1 cc=$2 strip=$3 library built packed
  local out=$work/linux-$machine
  mkdir -p "$out" "$classes/linux-$machine"
  for library in "${libraries[@]}"; do
    make --no-print-directory --silent -C "$here/$library" "OUT=$out/$library" "CC=$cc" \
      "CFLAGS=$same_everywhere" all
    built=$out/$library/lib$library.so
    packed=$classes/linux-$machine/lib$library.so
    if [[ ! $packed -nt $built || ! -f $packed.sha256 ]]; then
      "$strip" --strip-unneeded -o "$packed.tmp" "$built"
      write_digest "$packed.tmp" "$packed.sha256"
      mv "$packed.tmp" "$packed"
      echo "built ${packed#"$classes/"}"
    fi
  done
}

give_up() { # give_up REASON REMEDY
  local reason=$1 remedy=$2
  if [[ ${NATIVE_REQUIRED:-false} == true ]]; then
    printf 'error: native.required=true, but %s. %s\n' "$reason" "$remedy" >&2
    exit 1
  fi
  printf 'warning: building without the native libraries, so without RDMA: %s.\n' "$reason" >&2
  printf '         %s\n' "$remedy" >&2
  rm -rf "$classes"
  mkdir -p "$classes"
  printf '%s\n' "$reason" >"$classes/ABSENT.txt"
}

names() { # names LINE...: "a, b, c"
  local joined
  joined=$(printf '%s, ' "$@")
  echo "${joined%, }"
}

host=$(uname -m)
if [[ $(uname -s) != Linux || ($host != x86_64 && $host != aarch64) ]]; then
  give_up "they are for Linux on x86_64 or aarch64, and this is $(uname -s) on $host" \
    "Build on such a host, or take a jar that was built on one."
  exit 0
fi

mapfile -t missing < <(missing_for gcc strip)
if ((${#missing[@]})); then
  wanted=()
  for name in "${missing[@]}"; do
    wanted+=("${packages[$name]}")
  done
  give_up "the build host lacks $(names "${missing[@]}")" \
    "On Debian or Ubuntu: dev/bootstrap, or apt-get install ${wanted[*]}"
  exit 0
fi
rm -f "$classes/ABSENT.txt"
build_for "$host" gcc strip

other=aarch64
[[ $host == x86_64 ]] || other=x86_64
cross=$other-linux-gnu
case ${NATIVE_CROSS:-auto} in
  false) exit 0 ;;
  auto | true) ;;
  *)
    echo "error: native.cross=${NATIVE_CROSS} is not one of auto, true, false" >&2
    exit 1
    ;;
esac
mapfile -t missing < <(missing_for "$cross-gcc" "$cross-strip")
if ((${#missing[@]} == 0)); then
  build_for "$other" "$cross-gcc" "$cross-strip"
elif [[ ${NATIVE_CROSS:-auto} == true ]]; then
  echo "error: native.cross=true, but the build host lacks $(names "${missing[@]}")." \
    "Install: gcc-${other/_/-}-linux-gnu libc6-dev-$([[ $other == aarch64 ]] && echo arm64 || echo amd64)-cross" >&2
  exit 1
fi
