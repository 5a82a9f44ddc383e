#!/usr/bin/env bash
# Measures the cost of watching, compared with process-exporter, node_exporter, netdata's apps.plugin, resource-tracker
# (Python and Rust) and the floor: on the same processes, at the same interval, in the same minutes. Writes Markdown tables
# and a plot; then the aims, the cost of a history of a day, a month and a year, and /recommend with 50 runs and 5,873 servers.
#
# Usage: tests/bench/compare.sh FOLDER [PROCESSES...]        takes about seventeen minutes; not part of the tests
# FOLDER holds the other programs (tests/bench/peers.sh fills it), and afterwards table.md and plot.svg. RIGHTSIZE_TABLES: a
# folder with servers.csv, server_prices.csv.gz and regions.csv of Spare Cores, instead of a catalogue that is made up.
# Exit code 1: an aim was missed, or was not measured although everything that it needs is installed.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

folder=$(realpath -m "${1:?usage: tests/bench/compare.sh FOLDER [PROCESSES...]}")
shift
# shellcheck source=tests/bench/build.sh
. tests/bench/build.sh

deploy/packages.sh build test bench
build_targets rightsize-exporter bench_tree bench_meter bench_history
tests/bench/peers.sh "$folder"
if [ -n "${RIGHTSIZE_TABLES:-}" ]; then
	words="the servers and prices of Spare Cores"
	tests/bench/catalogue_csv.py "$RIGHTSIZE_TABLES"/{servers.csv,server_prices.csv.gz,regions.csv} >"$folder/servers.csv"
else
	words="a catalogue of 5,873 servers that is made up"
	tests/bench/catalogue_made_up.py >"$folder/servers.csv"
fi
missed=0
{
	tests/bench/compare.py --build="$build" --peers="$folder" --plot="$folder/plot.svg" "$@" || missed=1
	tests/bench/compare_history.py --build="$build" || missed=1
	echo
	tests/bench/recommend.py --build="$build" --catalogue="$folder/servers.csv" --words="$words" --p99=5 || missed=1
} > >(tee "$folder/table.md")
wait $!
printf '\n%s and %s\n' "$folder/table.md" "$folder/plot.svg"
exit "$missed"
