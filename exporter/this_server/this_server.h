/* Identifies the cloud server that runs this program: by options, by DMI and by the vendors'
 * metadata services. Detection runs in the background. It ends with the first answer of a service,
 * or after 3 attempts (6 if DMI names the vendor). */
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

/* The known facts about the server; "" = unknown. Names are as in the catalogue: vendor "aws",
 * instance type "m7i.large" (api_reference). */
struct machine {
	char vendor_id[32], instance_type[64], region[64], zone[64];
	enum machine_allocation allocation;
	char source[32]; /* source of the data: "aws", "dmi", "option"; "" = unknown */
	char host[65];   /* node name: uname(2) */
};

/* Returns "ondemand" or "spot"; NULL = unknown. */
const char *this_server_allocation_name(enum machine_allocation a);

/* Reads options and DMI. Then starts a thread that queries the metadata services of vendors. The
 * thread leaves out the vendors that are impossible according to DMI. Each attempt takes at most 1
 * s. `o` must outlive the object. */
int this_server_start(struct this_server **ret, const struct options *o, struct err *e);
void this_server_stop(struct this_server *w); /* cancels a query; accepts NULL */

/* Identifies the server in the calling thread; blocks for at most 1 s. */
void this_server_find(const struct options *o, struct machine *ret);

/* Returns the current values for the record of a run. The texts are stored in `room`. */
struct run_server this_server_of_run(struct app *app, struct machine *room);
/* Copies the current values for collectors. Leaves `ret` unchanged while nothing is known. */
void this_server_host(struct app *app, struct host_cloud *ret);

/* Copies the current values. Returns false while only the host name is known. If app->machine is
 * NULL, there is no detection, and the values come from the options. Any thread. */
bool this_server_now(struct app *app, struct machine *ret);

#endif
