#!/usr/bin/env bash
# Fetches the vendored library anew and checks that it is the pinned one: what lies here is the package's own
# files, unchanged.
#
# Usage: dashboards/web/vendor/vendor.sh            needs npm and a registry
set -euo pipefail
cd "$(dirname "$(realpath "$0")")"

version=1.6.32
integrity='sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw=='

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$folder" && npm pack --silent "uplot@$version" >/dev/null)
found="sha512-$(openssl dgst -sha512 -binary "$folder/uplot-$version.tgz" | base64 -w0)"
if [ "$found" != "$integrity" ]; then
	printf 'vendor.sh: uplot-%s.tgz is %s, expected was %s\n' "$version" "$found" "$integrity" >&2
	exit 1
fi
tar -C "$folder" -xzf "$folder/uplot-$version.tgz"
install -m 644 "$folder/package/dist/uPlot.iife.min.js" uPlot.js
install -m 644 "$folder/package/dist/uPlot.min.css" uPlot.css
install -m 644 "$folder/package/LICENSE" uPlot.LICENSE
