#include "exporter/remote/to_store.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/remote/sample_times.h"
#include "exporter/remote/snappy.h"
#include "exporter/remote/write_request.h"

#define REQUEST_MAX (4u << 20) /* maximum size of a request before compression, bytes */

/* Only the thread that sends runs uses `times`. */
static struct sample_times times;
static atomic_ullong shifted_runs;

uint64_t to_store_shifted(void)
{
	return atomic_load(&shifted_runs);
}

/* The series of a run in a request. */
struct piece {
	int64_t at_ms;
	size_t from, to;
};

static int by_time(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/* Writes a request with the first runs, and returns their number. The request has them in the order
 * of their times: some stores accept only samples that are newer than all earlier ones, and drop
 * others without an error. */
static size_t write_runs(struct buf *body, const struct run *const *run, size_t n)
{
	struct buf request AUTO(buf_done) = BUF_MAX(REQUEST_MAX);
	struct buf sorted AUTO(buf_done) = BUF_MAX(REQUEST_MAX);
	struct piece piece[FORWARD_RUNS_MAX] = {0};
	size_t i = 0;

	for (; i < n && (i == 0 || request.len + WRITE_REQUEST_RUN_MAX < REQUEST_MAX); i++) {
		bool shifted = false;
		int64_t at = sample_times_of(&times, run[i], &shifted);

		atomic_fetch_add(&shifted_runs, shifted);
		piece[i] = (struct piece){.at_ms = at, .from = request.len};
		write_request_add(&request, run[i], at);
		piece[i].to = request.len;
	}
	qsort(piece, i, sizeof *piece, by_time);
	for (size_t k = 0; k < i; k++)
		buf_add(&sorted, request.data + piece[k].from, piece[k].to - piece[k].from);
	snappy_write(body, sorted.data, sorted.len);
	return i;
}

#define WINDOW                                                                                      \
	"the store takes no runs that end earlier than those it has: set its out-of-order window, " \
	"storage.tsdb.out_of_order_time_window of Prometheus, limits.out_of_order_time_window of "  \
	"Mimir or tsdb.out-of-order.time-window of Thanos, to the age of the oldest run that may "  \
	"arrive"
#define RETENTION "the run is older than what the store keeps: its retention decides"

/* If a store refuses a request with one of these words, the same request can never succeed. The
 * words are those of Prometheus, Mimir, Thanos and VictoriaMetrics, and the status is 400 (409 from
 * Thanos). With other words, the run is sent again: a proxy may have answered, or the store may be
 * repaired later. */
static const struct {
	const char *words;
	bool other_time;
	const char *help;
} refusals[] = {
	{"duplicate sample for timestamp", true, ""},
	{"duplicate-timestamp", true, ""},
	/* Prometheus begins these words with those of the next row. */
	{"too far in the future", false, "the clock of the run's machine was ahead"},
	{"too-far-in-future", false, "the clock of the run's machine was ahead"},
	{"out of bounds", false, WINDOW},
	{"out of order", false, WINDOW},
	{"out-of-order", false, WINDOW},
	{"too old", false, WINDOW},
	{"too-old", false, WINDOW},
	{"outside retention", false, RETENTION},
	{"label value too long", false, "the store limits the length of labels"},
	{"label-value-too-long", false, "the store limits the length of labels"},
};

struct store_answer store_answer_of(const struct http_response *a)
{
	if (a->status >= 200 && a->status < 300)
		return (struct store_answer){VERDICT_TAKEN, false, ""};
	for (size_t i = 0; i < ARRAY_LEN(refusals) && (a->status == 400 || a->status == 409); i++)
		if (strstr(buf_text(&a->body), refusals[i].words))
			return (struct store_answer){
				refusals[i].other_time ? VERDICT_OPEN : VERDICT_REFUSED,
				refusals[i].other_time, refusals[i].help};
	return (struct store_answer){VERDICT_OPEN, false, ""};
}

/* Reads the answer of the store. A store may store some runs of a request and still refuse the
 * request as a whole. A refusal of several runs therefore decides about none of them, and they are
 * sent again one at a time. */
static const char *read_answer(const struct http_response *a, const struct run *const *run,
	size_t n, enum run_verdict *ret, struct arena *arena)
{
	struct store_answer answer = store_answer_of(a);

	for (size_t i = 0; i < n && (n == 1 || answer.verdict == VERDICT_TAKEN); i++)
		ret[i] = answer.verdict;
	if (n == 1 && answer.other_time)
		sample_times_lose(&times, run[0]);
	const char *text = forward_answer_text(a, arena);

	if (!answer.help[0])
		return text;
	struct buf b AUTO(buf_done) = BUF_MAX(2048);

	buf_addf(&b, "%s (%s)", answer.help, text);
	return arena_text(arena, buf_text(&b), b.len);
}

const struct forward_protocol to_store = {
	.to = RECEIVER_STORE,
	.thread = "remote write",
	.content_type = "application/x-protobuf",
	.header = (const char *const[]){"Content-Encoding: snappy",
		"X-Prometheus-Remote-Write-Version: 0.1.0", NULL},
	.runs_at_once = FORWARD_RUNS_MAX,
	.statuses_of_run = {400, 409},
	.write = write_runs,
	.read = read_answer,
};
