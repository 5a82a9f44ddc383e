#!/usr/bin/env bash
# Installs the Debian packages that building and testing need; the one place that lists them.
#
# Usage: deploy/packages.sh build|test|vm|web|pod|visibility|bench...
#
# Installs only what is missing, as root or through sudo. Starts no daemon, although the package "prometheus" usually
# starts one.
set -euo pipefail

declare -A packages=(
	[build]="gcc libc6-dev cmake ninja-build pkg-config
		libcurl4-openssl-dev libmicrohttpd-dev libgnutls28-dev libpcre2-dev libyaml-dev libcrypt-dev
		libjansson-dev libsqlite3-dev zlib1g-dev"
	[try]="curl ca-certificates"
	[test]="clang clang-format clang-tidy libclang-rt-14-dev llvm cppcheck shellcheck git
		iproute2 libcmocka-dev openssl prometheus prometheus-alertmanager python3 python3-jsonschema
		python3-prometheus-client python3-yaml python3-fusepy zsh fish"
	[vm]="qemu-system-x86 busybox-static cpio kmod xz-utils util-linux"
	[web]="chromium fonts-dejavu-core python3"
	[npm]="nodejs npm"
	[bench]="python3 curl nghttp2-client wrk"
	[visibility]="podman runc uidmap fuse3 python3-fusepy python3 util-linux"
	[pod]="podman buildah runc conmon netavark aardvark-dns catatonit iptables debootstrap prometheus python3"
	[kubernetes]="golang-1.19-go golang-github-modern-go-reflect2-dev rsync jq make dpkg-dev openssl
		busybox-static containernetworking-plugins e2fsprogs iproute2 python3-yaml util-linux"
)

fail() {
	printf 'packages.sh: %s\n' "$*" >&2
	exit 1
}

# Prints the given packages that are not installed.
missing() {
	local package
	for package in "$@"; do
		dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
			printf '%s\n' "$package"
	done
}

# invoke-rc.d and deb-systemd-invoke call this file; exit code 101 means no. The file that was there before is restored
# afterwards. Our file has a line that marks it. A killed run may leave it behind. Without the mark, the next run would
# keep it as the original, and daemons would be forbidden for ever.
policy=/usr/sbin/policy-rc.d
ours='# Of deploy/packages.sh of rightsize-exporter, while it installs. Whoever finds this at another time may remove it.'
remove_ours() {
	local file
	for file in "$policy" "$policy.before"; do
		if grep -qsxF "$ours" "$file"; then rm -f "$file"; fi
	done
}
restore_policy() {
	remove_ours
	# Keeps a file that another program has put there in the meantime.
	if [ -e "$policy.before" ] && [ ! -e "$policy" ]; then mv "$policy.before" "$policy"; fi
}
forbid_daemons() {
	remove_ours
	if [ -e "$policy" ]; then mv "$policy" "$policy.before"; fi
	trap restore_policy EXIT
	# The file is written in one step, because a half-written file would lack our mark.
	printf '#!/bin/sh\n%s\nexit 101\n' "$ours" >"$policy.new"
	chmod 755 "$policy.new"
	mv "$policy.new" "$policy"
}

install() {
	apt-get install -y --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@"
}

# Fetches the package lists if there are none, or if they are too old.
install_with_lists() {
	if compgen -G '/var/lib/apt/lists/*Packages*' >/dev/null && install "$@"; then
		return
	fi
	apt-get update || fail "apt-get update failed: see the lines above"
	install "$@" || fail "these packages could not be installed: $*"
}

[ $# -gt 0 ] || fail "name at least one list of packages: ${!packages[*]}"
wanted=()
for list in "$@"; do
	[ -n "${packages[$list]-}" ] || fail "no list is called $list; there are: ${!packages[*]}"
	read -r -d '' -a names <<<"${packages[$list]}" || true
	wanted+=("${names[@]}")
done
command -v apt-get >/dev/null ||
	fail "this system has no apt-get; install what these Debian packages hold: ${wanted[*]}"

mapfile -t needed < <(missing "${wanted[@]}")
[ ${#needed[@]} -gt 0 ] || exit 0
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null ||
		fail "run as root, or install sudo; these packages are missing: ${needed[*]}"
	exec sudo -- "$BASH" "$(realpath "$0")" "$@"
fi
printf 'Installing: %s\n' "${needed[*]}"
export DEBIAN_FRONTEND=noninteractive
forbid_daemons
install_with_lists "${needed[@]}"
