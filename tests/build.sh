# shellcheck shell=bash
# Sourced by scripts that build before they test. build_preset PRESET [TARGET...] configures and builds build/PRESET. Its
# log is build/PRESET.log, which is shown when the build fails.
build_preset() {
	mkdir -p build
	cmake --preset "$1" >"build/$1.log" 2>&1 || {
		cat "build/$1.log"
		exit 1
	}
	cmake --build --preset "$1" ${2:+--target "${@:2}"}
}
