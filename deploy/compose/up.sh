#!/usr/bin/env bash
# Starts a store, two exporters that write their runs to it, and one that only reads them; runs two sample jobs, and
# prints what the reader recommends. All of it runs on this machine until Ctrl-C, which also removes its files.
#
# Usage: deploy/compose/up.sh prometheus|victoriametrics
#
# RIGHTSIZE_EXPORTER, PROMETHEUS and VICTORIA_METRICS name the programs, if they are not in PATH. STORE_PORT is the store's
# port, if it is not its usual one.
set -euo pipefail
here=$(dirname "$(realpath "$0")")

exporter=${RIGHTSIZE_EXPORTER:-rightsize-exporter}
pids=()
runs=3

fail() {
	printf 'up.sh: %s\n' "$*" >&2
	exit 1
}

# The newest process is ended first, so that writers can send what they have. Each log is shown only after a fault.
finish() {
	local code=$? i
	trap '' INT TERM
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill "${pids[i]}" 2>/dev/null || true
		wait "${pids[i]}" 2>/dev/null || true
	done
	[ "$code" = 0 ] || tail -n 5 "$folder"/*.log >&2
	rm -rf "$folder"
}

# Usage: start NAME COMMAND...     Its output is in NAME.log.
start() {
	local name=$1
	shift
	printf '$ %s\n' "$*"
	"$@" >"$folder/$name.log" 2>&1 &
	pids+=($!)
}

# Usage: wait_for SECONDS WHAT COMMAND...     Every process must live until the command succeeds.
wait_for() {
	local end=$((SECONDS + $1)) what=$2 pid
	shift 2
	until "$@" >/dev/null 2>&1; do
		for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || fail "a program ended while $what was awaited"; done
		[ "$SECONDS" -lt "$end" ] || fail "$what: not within $1 s"
		sleep 0.2
	done
}

address_of() {
	sed -n 's/.*msg=listening.* url=\(http:[^ ]*[0-9]\).*/\1/p' "$folder/$1.log" | grep .
}

# Usage: start_exporter NAME OPTION...     Its address is in $url.
start_exporter() {
	local name=$1
	shift
	start "$name" "$exporter" serve --web.listen-address=127.0.0.1:0 "$@"
	wait_for 30 "the address of $name" address_of "$name"
	url=$(address_of "$name")
}

start_store() {
	case $kind in
	prometheus)
		store=http://127.0.0.1:${STORE_PORT:-9090}
		start store "$program" --config.file="$here/prometheus.yml" --storage.tsdb.path="$folder/store" \
			--storage.tsdb.retention.time=31d --web.enable-remote-write-receiver --web.listen-address="${store#http://}"
		;;
	victoriametrics)
		store=http://127.0.0.1:${STORE_PORT:-8428}
		start store "$program" -storageDataPath="$folder/store" -retentionPeriod=31d -dedup.minScrapeInterval=1ms \
			-httpListenAddr="${store#http://}"
		;;
	esac
	wait_for 60 "$kind" curl -fsS "$store/-/ready"
}

# Usage: run_job WRITER JOB MEBIBYTES     The writer sends the run, because the run is in its history.
run_job() {
	"$exporter" run --history.path="$folder/$1.db" --job-name="$2" --request-cpu=2 --request-memory=1G -- \
		/bin/sh -c "head -c ${3}M /dev/urandom | base64 | sort -S ${3}M | tail -n 1 >/dev/null" 2>>"$folder/jobs.log"
}

# Usage: all_read JOB     The reader has all runs of the job.
all_read() {
	[ "$(curl -fsS "$reader/runs?job_name=$1" | grep -o '"run_id"' | wc -l)" = "$runs" ]
}

kind=${1-}
case $kind in
prometheus) program=${PROMETHEUS:-prometheus} ;;
victoriametrics) program=${VICTORIA_METRICS:-victoria-metrics} ;;
*)
	printf 'Usage: up.sh prometheus|victoriametrics\n' >&2
	exit 2
	;;
esac
for needed in "$exporter" "$program" curl; do
	command -v "$needed" >/dev/null || fail "$needed is not installed"
done

folder=$(mktemp -d)
trap finish EXIT
trap 'exit 0' INT TERM

start_store
# The writers stand for two machines. Both would else write the other jobs of this one.
write=$store/api/v1/write
start_exporter writer-1 --history.path="$folder/writer-1.db" --remote-write.url="$write" --no-jobs.recognise
start_exporter writer-2 --history.path="$folder/writer-2.db" --remote-write.url="$write" --no-jobs.recognise
start_exporter reader --history.url="$store"
reader=$url
wait_for 60 "the reader" curl -fsS "$reader/-/ready"

for n in $(seq "$runs"); do
	printf 'Running the jobs sample/small and sample/large: %s of %s\n' "$n" "$runs"
	run_job writer-1 sample/small 20
	run_job writer-2 sample/large 80
done
for job in sample/small sample/large; do
	wait_for 120 "runs of $job at the reader" all_read "$job"
	printf '\n$ curl %s/recommend?job_name=%s\n' "$reader" "$job"
	curl -fsS "$reader/recommend?job_name=$job"
done
printf '\nThe page of the reader: %s\nThe store: %s\nCtrl-C ends all of it.\n' "$reader" "$store"
wait -n "${pids[@]}" || true
wait_for 0 "Ctrl-C" false
