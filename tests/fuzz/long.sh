#!/usr/bin/env bash
# Runs every fuzz target for so many CPU seconds (3600), one at a time and with a low priority, and prints a table.
#
# Usage: tests/fuzz/long.sh [CPU-SECONDS|keep [TARGET...]]        0 only prints the table
#
# It may be stopped and started again: build/fuzz/long/log has the time of each target. "keep" adds this time to
# tests/fuzz/hours.tsv, where it counts as long as the parsers are the same, and adds the inputs that reach new code to
# the corpus. Inputs that reach something new are in build/fuzz/long/TARGET, findings in build/fuzz/long/found.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

# shellcheck source=tests/build.sh
. tests/build.sh
deploy/packages.sh build test
build_preset fuzz
exec tests/fuzz/long.py build/fuzz "${@:-3600}"
