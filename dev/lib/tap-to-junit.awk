# Turns the TAP that a native test printed into the report format TestSummary.java reads.
# Variables: suite, the name of the tests; status, the exit status of the run.
# A run that failed without saying in which test, or that printed no TAP, is one test by itself.

function escaped(text) {
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  gsub(/"/, "\\&quot;", text)
  gsub(/[^ -~]/, "?", text)
  return text
}

function report(name, verdict) {
  printf "<testcase classname=\"native\" name=\"%s: %s\">%s</testcase>\n", \
    escaped(suite), escaped(name), verdict
  reported++
}

BEGIN { print "<testsuite name=\"native\">" }

/^not ok / {
  sub(/^not ok [0-9]* *-? */, "")
  report($0, "<failure message=\"see the log\"/>")
  failed++
  next
}

/^(ok |1\.\.0).*# SKIP/ {
  reason = $0
  sub(/.*# SKIP */, "", reason)
  sub(/^(ok [0-9]* *-? *|1\.\.0)/, "")
  sub(/ *# SKIP.*/, "")
  report($0 == "" ? "all of them" : $0, "<skipped message=\"" escaped(reason) "\"/>")
  next
}

/^ok / {
  sub(/^ok [0-9]* *-? */, "")
  report($0, "")
}

END {
  if (status != 0 && !failed)
    report("the run as a whole", "<failure message=\"ended with status " status "; see the log\"/>")
  else if (!reported)
    report("the run as a whole", "")
  print "</testsuite>"
}
