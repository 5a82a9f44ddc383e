#!/usr/bin/env bash
# Draws every dashboard twice: of real jobs, and of the backfilled series, which no panel lacks. Called by the end-to-end
# test while its Prometheus runs (see run.sh): draw.sh PROMETHEUS INSTANCE JOB BACKFILLED-INSTANCE BACKFILLED-JOB END
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../../build/grafana"

exec node draw.mjs "$PICTURES" "$@" ../../dashboards/grafana/{fleet,job,run,node}.json
