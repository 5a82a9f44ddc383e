#!/usr/bin/env bash
# Does a job run slower because it is watched? Around ticks: tests/bench/disturb.py, 20 minutes. With ten ticks a
# second: --turns, tests/bench/disturb_turns.py, 13 minutes. All the time: --pairs, tests/bench/disturb_pairs.py, 9
# minutes. Not part of the tests. Exit code 1: slower by more than 0.5 %; 2: uncertain.
#
# Usage: tests/bench/disturb.sh [--minutes=N] [--interval=DURATION] [--job=calls|maps]
#        tests/bench/disturb.sh --turns [--minutes=N] [--interval=DURATION] [--slice=SECONDS] [--job=calls|maps]
#        tests/bench/disturb.sh --pairs [--minutes=N] [--interval=DURATION] [--job=NAME] [--nobody] [-- OPTIONS OF run...]
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

script=disturb.py
case ${1:-} in
--pairs | --turns)
	script=disturb_${1#--}.py
	shift
	;;
esac
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
deploy/packages.sh build test
build_targets rightsize-exporter bench_disturb
exec "tests/bench/$script" "$exporter" "$build/tests/bench/bench_disturb" "$@"
