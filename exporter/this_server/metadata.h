/* Queries the metadata services of several cloud vendors at the same time, to find out whose server
 * this is. Each service gets the questions of its vendor, one after the other. The first vendor
 * whose service has answered all its required questions is the vendor of this server. */
#ifndef EXPORTER_THIS_SERVER_METADATA_H
#define EXPORTER_THIS_SERVER_METADATA_H

#include "exporter/this_server/vendors.h"

#define CLOUD_VENDORS_MAX 16

/* Queries the services, for at most `seconds`. `port` is the TCP port of the services. The call is
 * cancelled when the descriptor `stop` becomes readable; -1 = no descriptor. Returns 0 after `ret`
 * was filled, -ENOENT when no vendor answered, and -ECANCELED when the call was cancelled. */
int metadata_ask(const struct cloud_vendor *const *vendors, size_t n, unsigned short port,
	double seconds, int stop, struct machine *ret);

#endif
