# shellcheck shell=bash
# Sourced from the repository's root by what tests in containers: images, made once and kept. Wants the variable folder, for
# logs; sets CONTAINERS_CONF, BASE and RIGHTSIZE_IMAGE.

: "${folder:?}"

# If not even root may raise limits, podman's own defaults are refused. crun refuses hosts with both cgroup versions.
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
