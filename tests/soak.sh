#!/usr/bin/env bash
# Checks that the exporter does not grow. It measures memory and descriptors over four days of a simulated clock with
# the release build, and allocations over eight hours. Then it measures real minutes at ten ticks a second while 1,000
# processes come and go, with two servers beside the wrapper, all scraped. Prints tables and verdicts.
#
# Usage: tests/soak.sh [TICKS [MINUTES]]     default 345600 (some four minutes) and 30; 0 leaves a part out; not part of the tests
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

ticks=${1:-345600}
minutes=${2:-30}
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

deploy/packages.sh build test
build_targets rightsize-exporter bench_churn bench_soak

good=0
# soak NAME TICKS HOW-TO-JUDGE...
soak() {
	local name=$1 n=$2
	shift 2
	mkdir "$folder/$name"
	"$build/tests/bench/bench_soak" "$build/tests/bench/bench_churn" "$folder/$name" "$n"
	mv "$folder/$name/soak.csv" "$folder/$name.csv"
	tests/bench/soak.py judge "$@" "$folder/$name.csv" || good=1
}

if [ "$ticks" != 0 ]; then
	# glibc's cache of freed memory for each thread fills during a day, so only the second half is judged.
	soak resident "$ticks" --settled=0.5
	# Without this cache, any growth is a leak, because the cache counts as allocated.
	GLIBC_TUNABLES=glibc.malloc.tcache_count=0 soak allocated "$((ticks < 28800 ? ticks : 28800))" --allocated
fi
if [ "$minutes" != 0 ]; then
	tests/bench/soak.py real "$exporter" "$build/tests/bench/bench_churn" --minutes="$minutes" || good=1
fi
exit "$good"
