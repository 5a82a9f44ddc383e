#!/usr/bin/env bash
# Prints a table: how many lines of each parser the corpus of its fuzz target runs. Fails below 90 %
# (tests/fuzz/coverage.py).
#
# Usage: tests/fuzz/coverage.sh [TARGET...]        for example: tests/fuzz/coverage.sh jobs netlink
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

# shellcheck source=tests/build.sh
. tests/build.sh
deploy/packages.sh build test
build_preset coverage
exec tests/fuzz/coverage.py build/coverage "$@"
