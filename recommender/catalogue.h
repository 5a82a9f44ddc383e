/*
 * Servers that can be rented: specs, prices, benchmark scores, in packed arrays. Immutable once made;
 * shared by all threads. Field names and units are the Spare Cores Keeper's
 * (https://keeper.sparecores.net/openapi.json) unless a unit is in the name.
 */
#ifndef RECOMMENDER_CATALOGUE_H
#define RECOMMENDER_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectors/base/err.h"

enum architecture { ARCHITECTURE_UNKNOWN, ARCHITECTURE_X86_64, ARCHITECTURE_ARM64 };
enum cpu_allocation { CPU_ALLOCATION_UNKNOWN, CPU_SHARED, CPU_BURSTABLE, CPU_DEDICATED };

/* Unknown numbers are NaN, unknown texts "". Texts live in the catalogue. */
struct server {
	const char *vendor_id, *server_id, *api_reference, *display_name, *family;
	enum architecture cpu_architecture;
	enum cpu_allocation cpu_allocation;
	double vcpus;
	double memory_amount; /* MiB */
	double gpu_count;     /* may be a fraction */
	const char *gpu_manufacturer, *gpu_model;
	double gpu_memory_min, gpu_memory_total; /* MiB */
	double storage_size;                     /* GB, local */
	double score, score1;                    /* SCore multi-core, single-core */
	double min_price_ondemand, min_price_spot; /* USD per hour, over the regions it was collected from */
	const char *region; /* where that on-demand price holds; "" = any */
	bool active;
};

struct catalogue {
	const char *source; /* "built-in", a path, or a URL */
	const char *as_of;  /* date of the data, "YYYY-MM-DD", "" = unknown */
	size_t n;
	const struct server *server;
	void *memory; /* owner of all texts */
};

#define CATALOGUE_SERVERS_MAX 1000000
#define CATALOGUE_TEXT_MAX (256u << 20) /* bytes of a file */

/*
 * Reads a catalogue from CSV text. The columns are named in the header line and may come in any order;
 * unknown columns are ignored, vendor_id, server_id, vcpus and memory_amount are required. Lines that start
 * with "#" are comments; "# as_of: DATE" and "# source: NOTE" are read. An error names the line and column.
 */
int catalogue_from_csv(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e);

/* As CSV, but a JSON array of objects with Keeper's field names (an answer of its /servers). */
int catalogue_from_json(struct catalogue **ret, const char *text, size_t len, const char *source,
	struct err *e);

/* recommender/servers.csv, compiled in. */
int catalogue_built_in(struct catalogue **ret, struct err *e);

void catalogue_free(struct catalogue *c);

#endif
