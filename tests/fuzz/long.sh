#!/usr/bin/env bash
# Runs every fuzz target until it had so many CPU seconds (3600), one at a time and nicely, and prints a table.
#
# Usage: tests/fuzz/long.sh [CPU-SECONDS|keep [TARGET...]]        0 only prints the table
#
# May be stopped and started again: build/fuzz/long/log has what each target had, and "keep" adds it to
# tests/fuzz/hours.tsv, where it counts for as long as the parsers are the same, and the inputs that reach new code to
# the corpus. Inputs that reach something new are in build/fuzz/long/TARGET, findings in build/fuzz/long/found.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

# shellcheck source=tests/build.sh
. tests/build.sh
deploy/packages.sh build test
build_preset fuzz
exec tests/fuzz/long.py build/fuzz "${@:-3600}"
