#!/bin/sh
# Prints the parts of a built program as CycloneDX JSON: its shared libraries, their shared libraries, and the built-in
# parts. Versions are those of the files on this machine. The same inputs give the same bytes.
#
# Usage: sbom.sh PROGRAM VERSION COMPILER LIBCURL-VERSION SOURCE-FOLDER
#
# Needs readelf (READELF names another one); dpkg-query names the package of a library, if it is installed. Variables
# name the other parts of an image:
#   LIBCURL        the file of libcurl, and
#   LIBCURL_SOURCE the version of Debian's source package that it was built from
#   CERTIFICATES   the file of certificates, of Debian's package ca-certificates
set -eu

program=$1 version=$2 compiler=$3 curl_version=$4 source=$5
readelf=${READELF:-readelf}

system=generic distribution=
if [ -r /etc/os-release ]; then
	system=$(sed -n 's/^ID=//p' /etc/os-release | tr -d '"')
	distribution=$system-$(sed -n 's/^VERSION_ID=//p' /etc/os-release | tr -d '"')
fi

needed() {
	"$readelf" -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort
}

# The compiler knows the folders of the libraries, also when it compiles for another processor.
find_library() {
	found=$("$compiler" -print-file-name="$1")
	case $found in /*) realpath "$found" ;; *) echo "$1" ;; esac
}

# Encodes the characters + and :, which a package URL may not have.
encode() {
	printf '%s' "$1" | sed 's/%/%25/g; s/+/%2B/g; s/:/%3A/g; s/~/%7E/g'
}

# The URL of a package: its name, version and architecture.
deb() {
	echo "pkg:deb/$system/$1@$(encode "$2")?arch=$3&distro=$distribution"
}

# "NAME VERSION PURL" of a library.
identify() {
	path=$(find_library "$1")
	package=
	# A file that was installed below /lib may be below /usr/lib today.
	for known in "$path" "${path#/usr}"; do
		[ -n "$package" ] || package=$(dpkg-query -S "$known" 2>/dev/null | sed -n '1s/: .*//p') || true
	done
	if [ -n "$package" ]; then
		# shellcheck disable=SC2016 # dpkg's own expressions
		dpkg-query -W -f='${Package} ${Version} ${Architecture}\n' "$package" | sed -n 1p | {
			read -r name release architecture
			echo "$name $release $(deb "$name" "$release" "$architecture")"
		}
		return
	fi
	name=${1%%.so*}
	release=${path##*.so.}
	echo "$name $release pkg:generic/$name@$release"
}

# All libraries, each once: "FILE NAME VERSION PURL".
queue=$(needed "$program"; [ -z "${LIBCURL-}" ] || needed "$LIBCURL")
all=
while [ -n "$queue" ]; do
	next=
	for file in $queue; do
		case "$all" in *"|$file "*) continue ;; esac
		all="$all|$file $(identify "$file")
"
		path=$(find_library "$file")
		[ ! -r "$path" ] || next="$next $(needed "$path")"
	done
	queue=$next
done
list=$(printf '%s' "$all" | sed 's/^|//' | sort)

purl_of() {
	printf '%s\n' "$list" | awk -v file="$1" '$1 == file {print $4}'
}

# "a","b" of the lines of standard input.
quote() {
	sed 's/.*/"&"/' | sort -u | paste -sd, -
}

depends_on() {
	for file in $(needed "$1"); do
		purl_of "$file"
	done | quote
}

sha256() {
	sha256sum "$1" | cut -d' ' -f1
}

own=pkg:generic/rightsize-exporter@$version
page=$source/dashboards/web/vendor/uPlot.js
page_version=$(sed -n '1s/.*(v\([0-9.]*\)).*/\1/p' "$page")
servers=$source/recommender/catalogue/built_in.pack
as_of=$(sed -n 's/^AS_OF = "\(.*\)"/\1/p' "${servers%.pack}.py")
uplot=pkg:npm/uplot@$page_version
catalogue=pkg:generic/rightsize-exporter-servers@$as_of

