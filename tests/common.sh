# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the suites share: checks with a name, their output kept back unless they fail, and the closing counts.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root" || exit 2
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
passed=0 failed=0 skipped=0
LIMIT=${LIMIT:-600}          # seconds for one check
LIMIT_ALL=${LIMIT_ALL:-1800} # seconds for a command that makes many of them
[ -z "${LADE_FULL:-}" ] || LIMIT=$((LIMIT * 6)) LIMIT_ALL=$((LIMIT_ALL * 6))

counts_line='^ *([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$'

row() { printf '  %-5s %s\n' "$1" "$2"; }

# check NAME COMMAND...: a check passes when its command does. A last output line "note: TEXT" goes into the row.
check() {
  local name=$1 begin=${EPOCHREALTIME/./} seconds note
  shift
  if [ "$(type -t "$1")" = function ]; then ("$@"); else timeout -k 10 "$LIMIT" "$@"; fi >"$temp/out" 2>&1
  local status=$?
  seconds=$(((${EPOCHREALTIME/./} - begin) / 100000))
  note=$(tail -n 1 "$temp/out" | sed -n 's/^note: //p')
  name="$name${note:+: $note} ($((seconds / 10)).$((seconds % 10)) s)"
  if [ $status = 0 ]; then
    passed=$((passed + 1))
    row PASS "$name"
    return
  fi
  failed=$((failed + 1))
  [ $status != 124 ] || name="$name, stopped after $LIMIT s"
  row FAIL "$name"
  sed 's/^/        /' "$temp/out"
  return 1
}

# answers CODE PATTERN COMMAND...: COMMAND ends with CODE and prints a line that matches PATTERN.
answers() {
  local code=$1 pattern=$2 status=0 output
  shift 2
  output=$("$@" 2>&1) || status=$?
  grep -qE -- "$pattern" <<<"$output" && [ "$status" = "$code" ] && return
  printf 'exit code %s, expected %s and a line like: %s\n%s\n' "$status" "$code" "$pattern" "$output"
  return 1
}

skip() {
  skipped=$((skipped + 1))
  row SKIP "$1: $2"
}

# have GROUP NAME: are the tools of GROUP there? If not, the check NAME counts as skipped.
have() {
  local reason
  reason=$(tools/setup --check "$1") && return
  skip "$2" "${reason#*: }"
  return 1
}

# take_counts COMMAND...: a command that prints its own rows and then "N passed, N failed, N skipped"; adds those
# counts. Shows the rows as they come; with QUIET=1 those that passed only if others failed, and one row for all.
take_counts() {
  local begin=$SECONDS status=0 counts p f s
  timeout -k 10 "$LIMIT_ALL" "$@" 2>&1 | tee "$temp/out" |
    if [ "${QUIET:-}" ]; then cat >/dev/null; else grep --line-buffered -vE "$counts_line" | sed -u 's/^/  /'; fi
  status=${PIPESTATUS[0]}
  counts=$(sed -nE "s/$counts_line/\\1 \\2 \\3/p" "$temp/out" | tail -n 1)
  read -r p f s <<<"${counts:-0 0 0}"
  if [ "$f" = 0 ] && { [ "$status" != 0 ] || [ $((p + s)) = 0 ]; }; then
    row FAIL "$1 ended with exit code $status after $p checks, without reporting a failure"
    f=1
  fi
  if [ "${QUIET:-}" ] && [ "$f" = 0 ]; then
    [ "$p" = 0 ] || row PASS "${1#build/}: $p checks ($((SECONDS - begin)) s)"
    [ "$s" = 0 ] || row SKIP "${1#build/}: $s checks; $(sed -nE 's/^ *SKIP +[^:]*: //p' "$temp/out" | sort -u | paste -sd '; ')"
  elif [ "${QUIET:-}" ]; then
    row FAIL "${1#build/}: $f of $((p + f)) checks ($((SECONDS - begin)) s)"
    sed 's/^/        /' "$temp/out"
  fi
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# run_programs SUITE [EXCEPT]: the programs of stress/ that Meson lists for a suite.
run_programs() {
  local name count=0
  tools/build build >"$temp/built" 2>&1 || { row FAIL "build"; sed 's/^/        /' "$temp/built"; failed=1; return; }
  while IFS= read -r name; do
    [ "$name" != "${2:-}" ] || continue
    QUIET=1 take_counts "build/stress/$name" ${LADE_FULL:+--full}
    count=$((count + 1))
  done < <(meson test -C build --list --suite "$1" 2>/dev/null | sed -nE 's#.* / ##p')
  [ "$count" != 0 ] || { row FAIL "no program of this suite was built"; failed=1; }
}

# sanitizer_build NAME FLAG: build/NAME under that sanitizer, with the unit tests, the stress programs and the command lade.
sanitizer_build() {
  tools/build "build/$1" --werror -Doptimization=1 -Db_lundef=false "-Db_sanitize=$2" -Dtests=enabled -Dbench=disabled \
    -Dproofs=disabled -Dverify=disabled
}
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:suppressions=$root/tests/plain/tsan.supp
# Where addresses are scattered widely, older sanitizers do not find space for their own memory.
# shellcheck disable=SC2034
steady=()
# shellcheck disable=SC2034
setarch -R true 2>/dev/null && steady=(setarch -R)

finish() {
  printf '  %d passed, %d failed, %d skipped\n' $passed $failed $skipped
  [ $failed = 0 ]
  exit
}
