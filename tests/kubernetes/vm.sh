#!/usr/bin/env bash
# Proves the classic sidecar on a machine with only cgroup v2: a virtual machine without hardware acceleration (QEMU,
# Debian's cloud kernel) with containerd and the kubelet of Kubernetes 1.20, which plays our manifest's pod. By name
# only: takes ten minutes, besides what run.sh builds once.
#
# Usage: tests/kubernetes/vm.sh         as root, on Debian 12
#
# KUBERNETES_BIN=FOLDER takes finished programs, RIGHTSIZE_IMAGE=NAME a finished image of ours, BASE=NAME another base.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."
. tests/kubernetes/prepare.sh
. tests/vm/kernel.sh
deploy/packages.sh vm

printf '== Disk\n'
vm=$folder/vm
root=$vm/root
rm -rf "$root"
mkdir -p "$root"
podman build --quiet --network host --build-arg BASE="$BASE" -f tests/kubernetes/vm.Dockerfile -t localhost/rightsize-vm:test \
	tests/kubernetes >"$vm/image.log" 2>&1
container=$(podman create --quiet localhost/rightsize-vm:test true)
podman export "$container" | tar -C "$root" -x
podman rm "$container" >/dev/null
fetch_kernel "$vm"
# The modules that mount the disk are in the initial RAM disk. All others are on the disk.
first=$vm/first
rm -rf "$first"
mkdir -p "$first"/{bin,proc,dev,disk}
cp "$(command -v busybox)" "$first/bin/"
cp tests/kubernetes/vm-first "$first/init"
add_modules "$vm" "$first" virtio_pci virtio_blk ext4
(cd "$first" && find . | cpio -o -H newc --quiet | gzip -1) >"$vm/initrd"
add_modules "$vm" "$root" overlay veth bridge

mkdir -p "$root/test/logs"
cp "$KUBERNETES_BIN/kubelet" "$folder/images.tar" "$root/test/"
cp tests/kubernetes/*.py tests/pod/group.py tests/e2e/support.py "$root/test/"
cp tests/kubernetes/vm-init "$root/init"
/usr/bin/python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)' \
	<deploy/kubernetes/sidecar/classic.yaml >"$root/test/classic.json"
cat >"$root/test/environment" <<-VARIABLES
	export KUBERNETES_BIN=/test KUBERNETES_TOOLS=/ KUBERNETES_LOGS=/test/logs KUBERNETES_IMAGES=/test/images.tar
	export RIGHTSIZE_IMAGE=$RIGHTSIZE_IMAGE JOB_IMAGE=$JOB_IMAGE PAUSE=$PAUSE SLOW=1200 WORK_SECONDS=240 SCRAPE_INTERVAL=5s
VARIABLES
rm -f "$vm/disk"
mke2fs -q -t ext4 -d "$root" "$vm/disk" $(($(du -sm "$root" | cut -f 1) + 1500))M

printf '== Boot\n'
boot "$vm" 3600 -m 3G -initrd "$vm/initrd" -drive "file=$vm/disk,if=virtio,format=raw"