# Parts that the program uses without the linker, one per line: "TYPE NAME VERSION PURL SCOPE FILE DESCRIPTION".
used() {
	loaded='loaded by name when a catalogue is fetched or runs are handed on'
	if [ -n "${LIBCURL_SOURCE-}" ]; then
		echo "library libcurl $LIBCURL_SOURCE $(deb curl "$LIBCURL_SOURCE" source) required $LIBCURL $loaded; built from Debian's source"
	else
		echo "library libcurl $curl_version pkg:generic/curl@$curl_version optional - $loaded; the version is that of its headers"
	fi
	if [ -n "${CERTIFICATES-}" ]; then
		# shellcheck disable=SC2016 # dpkg's own expression
		release=$(dpkg-query -W -f='${Version}' ca-certificates)
		echo "data ca-certificates $release $(deb ca-certificates "$release" all) required $CERTIFICATES authorities that those who are asked over HTTPS are known by"
	fi
}
used=$(used)

used_components() {
	printf '%s\n' "$used" | while read -r type name release purl scope file description; do
		printf ',\n    {\n      "type": "%s", "bom-ref": "%s", "name": "%s", "version": "%s", "purl": "%s", "scope": "%s",\n' \
			"$type" "$purl" "$name" "$release" "$purl" "$scope"
		[ "$type" != data ] || printf '      "hashes": [{"alg": "SHA-256", "content": "%s"}],\n' "$(sha256 "$file")"
		printf '      "description": "%s"\n    }' "$description"
	done
}

used_dependencies() {
	printf '%s\n' "$used" | while read -r type _ _ purl _ file _; do
		[ "$file" != - ] || continue
		printf ',\n    {"ref": "%s", "dependsOn": [%s]}' "$purl" "$([ "$type" = data ] || depends_on "$file")"
	done
}

cat <<END
{
  "bomFormat": "CycloneDX",
  "specVersion": "1.5",
  "version": 1,
  "metadata": {
    "tools": {"components": [{"type": "application", "name": "$(basename "$compiler")", "version": "$("$compiler" -dumpfullversion -dumpversion)"}]},
    "component": {
      "type": "application", "bom-ref": "$own", "name": "rightsize-exporter", "version": "$version", "purl": "$own",
      "licenses": [{"license": {"id": "Apache-2.0"}}]
    }
  },
  "components": [
    {
      "type": "library", "bom-ref": "$uplot", "name": "uPlot", "version": "$page_version", "purl": "$uplot",
      "description": "built in: charts of the page", "licenses": [{"license": {"id": "MIT"}}],
      "hashes": [{"alg": "SHA-256", "content": "$(sha256 "$page")"}]
    },
    {
      "type": "data", "bom-ref": "$catalogue", "name": "built_in.pack", "version": "$as_of", "purl": "$catalogue",
      "description": "built in: servers that can be rented, by Spare Cores", "licenses": [{"license": {"id": "CC-BY-SA-4.0"}}],
      "hashes": [{"alg": "SHA-256", "content": "$(sha256 "$servers")"}]
    }$(used_components; printf '%s\n' "$list" | awk '!seen[$4]++ {
		printf ",\n    {\"type\": \"library\", \"bom-ref\": \"%s\", \"name\": \"%s\", \"version\": \"%s\", \"purl\": \"%s\"}", $4, $2, $3, $4}')
  ],
  "dependencies": [
    {"ref": "$own", "dependsOn": [$({ for file in $(needed "$program"); do purl_of "$file"; done; printf '%s\n' "$uplot" "$catalogue"; printf '%s\n' "$used" | cut -d' ' -f4; } | quote)]}$(
	used_dependencies
	printf '%s\n' "$list" | awk '!seen[$4]++ {print $1, $4}' | while read -r file purl; do
		printf ',\n    {"ref": "%s", "dependsOn": [%s]}' "$purl" "$(depends_on "$(find_library "$file")" | tr ',' '\n' | grep -vxF "\"$purl\"" | paste -sd, -)"
	done)
  ]
}
END
