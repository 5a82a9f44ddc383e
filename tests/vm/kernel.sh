# shellcheck shell=bash
# For scripts that boot Debian's cloud kernel in QEMU: where it comes from, and which of its modules a disk needs.

# fetch_kernel FOLDER: unpacks the current kernel package, without installing it.
fetch_kernel() {
	local package
	mkdir -p "$1/kernel"
	if [ ! -e "$1/kernel/boot" ]; then
		package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
		(cd "$1" && apt-get download -q "$package" 2>/dev/null && dpkg -x "$package"_*.deb kernel)
	fi
	depmod -b "$1/kernel" "$(kernel_version "$1")"
}

kernel_version() {
	basename "$1"/kernel/lib/modules/*
}

# add_modules FOLDER ROOT MODULE...: copies the modules and all modules that they need into ROOT/modules, with their
# order.
add_modules() {
	local folder=$1 root=$2 module file name
	shift 2
	mkdir -p "$root/modules"
	for module in "$@"; do
		modprobe -d "$folder/kernel" -S "$(kernel_version "$folder")" --show-depends "$module"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
		name=${file##*/}
		case $name in
		*.xz) xz -dc "$file" >"$root/modules/${name%.xz}" ;;
		*) cp "$file" "$root/modules/$name" ;;
		esac
		echo "${name%.xz}" >>"$root/modules/order"
	done
}

# boot FOLDER SECONDS ARGUMENT...: the console goes to FOLDER/console and, from its first "== " on, to stdout. Returns
# the number in the line "== ended with NUMBER".
boot() {
	local folder=$1 seconds=$2 code
	shift 2
	timeout "$seconds" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -nographic -no-reboot -nic none \
		-kernel "$folder"/kernel/boot/vmlinuz-* \
		-append "console=ttyS0 panic=-1 mitigations=off psi=1 random.trust_cpu=1" "$@" </dev/null 2>&1 |
		tee "$folder/console" | sed -un -e 's/\r//' -e '/^== /,$p'
	code=$(sed -n 's/^== ended with \([0-9]*\).*/\1/p' "$folder/console")
	[ -n "$code" ] || tail -n 20 "$folder/console" >&2
	return "${code:-1}"
}
