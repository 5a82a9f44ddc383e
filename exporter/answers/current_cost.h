/*
 * The cost of a job on its current server: the price of the server, the cost of each ended run, and
 * the cost of the unneeded part of the request.
 */
#ifndef EXPORTER_ANSWERS_CURRENT_COST_H
#define EXPORTER_ANSWERS_CURRENT_COST_H

#include "exporter/this_server/this_server.h"
#include "recommender/servers/pick.h"
#include "recommender/run.h"

struct run_cost {
	const struct run *run;
	double price, amount; /* per hour, of the run; NaN = unknown */
};

/* The server of an ended run, and its usage. Unknown texts are NULL, unknown numbers NaN. */
struct past_run {
	const char *host;
	struct run_server server;
	double seconds, sent_bytes, disk_bytes;
};

struct current_cost {
	struct machine machine;      /* unknown: all but its host is empty */
	bool here;                   /* machine is this machine */
	const struct server *server; /* in the catalogue; NULL = not there, or unknown */
	bool priced;                 /* else current has only its server, and why has the reason */
	bool elsewhere; /* priced in all regions, because its own is unknown or has no price */
	struct pick current;
	enum exclusion why;
	size_t n_runs;
	struct run_cost *run; /* ended runs, newest first, in arena */
	/* Resources that the job gets, and their unneeded part. NaN = unknown. */
	double given_cores, given_memory_bytes;
	bool given_all; /* no request is known, so the job gets the whole server */
	double needless_cores, needless_memory_bytes, needless_share, needless_cost; /* a run */
};

struct current_cost_question {
	const struct catalogue *catalogue;
	const struct machine *here;    /* this machine */
	const struct machine *machine; /* the job's */
	const struct demand *demand;
	const struct pick_options *options; /* options of the picks, with the currency */
	const struct runs *runs;            /* NULL = there is no job */
};

void current_cost_of(const struct current_cost_question *q, struct arena *arena,
	struct current_cost *ret);

/*
 * Returns the server where a job runs: the server of its newest run whose server is known. It may
 * differ from this machine. A run without a recorded server counts as here if its host is here.
 */
struct machine current_cost_machine(const struct runs *runs, const struct machine *here);

/*
 * Returns the cost of an ended run on its server; NaN = unknown. Reads only catalogue, here and
 * options of q. at caches the server of the previous run, which is mostly the same; zeroed before
 * the first call.
 */
double current_cost_of_run(const struct current_cost_question *q, const struct past_run *r,
	struct arena *arena, struct current_cost *at);

/* NULL: the server is unknown or not in the catalogue. */
const struct server *current_cost_find_server(const struct catalogue *c, const struct machine *m);

/* True when vendor, type, region and allocation are equal, and so the price. */
bool current_cost_same_terms(const struct machine *a, const struct machine *b);

#endif
