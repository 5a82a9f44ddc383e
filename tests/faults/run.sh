#!/bin/sh
# The faults of tests/e2e/test_faults_*.py in their heavy form: 200 kills, 10,000 clients, 100,000 jobs, 10 M samples,
# 10,000 generations, as many threads as there may be, and 1,000 children a second for 20 seconds.
#
# Usage: tests/faults/run.sh [kills|clients|jobs|samples|generations|threads|churn] [NUMBER]        all, without arguments; it needs the build tree build/e2e
set -eu
cd "$(dirname "$(realpath "$0")")/../.."
: "${RIGHTSIZE_EXPORTER:=$PWD/build/e2e/exporter/rightsize-exporter}"
RIGHTSIZE_SHAPES=$PWD/build/e2e/tests/faults/shapes
export RIGHTSIZE_EXPORTER RIGHTSIZE_SHAPES

kills() {
	RIGHTSIZE_FAULT_KILLS=${1:-200} /usr/bin/python3 -B tests/e2e/test_faults_history.py Killed
}

clients() {
	RIGHTSIZE_FAULT_CLIENTS=${1:-10000} /usr/bin/python3 -B tests/e2e/test_faults_http.py Crowd
}

jobs() {
	RIGHTSIZE_FAULT_JOBS=${1:-100000} /usr/bin/python3 -B tests/e2e/test_faults_history.py ManyJobs
}

samples() {
	RIGHTSIZE_FAULT_ROWS=${1:-10000000} /usr/bin/python3 -B tests/e2e/test_faults_history.py LongHistory
}

generations() {
	RIGHTSIZE_FAULT_GENERATIONS=${1:-10000} /usr/bin/python3 -B tests/e2e/test_faults_machine.py \
		Shapes.test_many_generations
}

# Three quarters of the pids that threads and processes share.
threads() {
	most=$(cat /proc/sys/kernel/pid_max)
	[ "$most" -le 43690 ] || most=43690
	RIGHTSIZE_FAULT_THREADS=${1:-$((most * 3 / 4))} /usr/bin/python3 -B tests/e2e/test_faults_machine.py \
		Shapes.test_process_of_many_threads
}

churn() {
	RIGHTSIZE_FAULT_CHURN=${1:-1000} RIGHTSIZE_FAULT_CHURN_SECONDS=20 /usr/bin/python3 -B tests/e2e/test_faults_machine.py \
		Processes.test_children_that_come_and_go_leave_their_time_and_nothing_else
}

case ${1:-all} in
all)
	kills 200
	clients 10000
	jobs 100000
	samples 10000000
	generations 10000
	threads ""
	churn 1000
	;;
kills | clients | jobs | samples | generations | threads | churn) "$@" ;;
*)
	sed -n 's/^# Usage: /usage: /p' "$0" >&2
	exit 2
	;;
esac
