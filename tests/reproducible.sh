#!/usr/bin/env bash
# Builds the program and its Debian package twice, as different people would: in other folders, at another time, in
# another time zone and language, with another umask and number of jobs. Both must be the same to the last bit.
#
# Usage: tests/reproducible.sh            run by name: it compiles everything twice
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

folder=$(mktemp -d "${TMPDIR:-/tmp}/rightsize-reproducible-XXXXXX")
trap 'rm -rf "$folder"' EXIT
first=$folder/a
second=$folder/another/and/longer/folder
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH CCACHE_DISABLE=1

for copy in "$first" "$second"; do
	mkdir -p "$copy"
	git ls-files -z --cached --others --exclude-standard | xargs -0 cp -P --parents -t "$copy"
done
# The files of the second build have another date and a stricter umask.
find "$second" -type f -exec touch -d '2001-02-03 04:05:06' {} +
chmod -R g-w,o-rwx "$second"

build() {
	printf '== %s\n' "$PWD"
	cmake --preset package -D CMAKE_C_COMPILER_LAUNCHER= >build.log
	cmake --build --preset package -j "$1" >>build.log || { tail -n 30 build.log; exit 1; }
	# The umask decides the modes of the archive's own members.
	(umask 022 && cpack --config build/package/CPackConfig.cmake -B build/package) >>build.log || { tail -n 30 build.log; exit 1; }
}
(cd "$first" && umask 022 && TZ=UTC LC_ALL=C.UTF-8 build "$(nproc)")
(cd "$second" && umask 077 && TZ=Asia/Tokyo LC_ALL=C build 1)

failed=0
for file in exporter/rightsize-exporter rightsize-exporter.cdx.json pages/man.gz 'rightsize-exporter_*.deb'; do
	# shellcheck disable=SC2086,SC2116 # the name of the package has its version
	one=$(echo "$first"/build/package/$file) other=$(echo "$second"/build/package/$file)
	if cmp "$one" "$other"; then
		printf 'same %s %s\n' "$(sha256sum "$one" | cut -d' ' -f1)" "${one##*/}"
	else
		failed=1
	fi
done
exit "$failed"
