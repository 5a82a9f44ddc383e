#!/usr/bin/env bash
# Proves the sidecar in real pods: builds the image from deploy/Dockerfile, plays pods with a shared PID namespace, a
# job with limits and the exporter beside it, and queries a real Prometheus for the results. Run by name, because it
# takes minutes.
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

. tests/pod/images.sh
podman image inspect --format 'image: {{.Size}} bytes, user {{.User}}' "$RIGHTSIZE_IMAGE"

cmake --preset e2e >"$folder/cmake.log"
cmake --build --preset e2e --target rightsize-exporter >>"$folder/cmake.log"
export RIGHTSIZE_EXPORTER=$PWD/build/e2e/exporter/rightsize-exporter
tests=$PWD/tests/pod
# The supervisor of containers writes notes about processes killed for memory into its current folder.
cd "$folder"
exec /usr/bin/python3 -B "$tests/test_pod.py" "$@"
