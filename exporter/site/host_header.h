/*
 * Checks that a Host header names this machine. With DNS rebinding a stranger's page makes its own
 * name resolve to a machine near the browser, and then may read answers of that machine. Its
 * requests still have the stranger's name in Host. Addresses and localhost are safe, because DNS
 * does not resolve them.
 */
#ifndef EXPORTER_SITE_HOST_HEADER_H
#define EXPORTER_SITE_HOST_HEADER_H

#include <stdbool.h>

#include "exporter/options/options.h"

#define HOST_NAME_MAX_BYTES 256 /* including the NUL; DNS allows 253 */

/* Accepted hosts, for error sentences. */
#define HOSTS_ACCEPTED                                                                             \
	"an address, localhost, this machine's own name, or a name given by --web.allowed-host"

/*
 * header: any text; NULL = false. names: "usage.example" accepts that name, ".example" all names
 * below it, "*" any name.
 */
bool host_header_is_ours(const struct text_list *names, const char *header);

#endif
