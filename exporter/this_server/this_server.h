/*
 * Which cloud server this is: found by the vendors' metadata services, DMI, or said by options. Found once, in the
 * background; nobody waits for it.
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

/* Empty texts are unknown. Names as in the catalogue: vendor "aws", instance type "m7i.large" (api_reference). */
struct machine {
	char vendor_id[32], instance_type[64], region[64], zone[64];
	enum machine_allocation allocation;
	char source[32]; /* who said so: "aws", "dmi", "option"; empty while nothing is known */
	char host[65];   /* its node name: uname(2) */
};

/* "ondemand", "spot"; NULL = unknown. */
const char *this_server_allocation_name(enum machine_allocation a);

/*
 * Begins to find out. What options and DMI say is known at once; metadata services are asked in the background, within
 * a second, and only those that DMI does not rule out. Options must outlive it.
 */
int this_server_start(struct this_server **ret, const struct options *o, struct err *e);
void this_server_stop(struct this_server
		*w); /* at once, whatever it waits for; NULL does nothing */

/* The same, waiting for the answer: for a second at most. */
void this_server_find(const struct options *o, struct machine *ret);

/* What is known now, as the history keeps it with a run; the texts are in room. */
struct run_server this_server_of_run(struct app *app, struct machine *room);
/* And as collectors see it; left as it is while nothing is known. */
void this_server_host(struct app *app, struct host_cloud *ret);

/*
 * What is known now, for any thread; false when nothing but its name is. Where nobody looks, as in the answers of the
 * command line, that is what the options say.
 */
bool this_server_now(struct app *app, struct machine *ret);

#endif
