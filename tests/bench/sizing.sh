#!/usr/bin/env bash
# Measures recommendations on traces of real jobs: waste and failures of every strategy by source, how many runs
# the cores slow down and at what cost, whether the ranges of durations and the stated probabilities are true, and how
# well change points are found (FOLDER: annotations.json and datasets/).
#
# Usage: [REFERENCE=FILE] tests/bench/sizing.sh TRACE.csv... [-- FOLDER]      some minutes; not part of the tests
# REFERENCE: allocations by another implementation of the published rules, compared run by run (sizing_equal.py).
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

traces=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	traces+=("$1")
	shift
done
[ $# -eq 0 ] || shift
if [ ${#traces[@]} -eq 0 ]; then
	sed -n '2,8s/^# \{0,1\}//p' "$0"
	exit 2
fi
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
build_targets bench_sizing bench_cpu bench_reliability bench_segments

dump=
if [ -n "${REFERENCE-}" ]; then
	dump=$(mktemp)
	trap 'rm -f "$dump"' EXIT
fi
"$build/tests/bench/bench_sizing" ${dump:+--dump "$dump"} "${traces[@]}"
echo
if [ -n "$dump" ]; then
	tests/bench/sizing_equal.py "$dump" "$REFERENCE"
	echo
fi
"$build/tests/bench/bench_cpu" "${traces[@]}"
echo
"$build/tests/bench/bench_reliability" "${traces[@]}"
if [ $# -gt 0 ]; then
	echo
	"$build/tests/bench/bench_segments" "$1"
fi
