# shellcheck shell=bash
# Sourced by what builds before it tests: build_preset PRESET [TARGET...] configures and builds build/PRESET; the log of the
# first is build/PRESET.log, and is shown when it fails.
build_preset() {
	mkdir -p build
	cmake --preset "$1" >"build/$1.log" 2>&1 || {
		cat "build/$1.log"
		exit 1
	}
	cmake --build --preset "$1" ${2:+--target "${@:2}"}
}
