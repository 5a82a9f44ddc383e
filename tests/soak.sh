#!/usr/bin/env bash
# Does the exporter stay as it is? Memory, descriptors and ticks over eight hours on a clock that runs ahead, and over
# real minutes at ten ticks a second while 1,000 processes come and go. One table each, and a verdict.
#
# Usage: tests/soak.sh [TICKS [MINUTES]]        default 28800 and 30; 0 leaves a part out; not part of the tests
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

ticks=${1:-28800}
minutes=${2:-30}
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

deploy/packages.sh build test
build_targets rightsize-exporter bench_churn bench_soak

good=0
if [ "$ticks" != 0 ]; then
	# Without what glibc keeps of freed memory for each thread, which fills up over hours, up to 0.25 MiB each: what is
	# left to grow is a leak.
	GLIBC_TUNABLES=glibc.malloc.tcache_count=0 "$build/tests/bench/bench_soak" "$build/tests/bench/bench_churn" "$folder" "$ticks"
	mv "$folder/soak.csv" "$folder/$ticks ticks, made-up.csv"
	tests/bench/soak.py judge "$folder/$ticks ticks, made-up.csv" || good=1
fi
if [ "$minutes" != 0 ]; then
	tests/bench/soak.py real "$exporter" "$build/tests/bench/bench_churn" --minutes="$minutes" || good=1
fi
exit "$good"
