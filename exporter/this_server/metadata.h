/*
 * Asking metadata services, all at once: each vendor's questions one after the other, the first vendor that answered
 * all of them is the one. Blocks for as long as it is given, at most; one thread.
 */
#ifndef EXPORTER_THIS_SERVER_METADATA_H
#define EXPORTER_THIS_SERVER_METADATA_H

#include "exporter/this_server/vendors.h"

#define CLOUD_VENDORS_MAX 16

/*
 * port: of the services. stop: a descriptor that becomes readable when the answer is not wanted any more; -1 = none.
 * 0: ret is filled. -ENOENT: nobody answered as one of these vendors would; -ECANCELED: stop.
 */
int metadata_ask(const struct cloud_vendor *const *vendors, size_t n, unsigned short port,
	double seconds, int stop, struct machine *ret);

#endif
