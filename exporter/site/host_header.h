/*
 * Whether the name in a Host header is ours. A page of a stranger can have its own name resolve to the address of a
 * machine near the browser (DNS rebinding) and then read what is served there as if it were its own; the Host header
 * still holds the stranger's name. An address was never looked up, and localhost is not asked of any DNS server.
 */
#ifndef EXPORTER_SITE_HOST_HEADER_H
#define EXPORTER_SITE_HOST_HEADER_H

#include <stdbool.h>

#include "exporter/options/options.h"

#define HOST_NAME_MAX_BYTES 256 /* with the NUL; DNS allows 253 */

/* What is accepted, to go on after "Host must be". */
#define HOSTS_ACCEPTED                                                                             \
	"an address, localhost, this machine's own name, or a name given by --web.allowed-host"

/*
 * header may be NULL or anything: without one it is no. names: "usage.example" is that name, ".example" all names
 * below it, "*" any.
 */
bool host_header_is_ours(const struct texts *names, const char *header);

#endif
