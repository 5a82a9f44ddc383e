#!/usr/bin/env bash
# Compares our accounts of hard jobs with the kernel's: every case five times, and the worst of five. Needs root and
# about an hour; --size=0.3, with shorter jobs, about half of it.
#
# Usage: tests/accuracy/run.sh [--repeat=N] [--size=X] [--tries=N] [--case=NAME]... [--mode=NAME]...
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

deploy/packages.sh build test
cmake --preset e2e >/dev/null
cmake --build --preset e2e --target rightsize-exporter accuracy_job accuracy_attach accuracy_launch accuracy_without_perf
export RIGHTSIZE_EXPORTER=$PWD/build/e2e/exporter/rightsize-exporter RIGHTSIZE_ACCURACY_TOOLS=$PWD/build/e2e/tests/accuracy
exec /usr/bin/python3 -B tests/accuracy/run.py "$@"
