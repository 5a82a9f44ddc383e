#!/usr/bin/env bash
# How many lines of our C run in the tests, by folder and file. Fails below the bounds of tests/coverage.py.
#
# Usage: tests/coverage.sh [CTEST-ARGUMENT...]        for example: tests/coverage.sh -R unit.history
#
# Unit tests, corpora and the end-to-end tests run in build/coverage, built by gcc with --coverage. Counters are written
# when a program ends, also after a signal that it handles. A killed program writes no counters.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."
root=$PWD

# shellcheck source=tests/build.sh
. tests/build.sh
deploy/packages.sh build test
build_preset coverage
find build/coverage -name '*.gcda' -delete
# A program without the right to write here reports this on stderr, which some tests read.
export GCOV_ERROR_FILE=$root/build/coverage/unwritten.log
: >"$GCOV_ERROR_FILE"
chmod 666 "$GCOV_ERROR_FILE"
result=0
ctest --preset coverage --no-label-summary -j "$(nproc)" "$@" || result=$?
tests/coverage.py build/coverage
exit "$result"
