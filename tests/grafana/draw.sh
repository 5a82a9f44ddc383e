#!/usr/bin/env bash
# Draws every dashboard twice: from real jobs, and from the backfilled series, which have data for every panel. Called
# by the end-to-end test while its Prometheus runs (see run.sh): draw.sh PROMETHEUS LIVE BACKFILLED END
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../../build/grafana"

exec node draw.mjs "$PICTURES" "$@" ../../dashboards/grafana/{fleet,job,run,node,waste}.json
