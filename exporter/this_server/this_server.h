/*
 * Identifies the cloud server that runs this program: by options, DMI and the vendors' metadata
 * services. Detection runs once, in the background.
 */
#ifndef EXPORTER_THIS_SERVER_THIS_SERVER_H
#define EXPORTER_THIS_SERVER_THIS_SERVER_H

#include <stdbool.h>

#include "collectors/base/err.h"
#include "collectors/host.h"
#include "exporter/core/identity.h"

struct app;
struct this_server;
struct options;

enum machine_allocation {
	MACHINE_ALLOCATION_UNKNOWN,
	MACHINE_ONDEMAND,
	MACHINE_SPOT,
};

/*
 * "" = unknown. Names are the catalogue's: vendor "aws", instance type "m7i.large" (api_reference).
 */
struct machine {
	char vendor_id[32], instance_type[64], region[64], zone[64];
	enum machine_allocation allocation;
	char source[32]; /* where the data come from: "aws", "dmi", "option"; "" = unknown */
	char host[65];   /* node name: uname(2) */
};

/* "ondemand", "spot"; NULL = unknown. */
const char *this_server_allocation_name(enum machine_allocation a);

/*
 * Reads options and DMI, then starts a thread that queries the metadata services which DMI does not
 * rule out, for 1 s an attempt. o must outlive the object.
 */
int this_server_start(struct this_server **ret, const struct options *o, struct err *e);
void this_server_stop(struct this_server *w); /* cancels a query; accepts NULL */

/* Identifies the server in the calling thread; blocks for at most 1 s. */
void this_server_find(const struct options *o, struct machine *ret);

/* The current knowledge for the record of a run; the texts live in room. */
struct run_server this_server_of_run(struct app *app, struct machine *room);
/* The same for collectors; leaves ret unchanged while nothing is known. */
void this_server_host(struct app *app, struct host_cloud *ret);

/*
 * The current knowledge; false while only the host name is known. Without detection (app->machine
 * NULL) it comes from the options. Any thread.
 */
bool this_server_now(struct app *app, struct machine *ret);

#endif
