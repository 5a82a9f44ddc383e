#!/usr/bin/env bash
# Proves the sidecar in real pods: builds the image from deploy/Dockerfile, plays pods with a shared PID namespace, a
# job with limits and the exporter beside it, and asks a real Prometheus what arrived. By name only: takes minutes.
#
# Usage: tests/pod/run.sh [TEST...]        for example: tests/pod/run.sh Rights; as root
#
# Leaves the images for the next time, and nothing running. The base image is made from the Debian archive that this
# system uses; BASE=NAME takes another one, RIGHTSIZE_IMAGE=NAME takes a finished image of ours.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

folder=$PWD/build/pod
mkdir -p "$folder"
deploy/packages.sh build test pod

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
	export RIGHTSIZE_IMAGE=localhost/rightsize-exporter:test
	podman build --quiet --network host --build-arg BASE="$BASE" -f deploy/Dockerfile -t "$RIGHTSIZE_IMAGE" . \
		>"$folder/image.log" 2>&1 || {
		tail -n 30 "$folder/image.log"
		exit 1
	}
fi
podman image inspect --format 'image: {{.Size}} bytes, user {{.User}}' "$RIGHTSIZE_IMAGE"

cmake --preset e2e >"$folder/cmake.log"
cmake --build --preset e2e --target rightsize-exporter >>"$folder/cmake.log"
export RIGHTSIZE_EXPORTER=$PWD/build/e2e/exporter/rightsize-exporter
exec /usr/bin/python3 -B tests/pod/test_pod.py "$@"
