/* Sends runs to a Prometheus-compatible store by remote write 1.0: Prometheus, Mimir, Thanos,
 * VictoriaMetrics. Each number of a run is one sample of a series (exporter/remote/run_series.h),
 * at the time when the run ended.
 *
 * Two runs that share series get different times (exporter/remote/sample_times.h). If the store
 * reports that it already has another sample at this time, the run is sent again with another
 * time. */
#ifndef EXPORTER_REMOTE_TO_STORE_H
#define EXPORTER_REMOTE_TO_STORE_H

#include "exporter/forward/forwarder.h"

/* Only one thread of the program may use this protocol. */
extern const struct forward_protocol to_store;

/* Returns how many runs were sent with another time, because another run of the job already had the
 * time of their first choice (exporter/remote/sample_times.h). Any thread. */
uint64_t to_store_shifted(void);

/* The meaning of the store's answer to a request with one run. Any thread. */
struct store_answer {
	enum run_verdict verdict;
	/* true = the store already has another sample at this time, so the run must be sent with
	 * another time */
	bool other_time;
	const char *help; /* advice, such as which setting of the store to change; "" = none */
};
struct store_answer store_answer_of(const struct http_response *a);

#endif
