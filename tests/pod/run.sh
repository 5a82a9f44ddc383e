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

. tests/pod/images.sh
podman image inspect --format 'image: {{.Size}} bytes, user {{.User}}' "$RIGHTSIZE_IMAGE"

cmake --preset e2e >"$folder/cmake.log"
cmake --build --preset e2e --target rightsize-exporter >>"$folder/cmake.log"
export RIGHTSIZE_EXPORTER=$PWD/build/e2e/exporter/rightsize-exporter
tests=$PWD/tests/pod
# What supervises containers writes notes of those killed for memory into the folder that it is started in.
cd "$folder"
exec /usr/bin/python3 -B "$tests/test_pod.py" "$@"
