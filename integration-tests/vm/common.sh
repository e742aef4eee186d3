# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder that run on the host; sourced, never run.

. "$(dirname "${BASH_SOURCE[0]}")/../../dev/lib/common.sh"

vm_home=$root/integration-tests/vm
# Kernels are kept between runs and between checkouts: fetching one takes a minute.
vm_cache=${RDMASHUFFLE_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rdma-shuffle}

# The suite of Debian that has a kernel.
kernel_suite() { # kernel_suite KERNEL
  case $1 in
    6.1) say bookworm ;;
    6.12) say trixie ;;
    7) say sid ;;
    *) die "unknown kernel '$1': 6.1, 6.12 or 7" ;;
  esac
}

# Where a fetched kernel is: vmlinuz, version, lib/modules, and lib/modules/siw.ko once built.
kernel_folder() { # kernel_folder KERNEL
  say "$vm_cache/kernels/$1"
}
