#!/bin/bash
# Builds the wheels of the Python package: the module, and the program for every Linux with glibc >= 2.17.
#
# Usage: build.sh OUT [ARCHITECTURE...]     x86_64 and aarch64 by default; needs what portable/program.sh needs
#   ROOT: a scratch folder, where finished libraries are kept between builds (default: a new one, removed at the end)
#   PROGRAM: a program that is built already, for one architecture
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?a folder for the wheels}
shift
[ $# -gt 0 ] || set -- x86_64 aarch64
if [ -z "${ROOT:-}" ]; then
	ROOT=$(mktemp -d)
	trap 'rm -rf "$ROOT"' EXIT
fi
export ROOT
mkdir -p "$out"
for arch; do
	program=${PROGRAM:-$ROOT/out/$arch/bin/rightsize-exporter}
	[ -n "${PROGRAM:-}" ] || "$here/portable/program.sh" "$arch"
	python3 "$here/wheel.py" "$out" "$arch" "$program"
done
