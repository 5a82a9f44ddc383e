#!/usr/bin/env bash
# Proves the readings on a real kernel with cgroup v2 (memory, cpu, io, pids, PSI). Boots Debian's cloud kernel in QEMU
# without hardware acceleration, with only busybox and our programs, and runs prove.sh as its only job. With "memory",
# runs tests/e2e/test_faults_memory.py and the tests of test_faults_limits.py about a full control group. The exit code
# is that of the job. Not part of CI: needs root, Debian 12 and two to six minutes.
#
# Usage: tests/vm/run.sh [prove|memory]
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

deploy/packages.sh build test vm
cmake --preset e2e >/dev/null
cmake --build --preset e2e --target rightsize-exporter accuracy_job accuracy_attach accuracy_launch

vm=$PWD/build/vm
root=$vm/root
rm -rf "$root"
mkdir -p "$root"/{bin,lib64,proc,sys,dev,tmp,run,root}

. tests/vm/kernel.sh
fetch_kernel "$vm"
# A disk, for I/O that is counted.
add_modules "$vm" "$root" virtio_pci virtio_blk

# Programs with their libraries, at the same paths.
add() {
	cp -L "$1" "$root/bin/"
	ldd "$1" 2>/dev/null | { grep -o '/[^ ]*' || true; } | while read -r library; do
		mkdir -p "$root${library%/*}"
		cp -Ln "$library" "$root$library"
	done
}
cp "$(command -v busybox)" "$root/bin/busybox"
for program in build/e2e/exporter/rightsize-exporter build/e2e/tests/accuracy/accuracy_{job,attach,launch} \
	/usr/bin/unshare; do
	add "$program"
done
# The shell would use its own command.
mv "$root/bin/unshare" "$root/bin/unshare.real"
cp tests/vm/init "$root/init"
cp tests/vm/prove.sh "$root/prove.sh"
if [ "${1:-prove}" = memory ]; then
	# The test itself, which needs Python.
	mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/tests" "$root/exporter"
	cp -rL /usr/lib/python3.11 "$root/usr/lib/"
	rm -rf "$root"/usr/lib/python3.11/{test,idlelib,tkinter,lib2to3,ensurepip,config-*}
	for object in "$root"/usr/lib/python3.11/lib-dynload/*.so; do
		add "$object"
		rm "$root/bin/${object##*/}"
	done
	add /usr/bin/python3
	mv "$root/bin/python3" "$root/usr/bin/"
	cp -r tests/e2e tests/accuracy "$root/tests/"
	cp -r deploy SECURITY.md "$root/"
	cp exporter/core/memory_budget.h "$root/exporter/"
	cat >"$root/prove.sh" <<-'END'
		RIGHTSIZE_DEADLINE=300 RIGHTSIZE_EXPORTER=/bin/rightsize-exporter /usr/bin/python3 -B /tests/e2e/test_faults_memory.py 2>&1 &&
			RIGHTSIZE_DEADLINE=300 RIGHTSIZE_EXPORTER=/bin/rightsize-exporter /usr/bin/python3 -B /tests/e2e/test_faults_limits.py -k in_a_full_group 2>&1
	END
fi
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$vm/initrd"
truncate -s 64M "$vm/disk"

boot "$vm" 900 -m 2G -initrd "$vm/initrd" -drive "file=$vm/disk,if=virtio,format=raw"
