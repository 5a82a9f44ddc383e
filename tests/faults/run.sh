#!/bin/sh
# The faults of tests/e2e/test_faults_*.py in their heavy form: 200 kills, 10,000 clients, 100,000 jobs.
#
# Usage: tests/faults/run.sh [kills|clients|jobs] [NUMBER]        all, without arguments; it needs the build tree build/e2e
set -eu
cd "$(dirname "$(realpath "$0")")/../.."
: "${RIGHTSIZE_EXPORTER:=$PWD/build/e2e/exporter/rightsize-exporter}"
export RIGHTSIZE_EXPORTER

kills() {
	RIGHTSIZE_FAULT_KILLS=${1:-200} /usr/bin/python3 -B tests/e2e/test_faults_history.py Killed
}

clients() {
	RIGHTSIZE_FAULT_CLIENTS=${1:-10000} /usr/bin/python3 -B tests/e2e/test_faults_http.py Crowd
}

jobs() {
	RIGHTSIZE_FAULT_JOBS=${1:-100000} /usr/bin/python3 -B tests/e2e/test_faults_history.py ManyJobs
}

case ${1:-all} in
all)
	kills 200
	clients 10000
	jobs 100000
	;;
kills | clients | jobs) "$@" ;;
*)
	sed -n 's/^# Usage: /usage: /p' "$0" >&2
	exit 2
	;;
esac
