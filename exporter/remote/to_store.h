/* Sends runs to a Prometheus-compatible store by remote write 1.0: Prometheus, Mimir, Thanos,
 * VictoriaMetrics. Each run is one sample of each of its series (exporter/remote/run_series.h), at its end.
 *
 * Two runs whose samples would have the same time are told apart (exporter/remote/sample_times.h). A
 * store that already has another run's sample at this time and says so gets the run at another time. */
#ifndef EXPORTER_REMOTE_TO_STORE_H
#define EXPORTER_REMOTE_TO_STORE_H

#include "exporter/forward/forwarder.h"

/* One thread of the program may use it. */
extern const struct forward_protocol to_store;

/* Returns the number of runs so far whose samples are not at their end, because another run of the job
 * had that time. Any thread. */
uint64_t to_store_shifted(void);

/* What the store's answer to a request with one run says. The text of a refusal is one sentence with the
 * setting to change. Any thread. */
struct store_answer {
	enum run_verdict verdict;
	bool other_time;  /* another sample has this time: send it with another one */
	const char *help; /* what to change in the store; "" = nothing is known */
};
struct store_answer store_answer_of(const struct http_response *a);

#endif
