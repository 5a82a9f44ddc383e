/* Metrics about the exporter itself. The process_* metrics have the same names as in all Prometheus
 * client libraries. */
#include "exporter/sampling/self_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/kernel_file.h"
#include "exporter/forward/forwarder.h"
#include "exporter/remote/history_reader.h"
#include "exporter/remote/to_store.h"
#include "exporter/history/historian.h"
#include "exporter/core/counters.h"
#include "exporter/core/version.h"

/* clang-format off */
#define SELF_METRICS(X) \
X(BUILD, .name = "rightsize_build", \
  .help = "Version of this exporter and how it was built", \
  .labels = {"version", "revision", "branch", "compiler", "os", "arch"}, .type = METRIC_INFO) \
X(LINKS, .name = "rightsize_links", \
  .help = "URLs of --web.external-url and --web.grafana-url, without a slash at the end; absent without both", \
  .labels = {"page", "grafana"}, .type = METRIC_INFO) \
X(HTTP_REQUESTS, .name = "rightsize_http_requests", \
  .help = "HTTP requests answered, by path and status code", \
  .labels = {"handler", "code"}, .type = METRIC_COUNTER) \
X(FOUND_PROBLEM, .name = "rightsize_job_search_problems", \
  .help = "Problems of the search for runs of jobs: too_many_jobs, not_followed, environment_unreadable, pattern_gave_up", \
  .labels = {"problem"}, .type = METRIC_COUNTER) \
X(UNANSWERED, .name = "rightsize_processes_unanswered", \
  .help = "Processes that are not read, or not wholly, because a file system does not answer: they hang in it while they " \
	  "execute a program or map a file, or their program or root is on it", \
  .type = METRIC_GAUGE) \
X(FORWARD_RUNS, .name = "rightsize_forward_runs", \
  .help = "Runs handed on to another exporter, or refused by it, since the start; absent without --forward.url", \
  .labels = {"result"}, .type = METRIC_COUNTER) \
X(FORWARD_FAILURES, .name = "rightsize_forward_failures", \
  .help = "Attempts to hand runs on that failed and are repeated", .type = METRIC_COUNTER) \
X(FORWARD_WAITING, .name = "rightsize_forward_waiting_runs", \
  .help = "Runs that wait in the history to be handed on", .type = METRIC_GAUGE) \
X(FORWARD_STUCK, .name = "rightsize_forward_stuck_runs", \
  .help = "Part of the waiting runs that failed again and again, or were answered with 500: the others go first", .type = METRIC_GAUGE) \
X(WRITE_RUNS, .name = "rightsize_remote_write_runs", \
  .help = "Runs written to the store of --remote-write.url, or refused by it, since the start", \
  .labels = {"result"}, .type = METRIC_COUNTER) \
X(WRITE_FAILURES, .name = "rightsize_remote_write_failures", \
  .help = "Attempts to write runs that failed and are repeated", .type = METRIC_COUNTER) \
X(WRITE_WAITING, .name = "rightsize_remote_write_waiting_runs", \
  .help = "Runs that wait in the history to be written to the store", .type = METRIC_GAUGE) \
X(WRITE_STUCK, .name = "rightsize_remote_write_stuck_runs", \
  .help = "Part of the waiting runs that failed again and again: the others go first", .type = METRIC_GAUGE) \
X(WRITE_SHIFTED, .name = "rightsize_remote_write_shifted_runs", \
  .help = "Runs written up to a second beside their end, which another run of the job has, too", \
  .type = METRIC_COUNTER) \
X(READ_RUNS, .name = "rightsize_history_read_runs", \
  .help = "Runs read from the store of --history.url: added; and, counted at each reading, incomplete (read again later), collided (two have one time) or refused (a number is impossible)", \
  .labels = {"result"}, .type = METRIC_COUNTER) \
X(READ_FAILURES, .name = "rightsize_history_read_failures", \
  .help = "Attempts to read that failed and are repeated", .type = METRIC_COUNTER) \
X(FORWARD_LOST, .name = "rightsize_forward_lost_runs", \
  .help = "Runs that waited to be handed on or written and were removed, because the history was at --history.max-size", \
  .type = METRIC_COUNTER) \
