/* Checks that a Host header names this machine, as a defence against DNS rebinding. In that attack,
 * a web page makes its own host name resolve to a machine near the browser. The page can then read
 * that machine's answers. Its requests still have the attacker's host name in Host. Addresses and
 * localhost are safe, because DNS does not resolve them. */
#ifndef EXPORTER_SITE_HOST_HEADER_H
#define EXPORTER_SITE_HOST_HEADER_H

#include <stdbool.h>

#include "exporter/options/options.h"

#define HOST_NAME_MAX_BYTES 256 /* including the NUL; DNS allows 253 */

/* The accepted hosts, for error messages. */
#define HOSTS_ACCEPTED                                                                             \
	"an address, localhost, this machine's own name, or a name given by --web.allowed-host"

/* Returns true when `header` names this machine. Returns false for NULL. `names` lists further
 * accepted names: "usage.example" accepts that name, ".example" accepts all names below it, and "*"
 * accepts any name. */
bool host_header_is_ours(const struct text_list *names, const char *header);

#endif
