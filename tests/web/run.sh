#!/usr/bin/env bash
# Drives the page at / in a real Chromium: every view, on real and on made histories, with checks of accessibility,
# of what the console says, and of how long things take. Ends with the exit code of the checks.
#
# Usage: tests/web/run.sh [SCREENSHOT-FOLDER | --install]       --install ends when everything that it needs is there
#
# Tests the program that RIGHTSIZE_EXPORTER names, by default that of build/e2e, which is built when it is missing. Installs
# Chromium and npm through deploy/packages.sh when they are missing, and two packages from npm below build/web.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

playwright=1.65.1
axe=4.14.1

deploy/packages.sh web
command -v npm >/dev/null || deploy/packages.sh npm
if [ -z "${RIGHTSIZE_EXPORTER-}" ]; then
	RIGHTSIZE_EXPORTER=$PWD/build/e2e/exporter/rightsize-exporter
	if [ ! -x "$RIGHTSIZE_EXPORTER" ]; then
		deploy/packages.sh build
		cmake --preset e2e >/dev/null
		cmake --build --preset e2e --target rightsize-exporter
	fi
fi
export RIGHTSIZE_EXPORTER

mkdir -p build/web
if [ "$(cat build/web/versions 2>/dev/null)" != "$playwright $axe" ]; then
	npm install --prefix build/web --silent --no-save --no-package-lock --no-audit --no-fund \
		"playwright-core@$playwright" "axe-core@$axe"
	printf '%s %s\n' "$playwright" "$axe" >build/web/versions
fi
[ "${1-}" != --install ] || exit 0
WEB_MODULES=$PWD/build/web exec /usr/bin/python3 -B tests/web/page.py "${1:-$PWD/build/web/screenshots}"
