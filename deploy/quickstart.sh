#!/usr/bin/env bash
# From a fresh Debian 12 to a recommendation: installs the packages, builds a release, runs a real job
# three times, and asks the exporter what it learned.
#
# Usage: deploy/quickstart.sh [--install | --uninstall]     (as root, or with sudo; may be run again and again)
#
# Without --install, all files are below build/. With it, the program, its man page and its completions are installed in
# /usr/local, and the runs are in the program's default history. --uninstall removes the files that --install installed,
# but not the history, the cache and Debian's packages. No process is left running.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

exporter=build/release/exporter/rightsize-exporter
folder=build/quickstart
history=$folder/history.db
prefix=/usr/local
# The list of installed files, which --uninstall reads. The list is installed, too.
manifest=$prefix/share/doc/rightsize-exporter/installed-files
install=''
job_name=quickstart/words
runs=3
server=''
told=''

say() {
	printf '\n== %s\n' "$*"
}

fail() {
	printf '\nquickstart.sh: %s\n' "$*" >&2
	told=yes
	exit 1
}

stop_server() {
	[ -n "$server" ] || return 0
	kill "$server" 2>/dev/null || true
	wait "$server" 2>/dev/null || true
	server=''
}

finish() {
	local code=$?
	stop_server
	rm -rf "$folder/job"
	[ "$code" = 0 ] || [ -n "$told" ] || printf '\nquickstart.sh: failed: see the lines above\n' >&2
}
trap finish EXIT

# The server prints its address on stderr, because port 0 means any free port.
start_server() {
	local log=$folder/serve.log
	"$exporter" serve --web.listen-address=127.0.0.1:0 ${history:+"--history.path=$history"} 2>"$log" &
	server=$!
	for _ in $(seq 100); do
		url=$(sed -nE 's/.*listening.*address="?([0-9.]+:[0-9]+).*/http:\/\/\1/p' "$log" | head -n 1)
		[ -z "$url" ] || return 0
		kill -0 "$server" 2>/dev/null || fail "the server ended: $(cat "$log")"
		sleep 0.1
	done
	fail "the server did not say where it listens: $(cat "$log")"
}

# The job does real work: it packs files of this system, compresses them, and counts their words. It has several
# processes, of which two are busy at the same time. It takes about 5 seconds on two cores.
write_job() {
	cat >"$folder/words.sh" <<-'JOB'
		#!/bin/sh
		# Usage: words.sh FOLDER
		set -eu
		export LC_ALL=C
		cd "$1"
		tar -C / -cf - usr/lib usr/share 2>/dev/null | head -c 64M >files.tar
		gzip <files.tar >files.tar.gz &
		tr -cs '[:alnum:]' '\n' <files.tar | sort -S 192M | uniq -c | sort -rn >words.txt
		wait
		head -n 5 words.txt
	JOB
	chmod +x "$folder/words.sh"
}

# The server reads the history, and computes sizes and costs from it, right after its start.
wait_for_sizes() {
	local page
	for _ in $(seq 100); do
		page=$(curl -fsS "$url/metrics") || true
		if [[ $page == *"rightsize_job_recommended_memory_bytes{job_name=\"$job_name\"}"* ]]; then return 0; fi
		sleep 0.1
	done
	fail "the server has no recommendation; its log: $(cat "$folder/serve.log")"
}

ask() {
	printf '\n$ curl %s\n' "'$1'"
	curl -fsS "$1" || fail "no answer to $1"
	printf '\n'
}

# Prints the beginning of a long answer. The whole answer is in a file.
ask_long() {
	printf '\n$ curl %s\n' "'$1'"
	curl -fsS "$1" >"$2" || fail "no answer to $1"
	head -n 24 "$2"
	printf '... %s lines in all, in %s\n' "$(wc -l <"$2")" "$2"
}

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# Prints the folder in which the program keeps its data: $1 for root, $2 for others.
data_folder() {
	local place=$2
	[ "$(id -u)" -ne 0 ] || place=$1
	printf '%s' "$place/rightsize-exporter"
}

uninstall() {
	[ -e "$manifest" ] || fail "nothing to remove: $manifest is missing"
	local places
	# The folders of the files and those above them, the deepest first. One that others use is not empty and stays, and
	# so do those that Debian itself has.
	# CMake ends the list without a line feed.
	places=$(while read -r place || [ -n "$place" ]; do
		while place=${place%/*} && [ "${place#"$prefix"/share/}" != "$place" ]; do printf '%s\n' "$place"; done
	done <"$manifest" | grep -vxF -e "$prefix/share/man" -e "$prefix/share/doc" | sort -ru)
	as_root xargs -d '\n' rm -f -- <"$manifest"
	as_root rm -f "$manifest"
	printf '%s\n' "$places" | as_root xargs -d '\n' rmdir --ignore-fail-on-non-empty --
	printf 'Removed. The packages stay, and so do the history and the cache, in %s and %s\n' \
		"$(data_folder /var/lib "${XDG_STATE_HOME:-$HOME/.local/state}")" \
		"$(data_folder /var/cache "${XDG_CACHE_HOME:-$HOME/.cache}")"
}

install_release() {
	as_root cmake --install build/release --prefix "$prefix"
	as_root mkdir -p "$(dirname "$manifest")"
	as_root cp build/release/install_manifest.txt "$manifest"
	exporter=$prefix/bin/rightsize-exporter
}

case ${1-} in
'') ;;
--install)
	install=yes
	history=''
	;;
--uninstall)
	uninstall
	exit 0
	;;
*) fail "\"$1\" is not accepted: give --install, --uninstall, or nothing" ;;
esac

say "1/5 Installing what is missing to build and to ask"
deploy/packages.sh build try

say "2/5 Building a release in build/release"
cmake --preset release ${install:+-DINSTALL_SERVICE=OFF}
cmake --build --preset release
[ -z "$install" ] || install_release
"$exporter" --version

rm -rf "$folder"
mkdir -p "$folder/job"
say "3/5 Running the job $job_name $runs times: packing, compressing and sorting files of this system"
write_job
for n in $(seq "$runs"); do
	printf '\n$ rightsize-exporter run --job-name=%s -- %s/words.sh   # %s of %s\n' \
		"$job_name" "$folder" "$n" "$runs"
	"$exporter" run --job-name="$job_name" ${history:+"--history.path=$history"} -- \
		"$folder/words.sh" "$folder/job" || fail "the job failed"
done

if [ -n "$install" ]; then
	say "4/5 Starting the server on a free port, with the usual history"
else
	say "4/5 Starting the server on a free port, with a fresh history: $history"
fi
start_server
printf 'It serves on %s\n' "$url"
wait_for_sizes

say "5/5 What the exporter learned"
printf '\n$ curl %s | grep %s\n' "'$url/metrics'" "'job_name=\"$job_name\"'"
curl -fsS "$url/metrics" | grep -F "job_name=\"$job_name\"" || fail "/metrics says nothing about the job"
ask_long "$url/stats?job_name=$job_name" "$folder/stats.json"
ask "$url/recommend?job_name=$job_name&limit=1"

stop_server
say "Done. The server is stopped. The history answers without it, too:"
[ -z "$install" ] || exporter=rightsize-exporter
printf '$ %s recommend --job-name=%s%s\n\n' "$exporter" "$job_name" "${history:+ --history.path=$history}"
"$exporter" recommend --job-name="$job_name" ${history:+"--history.path=$history"} --format=text
