#!/usr/bin/env bash
# Does a job run slower because it is watched? Around ticks: tests/bench/disturb.py, 20 minutes. All the time: with --pairs,
# tests/bench/disturb_pairs.py, 9 minutes. Not part of the tests.
#
# Usage: tests/bench/disturb.sh [--minutes=N] [--interval=DURATION] [--job=calls|maps]
#        tests/bench/disturb.sh --pairs [--minutes=N] [--interval=DURATION] [--job=NAME] [--nobody] [-- OPTIONS OF run...]
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

script=disturb.py
if [ "${1:-}" = --pairs ]; then
	script=disturb_pairs.py
	shift
fi
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
deploy/packages.sh build test
build_targets rightsize-exporter bench_disturb
exec "tests/bench/$script" "$exporter" "$build/tests/bench/bench_disturb" "$@"
