#!/usr/bin/env bash
# Lets schemathesis make requests of /openapi.json to a real server, and checks the answers. The server must not fail.
# All statuses, content types and keys must be in the document. The server must refuse everything that the document
# forbids.
#
# Usage: tests/openapi/run.sh [SECONDS]      about so many seconds for each of two rounds (default: 120)
#
# Tests the program that RIGHTSIZE_EXPORTER names, by default that of build/e2e, which is built when it is missing. Run by
# name, because it installs schemathesis from PyPI, into a folder that it removes.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

schemathesis=4.32.5

if [ -z "${RIGHTSIZE_EXPORTER-}" ]; then
	RIGHTSIZE_EXPORTER=$PWD/build/e2e/exporter/rightsize-exporter
	if [ ! -x "$RIGHTSIZE_EXPORTER" ]; then
		deploy/packages.sh build
		cmake --preset e2e >/dev/null
		cmake --build --preset e2e --target rightsize-exporter
	fi
fi
export RIGHTSIZE_EXPORTER

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check "schemathesis==$schemathesis"
python3 -B tests/openapi/drive.py "$folder/venv/bin/schemathesis" "${1:-120}"
