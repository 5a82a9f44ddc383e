# The disk of the VM. It has the programs that run and query pods, besides the kubelet.
ARG BASE
FROM ${BASE}
RUN printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d && apt-get update -q && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends python3 iproute2 kmod containerd runc \
	containernetworking-plugins prometheus && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*
