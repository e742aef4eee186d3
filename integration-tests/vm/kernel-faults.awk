# Prints the faults in a kernel log that RDMA code had a part in, each up to its end.
# A machine that is emulated on a busy host misses its watchdogs now and then: stalls and lock-ups
# count only where RDMA code is in the trace.

function close_fault() {
  if (fault != "" && (serious || fault ~ rdma))
    printf "%s", fault
  fault = ""
}

BEGIN {
  rdma = "rdma|\\[ib_|rxe|siw|iw_cm|uverbs"
  begins = "WARNING: |BUG: |Oops|general protection fault|blocked for more than|detected stall"
}

{ line = $0; sub(/^\[ *[0-9.]+\] */, "", line) }

line ~ begins && fault == "" {
  serious = line ~ /Oops|general protection|BUG: (unable|kernel NULL|KASAN|Bad)/
  lines = 0
}

line ~ begins || fault != "" {
  fault = fault $0 "\n"
  lines++
}

line ~ /end trace|<\/TASK>/ || lines > 80 { close_fault() }

END { close_fault() }
