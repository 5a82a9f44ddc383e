# shellcheck shell=bash
# Sourced by the benchmarks: build_targets TARGET... builds what users get, in build/e2e, and says nothing unless it fails.
build=build/e2e
# shellcheck disable=SC2034 # for those who source this
exporter=$build/exporter/rightsize-exporter

build_targets() {
	mkdir -p build
	if ! { cmake --preset e2e && cmake --build --preset e2e --target "$@"; } >build/bench.log 2>&1; then
		cat build/bench.log >&2
		exit 1
	fi
}
