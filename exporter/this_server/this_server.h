/* Identifies the cloud server on which this program runs: by options, by DMI (texts in
 * /sys/class/dmi/id) and by the vendors' metadata services. The services are queried in the
 * background until one has answered, but at most 3 times, or 6 times if DMI names the vendor. */
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

/* The known facts about the server; "" = unknown. Names are as in the catalogue of servers: vendor
 * "aws", instance type "m7i.large" (api_reference). */
struct machine {
	char vendor_id[32], instance_type[64], region[64], zone[64];
	enum machine_allocation allocation;
	/* source of these facts: a vendor such as "aws", "dmi" or "option"; "" = unknown */
	char source[32];
	char host[65]; /* node name: uname(2) */
};

/* Returns "ondemand" or "spot"; NULL = unknown. */
const char *this_server_allocation_name(enum machine_allocation a);

/* Starts the thread that queries the vendors' metadata services. Skips vendors that the options or
 * DMI (what the firmware says about the machine) rule out. Each attempt takes at most 1 s. `o` must
 * outlive `*ret`. */
int this_server_start(struct this_server **ret, const struct options *o, struct err *e);
/* cancels a running query and frees `w`; NULL does nothing */
void this_server_stop(struct this_server *w);

/* Identifies the server in the calling thread; blocks for at most 1 s. */
void this_server_find(const struct options *o, struct machine *ret);

/* Returns what is known now about the server, for the record of a run. The texts are stored in
 * `room`. */
struct run_server this_server_of_run(struct app *app, struct machine *room);
/* Copies what is known now about the server, for collectors. Leaves `ret` unchanged while nothing
 * is known. */
void this_server_host(struct app *app, struct host_cloud *ret);

/* Copies what is known now about the server. Returns false while only the host name is known. If
 * app->machine is NULL, only the options are used. Any thread. */
bool this_server_now(struct app *app, struct machine *ret);

#endif
