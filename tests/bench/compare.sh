#!/usr/bin/env bash
# What being watched costs, beside process-exporter, node_exporter, netdata's apps.plugin, resource-tracker (Python and
# Rust) and the floor: on the same processes, at the same interval, in the same minutes. A Markdown table, a plot, and
# what the history of a day, a month and a year takes.
#
# Usage: tests/bench/compare.sh FOLDER [PROCESSES...]        some ten minutes; not part of the tests
# FOLDER holds the other programs (tests/bench/peers.sh fills it), and afterwards table.md and plot.svg.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

folder=$(realpath -m "${1:?usage: tests/bench/compare.sh FOLDER [PROCESSES...]}")
shift
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh

deploy/packages.sh build test bench
build_targets rightsize-exporter bench_tree bench_meter bench_history
tests/bench/peers.sh "$folder"
{
	tests/bench/compare.py --build="$build" --peers="$folder" --plot="$folder/plot.svg" "$@"
	echo
	tests/bench/compare_history.py --build="$build"
} | tee "$folder/table.md"
printf '\n%s and %s\n' "$folder/table.md" "$folder/plot.svg"
