#!/usr/bin/env bash
# Draws the pictures of README.md anew: the page of a job, the terminal and Grafana, each light and dark, of a real job that
# runs for about two minutes.
#
# Usage: tests/web/pictures.sh [FOLDER]       pictures go to FOLDER (default: deploy/manual/pictures)
#
# Draws what the program that RIGHTSIZE_EXPORTER names shows, by default that of build/e2e, which must be built. Installs what
# tests/web/run.sh and tests/grafana/run.sh install, 700 MB from npm in build/grafana included.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

export RIGHTSIZE_EXPORTER=${RIGHTSIZE_EXPORTER:-$PWD/build/e2e/exporter/rightsize-exporter}
[ -x "$RIGHTSIZE_EXPORTER" ] || { printf 'pictures.sh: build it first: cmake --preset e2e && cmake --build --preset e2e\n' >&2; exit 1; }
mkdir -p "${1:-deploy/manual/pictures}"
tests/web/run.sh --install
tests/grafana/run.sh --install
WEB_MODULES=$PWD/build/web exec /usr/bin/python3 -B tests/web/pictures.py "${1:-deploy/manual/pictures}"
