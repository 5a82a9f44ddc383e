#!/usr/bin/env bash
# Puts other programs that watch processes into a folder, without installing them: Debian's packages, resource-tracker
# in Python, and its successor in Rust where there is a cargo new enough to build it. A program that is not available is
# reported and left out.
#
# Usage: tests/bench/peers.sh FOLDER
set -euo pipefail

folder=$(realpath -m "${1:?usage: tests/bench/peers.sh FOLDER}")
mkdir -p "$folder/debian"
cd "$folder"
for package in prometheus-node-exporter prometheus-process-exporter netdata-core netdata-plugins-bash; do
	if ! compgen -G "${package}_*.deb" >/dev/null && ! apt-get download "$package" >/dev/null 2>&1; then
		printf 'peers.sh: there is no package %s here\n' "$package" >&2
		continue
	fi
	dpkg -x "${package}"_*.deb debian
done
if [ ! -x venv/bin/python ] || ! venv/bin/python -c 'import resource_tracker' 2>/dev/null; then
	{ python3 -m venv venv && venv/bin/pip install --quiet resource-tracker; } ||
		{ printf 'peers.sh: resource-tracker cannot be had here\n' >&2 && rm -rf venv; }
fi
if [ ! -x rust/bin/resource-tracker ] && ! cargo install --quiet --locked --root rust resource-tracker; then
	printf 'peers.sh: the resource-tracker in Rust cannot be built here\n' >&2
fi
