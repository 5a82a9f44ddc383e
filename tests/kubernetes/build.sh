#!/usr/bin/env bash
# Builds API server, controllers, scheduler and kubelet of Kubernetes 1.20 from Debian 12's own source package with
# Debian's Go. No other source is used. Does nothing when the programs exist.
#
# Usage: tests/kubernetes/build.sh FOLDER        gives FOLDER/bin; takes 3 GB, and ten minutes or more
set -euo pipefail
folder=$(mkdir -p "$1" && realpath "$1")
programs=(kubelet kube-apiserver kube-scheduler kube-controller-manager)

built() {
	local program
	for program in "${programs[@]}"; do [ -x "$folder/bin/$program" ] || return 1; done
}
! built || exit 0
printf '== Kubernetes from source: %s\n' "$folder"
cd "$folder"

# Lists of sources of our own, beside those of the system.
if [ ! -e source/Makefile ]; then
	mkdir -p apt/lists/partial apt/cache/archives/partial apt/parts
	# shellcheck disable=SC2016 # apt's own expression
	archive=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$')
	signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
	printf '%s\n' "deb-src $signed $archive bookworm main" \
		"deb-src $signed ${archive%debian/}debian-security bookworm-security main" >apt/sources.list
	printf '%s;\n' "Dir::Etc::sourcelist \"$folder/apt/sources.list\"" "Dir::Etc::sourceparts \"$folder/apt/parts\"" \
		"Dir::State::lists \"$folder/apt/lists\"" "Dir::Cache \"$folder/apt/cache\"" >apt/apt.conf
	export APT_CONFIG=$folder/apt/apt.conf
	apt-get update -q
	apt-get source -q --download-only kubernetes
	unset APT_CONFIG
	rm -rf source
	dpkg-source -x kubernetes_*.dsc source
	# Its copy of reflect2 breaks maps with Go 1.18 and later. Debian has a version that does not.
	reflect2=source/vendor/github.com/modern-go/reflect2
	rm -f "$reflect2"/*.go "$reflect2"/*.s
	cp /usr/share/gocode/src/github.com/modern-go/reflect2/*.{go,s} "$reflect2/"
fi

# Its makefiles ask git for the version, and must be in a Go workspace.
printf '%s\n' KUBE_GIT_COMMIT=debian KUBE_GIT_TREE_STATE=archive KUBE_GIT_VERSION=v1.20.2 KUBE_GIT_MAJOR=1 \
	KUBE_GIT_MINOR=20 >version.sh
mkdir -p home source/.go/src/k8s.io
ln -sfn ../../.. source/.go/src/k8s.io/kubernetes
export PATH=/usr/lib/go-1.19/bin:$PATH HOME=$folder/home GOCACHE=$folder/cache GOPATH=$folder/source/.go \
	GOPROXY=off GO111MODULE=auto GOFLAGS=-p=2 CGO_ENABLED=0 KUBE_GIT_VERSION_FILE=$folder/version.sh
nice -n 5 make -C source WHAT="${programs[*]/#/cmd/}"
mkdir -p bin
for program in "${programs[@]}"; do cp "source/_output/local/bin/linux/amd64/$program" bin/; done
