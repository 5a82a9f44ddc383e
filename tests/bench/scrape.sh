#!/usr/bin/env bash
# How many scrapes a second /metrics answers, to 1, 8 and 64 connections at the same time, and whether all of them
# are answered well.
#
# Usage: tests/bench/scrape.sh [SECONDS]        default 4; not part of the tests
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

seconds=${1:-4}
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
folder=$(mktemp -d)
server=''

finish() {
	[ -z "$server" ] || { kill "$server" && wait "$server"; } || true
	rm -rf "$folder"
}
trap finish EXIT

deploy/packages.sh build test bench
build_targets rightsize-exporter

"$exporter" serve --web.listen-address=127.0.0.1:0 --history.path="$folder/history.db" 2>"$folder/serve.log" &
server=$!
url=''
for _ in $(seq 100); do
	url=$(sed -nE 's/.*listening.*address="?([0-9.]+:[0-9]+).*/http:\/\/\1/p' "$folder/serve.log" | head -n 1)
	[ -z "$url" ] || break
	sleep 0.1
done
[ -n "$url" ] || { cat "$folder/serve.log" && exit 1; }

printf '/metrics: %s bytes, %s with gzip\n\n' "$(curl -fsS "$url/metrics" | wc -c)" \
	"$(curl -fsS -H 'Accept-Encoding: gzip' "$url/metrics" | wc -c)"
printf 'connections  encoding  requests/s  errors  slowest 1%%  exporter MiB\n'
for connections in 1 8 64; do
	for encoding in identity gzip; do
		wrk -t 1 -c "$connections" -d "${seconds}s" --latency -H "Accept-Encoding: $encoding" "$url/metrics" >"$folder/wrk"
		errors=$(awk '/Non-2xx/ { n += $NF } /Socket errors/ { gsub(",", ""); n += $4 + $6 + $8 + $10 } END { print n + 0 }' "$folder/wrk")
		printf '%11s  %8s  %10s  %6s  %10s  %12s\n' "$connections" "$encoding" \
			"$(awk '/Requests\/sec/ { print $2 }' "$folder/wrk")" "$errors" "$(awk '$1 == "99%" { print $2 }' "$folder/wrk")" \
			"$(awk '/VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$server/status")"
	done
done
