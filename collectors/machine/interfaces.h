/* Network interfaces: which of them lead out of a network namespace, and how to parse their lines
 * in /proc/net/dev. */
#ifndef COLLECTORS_MACHINE_INTERFACES_H
#define COLLECTORS_MACHINE_INTERFACES_H

#include "collectors/base/scan.h"
#include "collectors/host.h"

#define INTERFACE_PATH_MAX 512 /* bytes of a path below /sys, or of a link target */

/* Kinds of interfaces, the preferred kind first. A namespace reports the interfaces of one kind
 * only: the first kind that it has. INTERFACE_INNER is never reported. */
enum interface_kind {
	INTERFACE_CARD,    /* hardware, or virtual hardware of a hypervisor */
	INTERFACE_OUTWARD, /* leads out of a container */
	INTERFACE_TUNNEL,  /* ends in a program, as in a rootless container */
	INTERFACE_INNER,   /* its packets are also counted by another interface */
};

/* Guesses the kind from the name. Use it when sysfs does not show the interface. */
enum interface_kind interface_kind_by_name(const char *name);

/* Returns 1 if the interface is hardware, or virtual hardware of a hypervisor. Returns 0 if it is
 * neither. Returns -ENOENT if host->sys does not show the interface, which may be in another
 * network namespace. */
int interface_is_card(const struct host *host, const char *name);

/* Columns of /proc/net/dev after the name: eight for received and eight for sent traffic. Bytes
 * come first in both groups. */
#define INTERFACE_FIELDS         16
#define INTERFACE_RECEIVED_BYTES 0
#define INTERFACE_SENT_BYTES     8

/* Parses "  eth0: 1 2 ...". Returns false for the header lines. */
bool interface_parse(struct scan line, struct slice *name, uint64_t field[INTERFACE_FIELDS]);

#endif
