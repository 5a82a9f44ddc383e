# shellcheck shell=bash
# Sourced by run.sh and vm.sh from the repository's root: programs of Kubernetes, tools and images, made once and kept in
# build/kubernetes-node. Sets folder, tools, KUBERNETES_BIN, JOB_IMAGE, PAUSE, and what tests/pod/images.sh sets.

folder=$PWD/build/kubernetes-node
mkdir -p "$folder/logs" "$folder/packages"
deploy/packages.sh build test pod kubernetes

if [ -z "${KUBERNETES_BIN-}" ]; then
	tests/kubernetes/build.sh "$folder"
	KUBERNETES_BIN=$folder/bin
fi
KUBERNETES_BIN=$(realpath "$KUBERNETES_BIN")
export KUBERNETES_BIN

# Unpacked and not installed: they would come with services.
tools=$folder/tools
if [ ! -e "$tools/usr/bin/kubectl" ]; then
	(cd "$folder/packages" && apt-get download -q containerd etcd-server kubernetes-client)
	for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$tools"; done
fi

. tests/pod/images.sh

# What holds the pod's namespaces, as Kubernetes' own image does: one static program called pause. And what the manifest's
# job runs on, from Debian's busybox.
export PAUSE=localhost/pause:test JOB_IMAGE=localhost/busybox:test
rm -rf "$folder/pause" "$folder/busybox"
install -D "$(command -v catatonit)" "$folder/pause/pause"
tar -C "$folder/pause" -c . | podman import --quiet --change 'ENTRYPOINT ["/pause", "-P"]' - "$PAUSE" >/dev/null
install -D "$(command -v busybox)" "$folder/busybox/bin/busybox"
for applet in $(busybox --list | grep -vx busybox); do ln -s busybox "$folder/busybox/bin/$applet"; done
tar -C "$folder/busybox" -c . | podman import --quiet --change 'ENV PATH=/bin' - "$JOB_IMAGE" >/dev/null
rm -f "$folder/images.new"
podman save --quiet --multi-image-archive --format docker-archive -o "$folder/images.new" "$RIGHTSIZE_IMAGE" "$JOB_IMAGE" "$PAUSE"
mv "$folder/images.new" "$folder/images.tar"
