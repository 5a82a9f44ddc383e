#!/bin/sh
# Copies programs and libraries with all shared libraries that they need, and the loader, to the same places below ROOT.
#
# Usage: closure.sh ROOT SEARCH-FOLDER... -- FILE...
#
# Uses readelf instead of ldd, because ldd cannot read the files of another processor.
set -eu

root=$1
shift
folders=
while [ "$1" != -- ]; do
	folders="$folders $1"
	shift
done
shift

find_library() {
	for folder in $folders; do
		if [ -e "$folder/$1" ]; then
			echo "$folder/$1"
			return
		fi
	done
	echo "closure.sh: $1 is in none of:$folders" >&2
	exit 1
}

while [ $# -gt 0 ]; do
	file=$1
	shift
	[ ! -e "$root$file" ] || continue
	mkdir -p "$root${file%/*}"
	cp -L "$file" "$root$file"
	needed=$(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	for name in $needed; do
		case $name in ld-linux*) continue ;; esac
		path=$(find_library "$name")
		set -- "$@" "$path"
	done
	# The path of the loader is fixed.
	loader=$(readelf -l "$file" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
	if [ -n "$loader" ]; then
		mkdir -p "$root${loader%/*}"
		cp -L "$(find_library "${loader##*/}")" "$root$loader"
	fi
done
