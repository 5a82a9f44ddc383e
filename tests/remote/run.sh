#!/bin/bash
# Ended runs in real stores: Prometheus 3, VictoriaMetrics and Thanos, written and read by the program of build/e2e.
# Usage: tests/remote/run.sh [JOBS RUNS DAYS]     200 jobs with 20 runs each within 30 days: two minutes
#        tests/remote/run.sh HISTORY            all runs of this file, which bench_runs made: a million in half an hour
# PROMETHEUS, VICTORIA_METRICS and THANOS name the programs, if they are not in PATH. A store that is missing is left out.
set -eu
cd "$(dirname "$0")/../.."
export RIGHTSIZE_EXPORTER=${RIGHTSIZE_EXPORTER:-$PWD/build/e2e/exporter/rightsize-exporter}
exec /usr/bin/python3 -B tests/remote/store_check.py "$@"
