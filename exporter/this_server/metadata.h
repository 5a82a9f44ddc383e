/*
 * Queries the metadata services of several vendors at the same time, each with its questions in
 * turn. The first vendor with an answer to every question is the vendor of this server.
 */
#ifndef EXPORTER_THIS_SERVER_METADATA_H
#define EXPORTER_THIS_SERVER_METADATA_H

#include "exporter/this_server/vendors.h"

#define CLOUD_VENDORS_MAX 16

/*
 * Blocks for at most seconds. port: TCP port of the services. stop: a descriptor that becomes
 * readable to cancel the call; -1 = none. 0: ret is filled. -ENOENT: no vendor answered;
 * -ECANCELED: cancelled.
 */
int metadata_ask(const struct cloud_vendor *const *vendors, size_t n, unsigned short port,
	double seconds, int stop, struct machine *ret);

#endif
