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

. tests/kubernetes/prepare.sh

printf '== Node\n'
# Control groups belong to the whole machine, so only one node can run at a time.
exec 9>"$folder/lock"
flock 9
# The namespaces end with the test, and with them all its processes. Only control groups remain, which belong to the
# machine.
remove_cgroups() {
	find /sys/fs/cgroup -depth -type d -path '*/kubepods*' -exec rmdir {} + 2>/dev/null || true
}
trap remove_cgroups EXIT
export KUBERNETES_TOOLS=$tools KUBERNETES_LOGS=$folder/logs KUBERNETES_IMAGES=$folder/images.tar
unshare --mount --net --pid --fork --kill-child --mount-proc /usr/bin/python3 -B tests/kubernetes/test_node.py "$@"
