#!/usr/bin/env bash
# Proves on a real kernel with cgroup v2 (memory, cpu, io, pids, PSI) what is read there: boots Debian's cloud kernel in
# QEMU without hardware acceleration, with nothing in it but busybox and our programs, and runs prove.sh as its only
# job. Its exit code is that of prove.sh. Not part of CI: takes root, Debian 12 and about two minutes.
#
# Usage: tests/vm/run.sh
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

deploy/packages.sh build test vm
cmake --preset e2e >/dev/null
cmake --build --preset e2e --target rightsize-exporter accuracy_job accuracy_attach accuracy_launch

vm=$PWD/build/vm
root=$vm/root
rm -rf "$root"
mkdir -p "$vm/kernel" "$root"/{bin,lib64,modules,proc,sys,dev,tmp,run,root}

# The kernel that the package of that name stands for now, unpacked and not installed.
if [ ! -e "$vm/kernel/boot" ]; then
	package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	(cd "$vm" && apt-get download -q "$package" 2>/dev/null && dpkg -x "$package"_*.deb kernel)
fi
modules=$(echo "$vm"/kernel/lib/modules/*)
depmod -b "$vm/kernel" "${modules##*/}"

# A disk, for I/O that is counted.
for module in virtio_pci virtio_blk; do
	modprobe -d "$vm/kernel" -S "${modules##*/}" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
	name=${file##*/}
	case $name in
	*.xz) xz -dc "$file" >"$root/modules/${name%.xz}" ;;
	*) cp "$file" "$root/modules/$name" ;;
	esac
	echo "${name%.xz}" >>"$root/modules/order"
done

# Programs with the libraries that they name, at the same places.
add() {
	cp -L "$1" "$root/bin/"
	ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$root${library%/*}"
		cp -Ln "$library" "$root$library"
	done
}
cp "$(command -v busybox)" "$root/bin/busybox"
for program in build/e2e/exporter/rightsize-exporter build/e2e/tests/accuracy/accuracy_{job,attach,launch} \
	/usr/bin/unshare; do
	add "$program"
done
# The shell would take its own.
mv "$root/bin/unshare" "$root/bin/unshare.real"
cp tests/vm/init "$root/init"
cp tests/vm/prove.sh "$root/prove.sh"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$vm/initrd"
truncate -s 64M "$vm/disk"

timeout 900 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -m 2G -smp 2 -nographic -no-reboot -nic none \
	-kernel "$vm"/kernel/boot/vmlinuz-* -initrd "$vm/initrd" \
	-append "console=ttyS0 panic=-1 mitigations=off psi=1 random.trust_cpu=1" \
	-drive "file=$vm/disk,if=virtio,format=raw" </dev/null 2>&1 | tee "$vm/console" |
	sed -un -e 's/\r//' -e '/^== /,$p'
code=$(sed -n 's/^== ended with \([0-9]*\).*/\1/p' "$vm/console")
[ -n "$code" ] || tail -n 20 "$vm/console" >&2
exit "${code:-1}"
