#!/usr/bin/env bash
# Compares the CPU time that a watcher reports for a job with the truth: in containers, behind a hidden /proc, as other
# users, and in shared groups. Needs root, control groups v1 and about five minutes. The place "podman" needs a user
# with a range in /etc/subuid.
#
# Usage: tests/visibility/run.sh [--place=NAME]... [--watcher=NAME]... [--group=NAME]... [--job=NAME]... [--why]
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

deploy/packages.sh build test visibility
cmake --preset e2e >/dev/null
cmake --build --preset e2e --target rightsize-exporter
export RIGHTSIZE_EXPORTER=$PWD/build/e2e/exporter/rightsize-exporter
exec /usr/bin/python3 -B tests/visibility/matrix.py "$@"
