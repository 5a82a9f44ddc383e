#!/usr/bin/env bash
# Proves the classic sidecar under a real Kubernetes node: API server, controllers, scheduler and kubelet 1.20 of Debian's
# own source, etcd and containerd of Debian. By name only: building Kubernetes takes ten minutes or more, once.
#
# Usage: tests/kubernetes/run.sh        as root, on Debian 12 with cgroup v1
#
# KUBERNETES_BIN=FOLDER takes finished programs, RIGHTSIZE_IMAGE=NAME a finished image of ours, BASE=NAME another base.
# Leaves build/kubernetes-node and the images for the next time, and nothing running.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

folder=$PWD/build/kubernetes-node
mkdir -p "$folder/logs" "$folder/packages"
deploy/packages.sh build test pod kubernetes

if [ -z "${KUBERNETES_BIN-}" ]; then
	tests/kubernetes/build.sh "$folder"
	KUBERNETES_BIN=$folder/bin
fi
KUBERNETES_BIN=$(realpath "$KUBERNETES_BIN")

# Unpacked and not installed: they would come with services.
tools=$folder/tools
if [ ! -e "$tools/usr/bin/kubectl" ]; then
	(cd "$folder/packages" && apt-get download -q containerd etcd-server kubernetes-client)
	for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$tools"; done
fi

# Where not even root may raise limits, podman's own defaults are refused; crun refuses hosts with both cgroup versions.
cat >"$folder/containers.conf" <<-'CONF'
	[containers]
	default_ulimits = ["nofile=20000:20000", "nproc=20000:20000"]
	[engine]
	runtime = "runc"
	cgroup_manager = "cgroupfs"
	events_logger = "file"
CONF
export CONTAINERS_CONF=$folder/containers.conf

export BASE=${BASE:-localhost/debian:bookworm-minbase}
if ! podman image exists "$BASE"; then
	printf '== Base image\n'
	# shellcheck disable=SC2016 # apt's own expression
	archive=$(apt-get indextargets --format '$(REPO_URI)' | grep -m 1 '/debian/$')
	rm -rf "$folder/base"
	debootstrap --variant=minbase bookworm "$folder/base" "$archive" >"$folder/base.log"
	tar -C "$folder/base" -c . | podman import --quiet --change 'CMD ["/bin/bash"]' \
		--change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' - "$BASE"
	rm -rf "$folder/base"
fi

if [ -z "${RIGHTSIZE_IMAGE-}" ]; then
	printf '== Image\n'
	export RIGHTSIZE_IMAGE=localhost/rightsize-exporter:kubernetes
	podman build --quiet --network host --build-arg BASE="$BASE" -f deploy/Dockerfile -t "$RIGHTSIZE_IMAGE" . \
		>"$folder/image.log" 2>&1 || {
		tail -n 30 "$folder/image.log"
		exit 1
	}
fi
# What holds the pod's namespaces, as Kubernetes' own image does: one static program called pause.
pause=localhost/pause:test
rm -rf "$folder/pause"
install -D "$(command -v catatonit)" "$folder/pause/pause"
tar -C "$folder/pause" -c . | podman import --quiet --change 'ENTRYPOINT ["/pause", "-P"]' - "$pause" >/dev/null
rm -f "$folder/images.tar"
podman save --quiet --multi-image-archive --format docker-archive -o "$folder/images.tar" "$RIGHTSIZE_IMAGE" "$BASE" "$pause"

printf '== Node\n'
# The namespaces end with the test and take along what it has started. Left are cgroups, which belong to the machine.
remove_cgroups() {
	find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} + 2>/dev/null || true
}
trap remove_cgroups EXIT
export KUBERNETES_BIN PAUSE=$pause
export KUBERNETES_TOOLS=$tools KUBERNETES_LOGS=$folder/logs KUBERNETES_IMAGES=$folder/images.tar
unshare --mount --net --pid --fork --kill-child --mount-proc /usr/bin/python3 -B tests/kubernetes/test_node.py "$@"
