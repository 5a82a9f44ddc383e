/* Checks that a Host header names this machine, as a defence against DNS rebinding. In that attack,
 * a web page makes its own host name resolve to the address of this machine, so that a browser lets
 * the page read the answers of this machine. The Host header of such a request contains the
 * attacker's host name. IP addresses and localhost in Host are safe, because an attacker's DNS
 * server does not resolve them. */
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
