#!/usr/bin/env bash
# Does a job run slower because it is watched? See tests/bench/disturb.py.
#
# Usage: tests/bench/disturb.sh [--minutes=N] [--interval=DURATION] [--job=calls|maps]        20 minutes; not part of the tests
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
deploy/packages.sh build test
build_targets rightsize-exporter bench_disturb
tests/bench/disturb.py "$exporter" "$build/tests/bench/bench_disturb" "$@"
