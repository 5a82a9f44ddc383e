/* Reads runs from a Prometheus-compatible store by its HTTP API (/api/v1/query): Prometheus, Mimir,
 * Thanos, VictoriaMetrics. The series are those of exporter/remote/run_series.h. Further labels,
 * such as those of a replica, are ignored. */
#ifndef EXPORTER_REMOTE_STORE_QUERY_H
#define EXPORTER_REMOTE_STORE_QUERY_H

#include "exporter/client/endpoint.h"
#include "recommender/run.h"

/* A span of time: from < time <= to, in seconds since 1970 UTC. */
struct store_window {
	double from, to;
};

struct store {
	const char *url; /* URL of /api/v1/query */
	struct endpoint endpoint;
	struct http_response answer;
};

/* A job in the store. */
struct store_job {
	const char *key; /* see collectors/base/job_key.h */
	double runs;     /* number of runs that ended in the window */
};

/* Lists the jobs with runs that ended in the window, sorted by cluster, namespace and name. */
int store_jobs(struct store *s, const struct store_window *w, struct arena *arena,
	struct store_job **ret, size_t *ret_n, struct err *e);

/* Counts the runs of a job that ended in the window. */
int store_count(struct store *s, const char *key, const struct store_window *w, double *ret,
	struct err *e);

struct store_runs {
	struct runs runs; /* sorted by job, container, outcome and end */
	/* Numbers of runs that were left out. `incomplete`: not all numbers and texts of the run have arrived
	 * in the store yet. `collided`: two runs of the same series have the same time, so that
	 * their numbers cannot be told apart (RUN_SERIES_CHECK). `refused`: a number is impossible. */
	size_t incomplete, collided, refused;
};
/* Reads the runs of the `n` jobs `job` that ended in the window. All these jobs must have the same
 * namespace and the same cluster. */
int store_runs(struct store *s, const struct store_job *job, size_t n, const struct store_window *w,
	struct arena *arena, struct store_runs *ret, struct err *e);

/* ---- parts; any thread ---- */

/* Appends a PromQL selector for the series of these jobs: {__name__=~"...",job_name=~"a|b",...}.
 * `name`: only the series with this name; NULL = all series. */
void store_selector(struct buf *out, const char *name, const struct store_job *job, size_t n);

/* Reads the answer to a query for runs. Returns -EBADMSG when `text` is no such answer. */
int store_runs_read(const char *text, size_t len, struct arena *arena, struct store_runs *ret,
	struct err *e);

#endif
