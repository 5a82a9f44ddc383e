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

# Unpacked, not installed, because an installation would start services.
tools=$folder/tools
if [ ! -e "$tools/usr/bin/kubectl" ]; then
	(cd "$folder/packages" && apt-get download -q containerd etcd-server kubernetes-client)
	for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$tools"; done
fi

. tests/pod/images.sh

# The image that holds the pod's namespaces has one static program called pause, like Kubernetes' own image. The image
# of the manifest's job is made from Debian's busybox.
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
