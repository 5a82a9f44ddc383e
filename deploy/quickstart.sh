#!/usr/bin/env bash
# From a fresh Debian 12 to a recommendation: installs the packages, builds a release, runs a real job
# three times, and asks the exporter what it learned.
#
# Usage: deploy/quickstart.sh        (as root, or with sudo installed; may be run again and again)
#
# Everything it makes lies below build/. Nothing is left running.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

exporter=build/release/exporter/rightsize-exporter
folder=build/quickstart
history=$folder/history.db
job_name=quickstart/words
runs=3
server=''
told=''

say() {
	printf '\n== %s\n' "$*"
}

fail() {
	printf '\nquickstart.sh: %s\n' "$*" >&2
	told=yes
	exit 1
}

stop_server() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
	server=''
}

finish() {
	local code=$?
	stop_server
	rm -rf "$folder/job"
	[ "$code" = 0 ] || [ -n "$told" ] || printf '\nquickstart.sh: failed: see the lines above\n' >&2
}
trap finish EXIT

# The server says on stderr where it listens: port 0 takes a free port.
start_server() {
	local log=$folder/serve.log
	"$exporter" serve --web.listen-address=127.0.0.1:0 --history.path="$history" 2>"$log" &
	server=$!
	for _ in $(seq 100); do
		url=$(sed -nE 's/.*listening.*address="?([0-9.]+:[0-9]+).*/http:\/\/\1/p' "$log" | head -n 1)
		[ -z "$url" ] || return 0
		kill -0 "$server" 2>/dev/null || fail "the server ended: $(cat "$log")"
		sleep 0.1
	done
	fail "the server did not say where it listens: $(cat "$log")"
}

# What the job does is real: it packs files of this system, compresses them, and counts their words.
# Several processes, two of them busy at the same time, about 5 seconds on two cores.
write_job() {
	cat >"$folder/words.sh" <<-'JOB'
		#!/bin/sh
		# Usage: words.sh FOLDER
		set -eu
		export LC_ALL=C
		cd "$1"
		tar -C / -cf - usr/lib usr/share 2>/dev/null | head -c 64M >files.tar
		gzip <files.tar >files.tar.gz &
		tr -cs '[:alnum:]' '\n' <files.tar | sort -S 192M | uniq -c | sort -rn >words.txt
		wait
		head -n 5 words.txt
	JOB
	chmod +x "$folder/words.sh"
}

# The server follows the history with a delay of up to a second.
wait_for_runs() {
	local counted="rightsize_job_runs_total{job_name=\"$job_name\",outcome=\"succeeded\"} $runs"
	for _ in $(seq 100); do
		if curl -fsS "$url/metrics" | grep -F "$counted" >/dev/null; then return 0; fi
		sleep 0.1
	done
	fail "the server did not count $runs successful runs; its log: $(cat "$folder/serve.log")"
}

ask() {
	printf '\n$ curl %s\n' "'$1'"
	curl -fsS "$1" || fail "no answer to $1"
	printf '\n'
}

# The beginning of a long answer; all of it goes to a file.
ask_long() {
	printf '\n$ curl %s\n' "'$1'"
	curl -fsS "$1" >"$2" || fail "no answer to $1"
	head -n 24 "$2"
	printf '... %s lines in all, in %s\n' "$(wc -l <"$2")" "$2"
}

say "1/5 Installing what is missing to build and to ask"
deploy/packages.sh build try

say "2/5 Building a release in build/release"
cmake --preset release
cmake --build --preset release
"$exporter" --version

say "3/5 Starting the server on a free port, with a fresh history: $history"
rm -rf "$folder"
mkdir -p "$folder/job"
start_server
printf 'It serves on %s\n' "$url"

say "4/5 Running the job $job_name $runs times: packing, compressing and sorting files of this system"
write_job
for n in $(seq "$runs"); do
	printf '\n$ rightsize-exporter run --job-name=%s -- %s/words.sh   # %s of %s\n' \
		"$job_name" "$folder" "$n" "$runs"
	"$exporter" run --job-name="$job_name" --history.path="$history" -- \
		"$folder/words.sh" "$folder/job" || fail "the job failed"
done
wait_for_runs

say "5/5 What the exporter learned"
printf '\n$ curl %s | grep %s\n' "'$url/metrics'" "'job_name=\"$job_name\"'"
curl -fsS "$url/metrics" | grep -F "job_name=\"$job_name\"" || fail "/metrics says nothing about the job"
ask_long "$url/stats?job_name=$job_name" "$folder/stats.json"
ask "$url/recommend?job_name=$job_name&limit=2"
ask "$url/recommend?job_name=$job_name&format=metaflow"

stop_server
say "Done. The server is stopped. The history stays, and answers without a server, too:"
printf '%s recommend --job-name=%s --history.path=%s\n' "$exporter" "$job_name" "$history"
