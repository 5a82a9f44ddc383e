#!/usr/bin/env bash
# Checks the dashboards against Grafana's published types, and draws them with Grafana's own components in Chromium,
# from data that a real Prometheus scraped from real jobs. Run by name: it needs npm, chromium and 700 MB in
# build/grafana.
#
# Usage: tests/grafana/run.sh [FOLDER | --install]       pictures go to FOLDER (default: build/grafana/pictures); --install ends
#                                                        when what draws them is there
#
# Needs a built program: cmake --preset e2e && cmake --build --preset e2e
set -euo pipefail
here=$(dirname "$(realpath "$0")")
cd "$here/../.."

mkdir -p build/grafana
cp "$here"/*.*js* build/grafana/
if ! cmp -s build/grafana/package.json build/grafana/installed.json; then
	(cd build/grafana && npm install --ignore-scripts --no-audit --no-fund --legacy-peer-deps)
	cp build/grafana/package.json build/grafana/installed.json
fi

(cd build/grafana && node_modules/.bin/esbuild page.jsx --bundle --format=esm --minify --log-level=error --outfile=page.js \
	--alias:react-custom-scrollbars-2=./scrollbars.cjs \
	--loader:.svg=dataurl --loader:.png=dataurl --loader:.woff2=dataurl --loader:.woff=dataurl --loader:.ttf=dataurl \
	'--define:process.env.NODE_ENV="production"' --define:global=window)

[ "${1-}" != --install ] || exit 0
(cd build/grafana && node check.mjs ../../dashboards/grafana/*.json)
mkdir -p "${1:-build/grafana/pictures}"
pictures=$(realpath "${1:-build/grafana/pictures}")
export PICTURES=$pictures DASHBOARDS_SERVE="$here/draw.sh"
RIGHTSIZE_EXPORTER=${RIGHTSIZE_EXPORTER:-$PWD/build/e2e/exporter/rightsize-exporter} \
	/usr/bin/python3 -B tests/e2e/test_dashboards.py Dashboards.test_queries_return_data
