/*
 * What a job costs where it runs today: the price of the current server, of each past run, and of the part of the
 * request that is not needed.
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

/* Where a run was, and what it took there. Unknown texts are NULL, unknown numbers NaN. */
struct past_run {
	const char *host;
	struct run_server server;
	double seconds, sent_bytes, disk_bytes;
};

struct current_cost {
	struct machine machine;      /* all but its host empty = not known */
	bool here;                   /* it is this machine */
	const struct server *server; /* in the catalogue; NULL = it is not there, or not known */
	bool priced; /* else current has only its server, and why says what is missing */
	bool elsewhere; /* its own region is not known, or has no price in the catalogue: all regions were looked at */
	struct pick current;
	enum exclusion why;
	size_t n_runs;
	struct run_cost *run; /* those that ended, newest first, in arena */
	/* What the job was given, and of it what it does not need. NaN = unknown. */
	double given_cores, given_memory_bytes;
	bool given_all; /* no request is known: it has the whole server */
	double needless_cores, needless_memory_bytes, needless_share, needless_cost; /* of a run */
};

struct current_cost_question {
	const struct catalogue *catalogue;
	const struct machine *here;    /* this one */
	const struct machine *machine; /* of the job */
	const struct demand *demand;
	const struct pick_options *options; /* of the picks, with the currency of their answer */
	const struct runs *runs;            /* NULL = no job is asked about */
};

void current_cost_of(const struct current_cost_question *q, struct arena *arena,
	struct current_cost *ret);

/*
 * The server where a job runs: that of its newest run of which it is known (it may have been on another machine than
 * this one). A run that does not say it was on the server that this is, if it ran on this machine; else it is unknown.
 */
struct machine current_cost_machine(const struct runs *runs, const struct machine *here);

/*
 * The price of a run where it was; NaN = unknown. Of q, catalogue, here and options count. at: the server of the run
 * before, which is mostly the same; all zero at first.
 */
double current_cost_of_run(const struct current_cost_question *q, const struct past_run *r,
	struct arena *arena, struct current_cost *at);

/* The server in the catalogue; NULL = not known, or not there. */
const struct server *current_cost_find_server(const struct catalogue *c, const struct machine *m);

/* The same server on the same terms: what it costs is the same, too. */
bool current_cost_same_terms(const struct machine *a, const struct machine *b);

#endif
