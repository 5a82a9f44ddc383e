#!/usr/bin/env bash
# How many lines of each parser the corpus of its fuzz target runs, in one table. Fails below 90 % (tests/fuzz/coverage.py).
#
# Usage: tests/fuzz/coverage.sh [TARGET...]        for example: tests/fuzz/coverage.sh jobs netlink
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

deploy/packages.sh build test
mkdir -p build
cmake --preset coverage >build/coverage.log 2>&1 || {
	cat build/coverage.log
	exit 1
}
cmake --build --preset coverage
exec tests/fuzz/coverage.py build/coverage "$@"