X(SNAPSHOT_TIMESTAMP, .name = "rightsize_snapshot_timestamp_seconds", .unit = "seconds", \
  .help = "When the values of this answer were read, but those of jobs, since the Unix epoch", .type = METRIC_GAUGE) \
X(SAMPLES_MISSED, .name = "rightsize_history_samples_missed", \
  .help = "Samples that were due but not taken, because readings take longer than --sample.interval, or more than half a CPU, or more of a wrapper's limit of CPU time than lasts", \
  .type = METRIC_COUNTER) \
X(SAMPLES_WRITTEN, .name = "rightsize_history_samples_written", \
  .help = "Samples of runs that this exporter wrote to the history", .type = METRIC_COUNTER) \
X(SAMPLES_DROPPED, .name = "rightsize_history_samples_dropped", \
  .help = "Samples of runs that were lost: the history refused them, or could not be written for too long; the next " \
	  "then tells what they grew by", \
  .type = METRIC_COUNTER) \
X(SAMPLES_WAITING, .name = "rightsize_history_samples_waiting", \
  .help = "Samples of runs that wait to be written to the history", .type = METRIC_GAUGE) \
X(NOT_PLAUSIBLE, .name = "rightsize_history_runs_not_plausible", \
  .help = "Runs that this exporter keeps without their numbers, because one is impossible, such as more CPU time than the " \
	  "machine's CPUs had; not_measured of the run names it", \
  .type = METRIC_COUNTER) \
X(HISTORY_ERRORS, .name = "rightsize_history_errors", \
  .help = "Attempts to write the history that failed; each is tried again, and the log says why", \
  .type = METRIC_COUNTER) \
X(JOBS_FORGOTTEN, .name = "rightsize_history_jobs_forgotten", \
  .help = "Jobs that the history forgot, because it was at --history.max-size with the newest run of each", \
  .type = METRIC_COUNTER) \
X(HISTORY_BYTES, .name = "rightsize_history_size_bytes", .unit = "bytes", \
  .help = "Size of the history's files", .type = METRIC_GAUGE) \
X(COMMIT_SECONDS, .name = "rightsize_history_commit_seconds", .unit = "seconds", \
  .help = "Time that the latest commit to the history took", .type = METRIC_GAUGE) \
X(CPU, .name = "process_cpu_seconds", .unit = "seconds", \
  .help = "CPU time of the exporter itself, user and system", .type = METRIC_COUNTER) \
X(RESIDENT, .name = "process_resident_memory_bytes", .unit = "bytes", \
  .help = "Resident memory of the exporter itself", .type = METRIC_GAUGE) \
X(VIRTUAL, .name = "process_virtual_memory_bytes", .unit = "bytes", \
  .help = "Virtual memory of the exporter itself", .type = METRIC_GAUGE) \
X(VIRTUAL_MAX, .name = "process_virtual_memory_max_bytes", .unit = "bytes", \
  .help = "Limit of the exporter's virtual memory (RLIMIT_AS)", .type = METRIC_GAUGE) \
X(OPEN_FDS, .name = "process_open_fds", \
  .help = "Open file descriptors of the exporter itself", .type = METRIC_GAUGE) \
X(MAX_FDS, .name = "process_max_fds", \
  .help = "Limit of the exporter's open file descriptors (RLIMIT_NOFILE)", .type = METRIC_GAUGE) \
X(THREADS, .name = "process_threads", \
  .help = "Threads of the exporter itself", .type = METRIC_GAUGE) \
X(START_TIME, .name = "process_start_time_seconds", .unit = "seconds", \
  .help = "When the exporter started, since the Unix epoch", .type = METRIC_GAUGE)
/* clang-format on */

enum { SELF_METRICS(METRIC_ID) };
static const struct metric self_metrics[] = {SELF_METRICS(METRIC_ROW)};

struct self_metrics {
	struct kernel_file statm, stat;
	double start_time; /* start of this program; NaN = unknown */
	struct self_sources sources;
};

/* Returns a field of the text of /proc/PID/stat. `field` is its number in proc(5), at least 4.
 * Fields are counted from the last ")" on, because the process name (field 2) may contain any
 * byte. */
