#!/usr/bin/env bash
# How good recommendations are, on traces of real jobs: waste and failures of every strategy by source, whether the
# stated probabilities are true, and how well change points are found (FOLDER: annotations.json and datasets/).
#
# Usage: tests/bench/sizing.sh TRACE.csv... [-- FOLDER]      some minutes; not part of the tests
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

traces=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	traces+=("$1")
	shift
done
[ $# -eq 0 ] || shift
if [ ${#traces[@]} -eq 0 ]; then
	sed -n '2,6s/^# \{0,1\}//p' "$0"
	exit 2
fi
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
build_targets bench_sizing bench_reliability bench_segments

"$build/tests/bench/bench_sizing" "${traces[@]}"
echo
"$build/tests/bench/bench_reliability" "${traces[@]}"
if [ $# -gt 0 ]; then
	echo
	"$build/tests/bench/bench_segments" "$1"
fi
