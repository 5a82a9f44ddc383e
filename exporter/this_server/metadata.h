/* Queries the metadata services of several vendors at the same time. Each service gets all
 * questions of its vendor, one after the other. The first vendor that answers all questions except
 * the optional ones is the vendor of this server. */
#ifndef EXPORTER_THIS_SERVER_METADATA_H
#define EXPORTER_THIS_SERVER_METADATA_H

#include "exporter/this_server/vendors.h"

#define CLOUD_VENDORS_MAX 16

/* Blocks for at most `seconds`. `port` is the TCP port of the services. `stop` is a descriptor that
 * becomes readable to cancel the call; -1 = no descriptor. Returns 0 and fills `ret`, -ENOENT when
 * no vendor answered, or -ECANCELED. */
int metadata_ask(const struct cloud_vendor *const *vendors, size_t n, unsigned short port,
	double seconds, int stop, struct machine *ret);

#endif