static double stat_field(const char *stat, size_t len, unsigned field)
{
	const char *close = memrchr(stat, ')', len);
	struct slice word;
	uint64_t v;

	if (!close)
		return NAN;
	struct scan s = SCAN(close + 1, (size_t)(stat + len - close - 1));

	for (unsigned i = 3; i < field; i++)
		if (!scan_word(&s, &word))
			return NAN;
	return scan_u64(&s, &v) ? (double)v : NAN;
}

static double boot_time(const char *stat, size_t len)
{
	struct scan s = SCAN(stat, len), line;
	uint64_t v;

	while (scan_line(&s, &line))
		if (scan_literal(&line, "btime ") && scan_u64(&line, &v))
			return (double)v;
	return NAN;
}

/* Reads the start time of this program, only once because it never changes. It is the boot time in
 * /proc/stat plus the ticks after boot in /proc/self/stat. */
static int self_start(void **ret, struct host *host, struct err *e)
{
	struct self_metrics *self = xcalloc(1, sizeof *self);

	(void)e;
	self->start_time = NAN;
	ssize_t n = tree_read(host->proc, "self/stat", host->scratch, host->scratch_size);
	double ticks = n > 0 ? stat_field(host->scratch, (size_t)n, 22) : NAN;

	n = tree_read(host->proc, "stat", host->scratch, host->scratch_size);
	if (n > 0 && host->ticks_per_second > 0)
		self->start_time = boot_time(host->scratch, (size_t)n) +
				   ticks / (double)host->ticks_per_second;
	kernel_file_open(&self->statm, host->proc, "self/statm");
	kernel_file_open(&self->stat, host->proc, "self/stat");
	*ret = self;
	return 0;
}

static void self_stop(void *state)
{
	struct self_metrics *self = state;

	kernel_file_close(&self->statm);
	kernel_file_close(&self->stat);
	free(self);
}

void self_metrics_watch(void *state, const struct self_sources *sources)
{
	struct self_metrics *self = state;

	self->sources = *sources;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void add_limits(struct block *out)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_AS, &l) == 0)
		POINT(out, VIRTUAL_MAX,
			l.rlim_cur == RLIM_INFINITY ? INFINITY : (double)l.rlim_cur);
	if (getrlimit(RLIMIT_NOFILE, &l) == 0)
		POINT(out, MAX_FDS, l.rlim_cur == RLIM_INFINITY ? INFINITY : (double)l.rlim_cur);
}

static int count_name(void *context, const char *name)
{
	(void)name;
	++*(size_t *)context;
	return 0;
}

/* Returns the number of open descriptors. Since Linux 6.2 it is the size of the directory
 * /proc/self/fd. On older kernels the entries of the directory are counted. */
static double open_fds(struct tree *proc)
{
	int64_t size = tree_size(proc, "self/fd");
	size_t n = 0;

	if (size > 0)
		return (double)size;
	return tree_list(proc, "self/fd", count_name, &n) == 0 ? (double)n : NAN;
}

static void add_memory(struct self_metrics *self, const struct host *host, struct block *out)
{
	struct scan s;
	uint64_t pages, resident;

	if (kernel_file_read(&self->statm, host, &s, NULL) < 0 || !scan_u64(&s, &pages) ||
		!scan_u64(&s, &resident))
		return;
	POINT(out, RESIDENT, (double)resident * (double)host->page_size);
	POINT(out, VIRTUAL, (double)pages * (double)host->page_size);
}

static void add_requests(void *context, const char *handler, const char *code, uint64_t n)
{
	struct block *out = context;

	POINT(out, HTTP_REQUESTS, (double)n, handler, code);
}

static void add_history(const struct self_sources *s, struct block *out)
{
	if (s->samples_missed)
		POINT(out, SAMPLES_MISSED, (double)*s->samples_missed);
	if (!s->historian)
		return;
	struct historian_health h = historian_health(s->historian);

	POINT(out, SAMPLES_WRITTEN, (double)h.samples_written);
	POINT(out, SAMPLES_DROPPED, (double)h.samples_dropped);
	POINT(out, SAMPLES_WAITING, (double)h.samples_waiting);
	POINT(out, NOT_PLAUSIBLE, (double)counters_not_plausible());
	POINT(out, HISTORY_ERRORS, (double)h.errors);
	POINT(out, JOBS_FORGOTTEN, (double)h.losses.jobs);
	if (forward_counts(RECEIVER_CENTRAL).active || forward_counts(RECEIVER_STORE).active)
		POINT(out, FORWARD_LOST, (double)h.losses.runs);
	POINT(out, HISTORY_BYTES, (double)h.bytes_on_disk);
	POINT(out, COMMIT_SECONDS, h.last_commit_seconds);
}

