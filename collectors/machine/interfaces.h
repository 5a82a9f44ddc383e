/*
 * Network interfaces: which of them lead out of a network namespace, and their line in /proc/net/dev.
 */
#ifndef COLLECTORS_MACHINE_INTERFACES_H
#define COLLECTORS_MACHINE_INTERFACES_H

#include "collectors/base/scan.h"
#include "collectors/host.h"

#define INTERFACE_PATH_MAX 512 /* below /sys */

/* Only interfaces of the first kind that there is are reported, and INTERFACE_INNER ones never. */
enum interface_kind {
	INTERFACE_CARD,    /* hardware, or what a hypervisor shows as such */
	INTERFACE_OUTWARD, /* the way out of a container */
	INTERFACE_TUNNEL,  /* ends in a program: the way out of a container without privileges */
	INTERFACE_INNER,   /* its packets pass another interface */
};

/* For want of anything better. */
enum interface_kind interface_kind_by_name(const char *name);

/* Is it hardware, or what a hypervisor shows as such? By host->sys, which is of one namespace; -ENOENT: not there. */
int interface_is_card(const struct host *host, const char *name);

/* Columns of /proc/net/dev after the name: eight received, eight sent; bytes come first. */
#define INTERFACE_FIELDS         16
#define INTERFACE_RECEIVED_BYTES 0
#define INTERFACE_SENT_BYTES     8

/* "  eth0: 1 2 ..."; false for the lines above. */
bool interface_parse(struct scan line, struct slice *name, uint64_t field[INTERFACE_FIELDS]);

#endif
