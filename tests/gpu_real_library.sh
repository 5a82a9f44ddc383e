#!/bin/sh
# Tests the gpu collector with NVIDIA's real library. Without a driver, the library returns error 9. The collector must
# then find no GPU, and must not log a warning. Not part of ctest: it fetches a package.
#
#	tests/gpu_real_library.sh [BUILD_DIRECTORY [DIRECTORY_OF_LIBNVIDIA_ML]]
#
# Without a directory the library is fetched from the non-free part of the Debian mirror that apt uses here.
set -eu

build=$(cd "${1:-build/check}" && pwd)
library=${2:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -z "$library" ]; then
	mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts" "$work/root"
	# shellcheck disable=SC2016 # for apt to expand
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | grep '/debian/ ' | grep -v -e - | head -n 1 |
		while read -r mirror suite; do
			key=/usr/share/keyrings/debian-archive-keyring.gpg
			echo "deb [signed-by=$key] $mirror $suite non-free" >"$work/sources.list"
		done
	[ -s "$work/sources.list" ] || { echo "apt knows no Debian mirror here: name a directory" >&2; exit 1; }
	cat >"$work/apt.conf" <<-END
		Dir::Etc::sourcelist "$work/sources.list";
		Dir::Etc::sourceparts "$work/parts";
		Dir::State::lists "$work/lists";
		Dir::Cache "$work/cache";
		APT::Sandbox::User "root";
	END
	(
		cd "$work"
		export APT_CONFIG="$work/apt.conf"
		apt-get -q update >&2
		apt-get -q download libnvidia-ml1 >&2
		dpkg -x libnvidia-ml1_*.deb root
	)
	# The package lacks the symbolic link with the soname, which an installation would make.
	file=$(find "$work/root" -name 'libnvidia-ml.so.1' | head -n 1)
	[ -n "$file" ] || file=$(find "$work/root" -name 'libnvidia-ml.so.*' -type f | head -n 1)
	mkdir "$work/library"
	cp -L "$file" "$work/library/libnvidia-ml.so.1"
	library=$work/library
fi

look=$build/tests/support/gpu_look
LD_LIBRARY_PATH=$library
export LD_LIBRARY_PATH

# expect CODE TEXT ARGUMENT...: checks the answer of gpu_look, and that it prints no complaint.
expect() {
	want=$1 text=$2 code=0
	shift 2
	"$look" "$@" >"$work/out" 2>"$work/err" || code=$?
	if [ "$code" != "$want" ] || [ -s "$work/err" ] || ! grep -q -e "$text" "$work/out"; then
		echo "FAILED: gpu_look $* ended with $code:" >&2
		cat "$work/out" "$work/err" >&2
		exit 1
	fi
	echo "gpu_look $*: $(head -n 1 "$work/out")"
}

if [ -d /sys/module/nvidia ]; then
	expect 0 '^rightsize_gpu_up{gpu="0"} 1$'
	expect 0 '^[1-9][0-9]* GPUs' --library
else
	before=$(ls -d /dev/nvidia* 2>/dev/null || true)
	expect 2 '^no GPU$'
	after=$(ls -d /dev/nvidia* 2>/dev/null || true)
	[ "$before" = "$after" ] || { echo "FAILED: the collector made $after" >&2; exit 1; }
	expect 2 '^no GPU$' --library
	# When root calls the library, it makes this node even without a driver.
	[ -n "$before" ] || rm -f /dev/nvidiactl
fi
echo "passed with $library/libnvidia-ml.so.1"
