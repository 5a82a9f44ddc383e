#!/usr/bin/env bash
# Measures what watching costs: CPU milliseconds per tick and resident memory of the exporter while it follows a tree of
# 1, 100, 500 and 1,000 processes. Compares them with the minimum for reading the same files, in the same run.
#
# Usage: tests/bench/tick.sh [PROCESSES...]        takes about 40 s a size; not part of the tests
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

sizes=("$@")
[ $# -gt 0 ] || sizes=(1 100 500 1000)
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
folder=$(mktemp -d)
wrapper=''

# The tree ends when its input ends, and the wrapper ends with the tree.
finish() {
	exec 9>&-
	[ -z "$wrapper" ] || wait "$wrapper" || true
	rm -rf "$folder"
}
trap finish EXIT

start() {
	local processes=$1 interval=$2
	mkfifo "$folder/input"
	"$exporter" run --job-name=bench --quiet --no-cloud.discovery --sample.interval="$interval" --history.path="$folder/history.db" -- \
		"$build/tests/bench/bench_tree" "$processes" <"$folder/input" >"$folder/output" &
	wrapper=$!
	exec 9>"$folder/input"
	for _ in $(seq 600); do
		if grep -q ready "$folder/output"; then
			root=$(tr -d ' ' <"/proc/$wrapper/task/$wrapper/children")
			return
		fi
		sleep 0.1
	done
	printf 'tick.sh: the tree of %s processes did not start\n' "$processes" >&2
	exit 1
}

stop() {
	exec 9>&-
	wait "$wrapper"
	wrapper=''
	rm -f "$folder"/*
}

measure() {
	local processes=$1 interval=$2 milliseconds=$3 ticks=$4
	start "$processes" "$interval"
	sleep 3 # Waits until the first reads are over.
	read -r tick kept opened same kib own found < <("$build/tests/bench/bench_meter" "$wrapper" "$root" "$milliseconds" "$ticks")
	stop
	[ "$found" = "$processes" ] || printf 'tick.sh: the floor found %s of %s processes\n' "$found" "$processes" >&2
	awk -v n="$processes" -v i="$interval" -v t="$tick" -v k="$kept" -v o="$opened" -v s="$same" -v r="$kib" -v p="$own" \
		'BEGIN { printf "%9d  %8s  %11.3f  %9.3f  %9.3f  %10.3f  %6.1f  %6.1f  %8.1f  %7.1f\n", n, i, t, k, o, s, t / k, t / s, r / 1024, p / 1024 }'
}

deploy/packages.sh build test
build_targets rightsize-exporter bench_tree bench_meter

printf 'CPU milliseconds per tick; floors: children and stat of each process, kept open or opened anew; and the same kept\n'
printf 'with whatever else the exporter has open of the machine, of control groups and of itself\n\n'
printf '%9s  %8s  %11s  %9s  %9s  %10s  %6s  %6s  %8s  %7s\n' processes interval 'exporter ms' 'kept' 'opened' 'same files' \
	'x kept' 'x same' 'resident' 'private'
for processes in "${sizes[@]}"; do
	measure "$processes" 1s 1000 20
	measure "$processes" 100ms 100 100
done
cat <<'PEERS'

Others, quoted: measured once, earlier, on another machine of 2 vCPUs; ratios carry over, absolute values do not.
CPU milliseconds per look at a job of      100 processes   500    1,000   resident MiB
  process-exporter 0.7.10                      35 - 41       -   331 - 382   19 - 21
  netdata apps.plugin 1.37.1                       6.1       -        46.6   5.9 - 10
  fluent-bit 5.1.1, process input                 17.6       -       195     14 - 44
  resource-tracker 0.5.0, procfs                  14.2    58.0         -     39 (two processes)
  resource-tracker 0.5.0, psutil                  16.1    76.1         -     -
PEERS