static void add_writing(struct block *out)
{
	struct forward_counts c = forward_counts(RECEIVER_STORE);

	if (!c.active)
		return;
	POINT(out, WRITE_RUNS, (double)c.delivered, "delivered");
	POINT(out, WRITE_RUNS, (double)c.refused, "refused");
	POINT(out, WRITE_FAILURES, (double)c.failures);
	POINT(out, WRITE_WAITING, (double)c.waiting);
	POINT(out, WRITE_STUCK, (double)c.stuck);
	POINT(out, WRITE_SHIFTED, (double)to_store_shifted());
}

static void add_reading(struct block *out)
{
	struct reader_counts c = reader_counts();

	if (!c.active)
		return;
	POINT(out, READ_RUNS, (double)c.runs, "added");
	POINT(out, READ_RUNS, (double)c.incomplete, "incomplete");
	POINT(out, READ_RUNS, (double)c.collided, "collided");
	POINT(out, READ_RUNS, (double)c.refused, "refused");
	POINT(out, READ_FAILURES, (double)c.failures);
}

static void add_forward(struct block *out)
{
	struct forward_counts c = forward_counts(RECEIVER_CENTRAL);

	if (!c.active)
		return;
	POINT(out, FORWARD_RUNS, (double)c.delivered, "delivered");
	POINT(out, FORWARD_RUNS, (double)c.refused, "refused");
	POINT(out, FORWARD_FAILURES, (double)c.failures);
	POINT(out, FORWARD_WAITING, (double)c.waiting);
	POINT(out, FORWARD_STUCK, (double)c.stuck);
}

/* Returns the URL without slashes at its end, because links append a path. `out` owns the text. */
static const char *url_label(struct block *out, const char *url)
{
	size_t n = url ? strlen(url) : 0;

	while (n && url[n - 1] == '/')
		n--;
	return n ? arena_text(out->arena, url, n) : "";
}

static int self_collect(void *state, const struct host *host, struct block *out, struct err *e)
{
	struct self_metrics *self = state;
	struct rusage used;

	(void)e;
	POINT(out, BUILD, 1, version.version, version.revision, version.branch, version.compiler,
		version.os, version.arch);
	if (self->sources.external_url || self->sources.grafana_url)
		POINT(out, LINKS, 1, url_label(out, self->sources.external_url),
			url_label(out, self->sources.grafana_url));
	counters_http_each(add_requests, out);
	for (unsigned i = 0; i < FOUND_PROBLEMS; i++)
		POINT(out, FOUND_PROBLEM, (double)counters_found((enum found_problem)i),
			counters_found_name((enum found_problem)i));
	add_forward(out);
	add_writing(out);
	add_reading(out);
	POINT(out, SNAPSHOT_TIMESTAMP, wall_seconds(host->now.wall));
	if (getrusage(RUSAGE_SELF, &used) == 0)
		POINT(out, CPU, seconds(used.ru_utime) + seconds(used.ru_stime));
	add_history(&self->sources, out);
	add_memory(self, host, out);
	add_limits(out);
	POINT(out, UNANSWERED, (double)tree_waits(host->proc).unanswered);
	POINT(out, OPEN_FDS, open_fds(host->proc));
	struct scan stat;
	bool known = kernel_file_read(&self->stat, host, &stat, NULL) == 0;

	POINT(out, THREADS, known ? stat_field(stat.at, (size_t)(stat.end - stat.at), 20) : NAN);
	POINT(out, START_TIME, self->start_time);
	return 0;
}

const struct collector collector_self = {
	.name = "self",
	.help = "The exporter itself: build, HTTP requests, CPU, memory, descriptors",
	.metrics = self_metrics,
	.n_metrics = ARRAY_LEN(self_metrics),
	.start = self_start,
	.collect = self_collect,
	.stop = self_stop,
};
