#!/usr/bin/env bash
# Builds and tests everything on Debian 12, and ends with CTest's summary; its exit code is that of the tests.
#
# Usage: tests/run.sh [all|unit|e2e|lint|fuzz] [CTEST-ARGUMENT...]        for example: tests/run.sh e2e -R history
#
# all (the default) is every test in every build: gcc with AddressSanitizer and UBSan (build/check), clang with
# ThreadSanitizer (build/clang), what users get (build/e2e), and libFuzzer for a few seconds a target (build/fuzz). The
# other words run a part of these.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

# shellcheck source=tests/build.sh
. tests/build.sh

part=${1:-all}
[ $# = 0 ] || shift
case $part in
all) presets=(check clang e2e fuzz) labels=. ;;
unit) presets=(check clang) labels='unit|corpus' ;;
e2e) presets=(e2e) labels=e2e ;;
lint) presets=(clang) labels=lint ;;
fuzz) presets=(fuzz) labels=fuzz ;;
*)
	sed -n 's/^# Usage: /usage: /p' "$0" >&2
	exit 2
	;;
esac

deploy/packages.sh build test

# One folder from which CTest sees the tests of all builds, so that there is one summary.
together=build/all
mkdir -p "$together"
: >"$together/CTestTestfile.cmake"
for preset in "${presets[@]}"; do
	printf '\n== Building build/%s\n' "$preset"
	build_preset "$preset"
	printf 'subdirs("%s")\n' "$PWD/build/$preset" >>"$together/CTestTestfile.cmake"
done

printf '\n== Testing: %s\n' "$part"
jobs=$(nproc)
# lint.tidy runs from the beginning and yields its processors, so it counts as none of them.
[ "$part" != all ] || jobs=$((jobs + 1))
exec ctest --test-dir "$together" --output-on-failure --no-tests=error --no-label-summary -j "$jobs" -L "$labels" "$@"
