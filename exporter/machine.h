/*
 * Which cloud server this is: found by the vendors' metadata services, DMI, or said by options. Found once, in the
 * background; nobody waits for it.
 */
#ifndef EXPORTER_MACHINE_H
#define EXPORTER_MACHINE_H

#include <stdbool.h>

struct app;

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
};

/* What is known now, for any thread; false when nothing is, and *ret is all empty then. */
bool machine_now(struct app *app, struct machine *ret);

#endif
