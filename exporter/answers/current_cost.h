/* The cost of a job on its current server: the price of the server, the cost of each ended run, and
 * the cost of the unneeded part of the request. */
#ifndef EXPORTER_ANSWERS_CURRENT_COST_H
#define EXPORTER_ANSWERS_CURRENT_COST_H

#include "exporter/this_server/this_server.h"
#include "recommender/servers/pick.h"
#include "recommender/run.h"

struct run_cost {
	const struct run *run;
	double price, amount; /* price of an hour; cost of the run; NaN = unknown */
};

/* The server of an ended run, and its usage. Unknown texts are NULL, unknown numbers NaN. */
struct past_run {
	const char *host;
	struct run_server server;
	double seconds, sent_bytes, disk_bytes;
};

struct current_cost {
	struct machine machine;      /* server of the job; if unknown, only its `host` is set */
	bool here;                   /* `machine` is this machine */
	const struct server *server; /* its entry in the catalogue; NULL = none */
	/* true: `current` has the price of this server. false: no price is known, `current` has
	 * only the server, and `why` is the reason. */
	bool priced;
	/* true: `current` has the lowest price of all regions, because the server's region is
	 * unknown or has no price. */
	bool elsewhere;
	struct pick current;
	enum exclusion why;
	size_t n_runs;
	struct run_cost *run; /* ended runs, newest first, in arena */
	/* Resources that the job gets: its request, or the whole server. needless_*, below, are the
	 * part that it does not need. NaN = unknown. */
	double given_cores, given_memory_bytes;
	bool given_all; /* true = no known request: the job gets the whole server */
	/* `needless_share` is a share of the server, 0 to 1. `needless_cost` is the cost for one
	 * run. */
	double needless_cores, needless_memory_bytes, needless_share, needless_cost;
};

struct current_cost_question {
	const struct catalogue *catalogue;
	const struct machine *here;    /* this machine */
	const struct machine *machine; /* the machine on which the job runs */
	const struct demand *demand;
	const struct pick_options *options; /* the options of the recommended servers */
	const struct runs *runs;            /* NULL = no job */
};

void current_cost_of(const struct current_cost_question *q, struct arena *arena,
	struct current_cost *ret);

/* Returns the server on which the job runs: the server of the newest run whose server is known. If
 * a run has no recorded server, but its host is this machine, its server is `here`. If no server is
 * known, only the host of the newest run is returned. Without runs, returns `here`. */
struct machine current_cost_machine(const struct runs *runs, const struct machine *here);

/* Returns what an ended run has cost on its server; NaN = unknown. Uses only the members catalogue,
 * here and options of `q`. `at` caches the price of a server between calls, because most runs have
 * the same server. The caller zeroes `at` before the first call. */
double current_cost_of_run(const struct current_cost_question *q, const struct past_run *r,
	struct arena *arena, struct current_cost *at);

/* Returns the catalogue's entry for the server of `m`. Returns NULL when the server is unknown or
 * not in the catalogue. */
const struct server *current_cost_find_server(const struct catalogue *c, const struct machine *m);

/* Returns true when vendor, type, region and allocation of two servers are equal. Such servers have
 * equal prices. */
bool current_cost_same_terms(const struct machine *a, const struct machine *b);

#endif
