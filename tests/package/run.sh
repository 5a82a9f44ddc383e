#!/usr/bin/env bash
# Builds the Debian package, and installs, upgrades, removes and purges it in a fresh Debian 12 made by debootstrap.
#
# Usage: tests/package/run.sh            as root, with debootstrap; lintian checks it if installed
#
# Only build/package of this machine changes. The Debian is removed at the end.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

# The mounts for the Debian end with the namespace.
if [ -z "${RIGHTSIZE_PACKAGE_INSIDE-}" ]; then
	[ "$(id -u)" = 0 ] || { echo 'package: run as root: it installs into a folder as apt does' >&2; exit 1; }
	RIGHTSIZE_PACKAGE_INSIDE=1 exec unshare --mount "$BASH" "$0" "$@"
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/rightsize-package-XXXXXX")
root=$folder/root
trap 'rm -rf --one-file-system "$folder"' EXIT

fail() {
	printf 'package: %s\n' "$*" >&2
	exit 1
}
inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		${http_proxy:+http_proxy="$http_proxy"} "$@"
}
expect() {
	inside sh -c "$2" || fail "$1: $2"
	printf 'ok %s\n' "$1"
}

command -v debootstrap >/dev/null || fail "install debootstrap"

printf '== Package\n'
cmake --preset package >"$folder/build.log"
cmake --build --preset package >>"$folder/build.log" || { tail "$folder/build.log"; exit 1; }
rm -f build/package/*.deb
cpack --config build/package/CPackConfig.cmake -B build/package >>"$folder/build.log" || { tail "$folder/build.log"; exit 1; }
package=$(echo build/package/*.deb)
if command -v lintian >/dev/null; then
	lintian --fail-on error,warning --allow-root "$package"
	printf 'ok lintian says nothing\n'
fi

printf '== Debian\n'
# shellcheck disable=SC2016 # apt's own expression
archive=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$')
debootstrap --variant=minbase bookworm "$root" "$archive" >"$folder/debian.log" || { tail "$folder/debian.log"; exit 1; }
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"; rm -rf --one-file-system "$folder"' EXIT
cp "$package" "$root/package.deb"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"

printf '== Install\n'
inside apt-get install -qq -y --no-install-recommends /package.deb >"$folder/install.log" 2>&1 || { tail "$folder/install.log"; exit 1; }
expect 'the program runs' 'rightsize-exporter --version | grep -q "^rightsize-exporter, version"'
expect 'a command runs under it' 'rightsize-exporter run --job-name=probe --quiet -- true'
expect 'the user exists and cannot log in' 'getent passwd rightsize-exporter | grep -q ":/usr/sbin/nologin$"'
# shellcheck disable=SC2016 # expanded inside
expect 'the state folder is the user'\''s' '[ "$(stat -c %U:%a /var/lib/rightsize-exporter)" = rightsize-exporter:750 ]'
expect 'the service is enabled' '[ -L /etc/systemd/system/multi-user.target.wants/rightsize-exporter.service ]'
expect 'the socket is not' '[ ! -e /etc/systemd/system/sockets.target.wants/rightsize-exporter.socket ]'
expect 'the unit is correct' 'systemd-analyze verify --man=no rightsize-exporter.service rightsize-exporter.socket'
expect 'the man page is there' 'zcat /usr/share/man/man1/rightsize-exporter.1.gz | grep -q "^.SH OPTIONS"'
expect 'that of the routes too' 'zcat /usr/share/man/man7/rightsize-exporter-routes.7.gz | grep -q "^Keys of the body"'
expect 'the manual and its page about security are there' \
	'cd /usr/share/doc/rightsize-exporter && grep -q "^# Manual" manual/README.md && grep -q "^# Security" SECURITY.md'
expect 'completion is bash' 'bash -n /usr/share/bash-completion/completions/rightsize-exporter'
expect 'it serves as its user' 'setpriv --reuid=rightsize-exporter --regid=rightsize-exporter --clear-groups \
	env STATE_DIRECTORY=/var/lib/rightsize-exporter CACHE_DIRECTORY=/var/cache/rightsize-exporter \
	timeout --preserve-status 5 rightsize-exporter serve --web.listen-address=127.0.0.1:0 >/serve.log 2>&1
	grep -q "msg=listening" /serve.log || { cat /serve.log; false; }'

printf '== Upgrade\n'
expect 'a setting' 'echo RIGHTSIZE_LOG_LEVEL=debug >>/etc/default/rightsize-exporter'
inside apt-get install -qq -y --reinstall --no-install-recommends /package.deb >"$folder/install.log" 2>&1 || { tail "$folder/install.log"; exit 1; }
expect 'stays' 'grep -q "^RIGHTSIZE_LOG_LEVEL=debug" /etc/default/rightsize-exporter'

printf '== Remove\n'
inside apt-get remove -qq -y rightsize-exporter >"$folder/install.log" 2>&1 || { tail "$folder/install.log"; exit 1; }
expect 'the history stays' '[ -f /var/lib/rightsize-exporter/history.db ]'
inside apt-get purge -qq -y rightsize-exporter >"$folder/install.log" 2>&1 || { tail "$folder/install.log"; exit 1; }
expect 'until it is purged' '[ ! -e /var/lib/rightsize-exporter ] && [ ! -e /etc/default/rightsize-exporter ]'
expect 'no link is left' '[ ! -L /etc/systemd/system/multi-user.target.wants/rightsize-exporter.service ]'
