#!/usr/bin/env bash
# Runs every fuzz target until it had so many CPU seconds (3600), one at a time and nicely, and prints a table.
#
# Usage: tests/fuzz/long.sh [CPU-SECONDS [TARGET...]]        0 only prints the table
#
# May be stopped and started again: build/fuzz/long/log keeps what each target had, for as long as its parsers are
# the same. Inputs that reach something new stay in build/fuzz/long/TARGET, findings in build/fuzz/long/found.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

# shellcheck source=tests/build.sh
. tests/build.sh
deploy/packages.sh build test
build_preset fuzz
exec tests/fuzz/long.py build/fuzz "${@:-3600}"
