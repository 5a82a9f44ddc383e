/* Follows a process that is not its child, like the server follows jobs. When the process has
 * ended, the program prints the run's metrics as JSON.
 *
 * Usage: accuracy_attach PID [INTERVAL-SECONDS]. The program writes "ready" to stderr after the
 * first reading. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/followed/jobs.h"

#define RUN "run"

static const struct {
	const char *key;
	enum run_metric metric;
} values[] = {
	{"cpu_seconds", RUN_CPU_SECONDS},
	{"cpu_wait_seconds", RUN_CPU_WAIT_SECONDS},
	{"cpu_throttled_seconds", RUN_CPU_THROTTLED_SECONDS},
	{"memory_peak_bytes", RUN_MEMORY_PEAK_BYTES},
	{"memory_peak_process_bytes", RUN_MEMORY_PEAK_PROCESS_BYTES},
	{"memory_cgroup_peak_bytes", RUN_MEMORY_CGROUP_PEAK_BYTES},
	{"memory_limit_bytes", RUN_MEMORY_LIMIT_BYTES},
	{"oom_kills", RUN_OOM_KILLS},
};

static void put(struct buf *b, const char *key, double v)
{
	buf_addf(b, ", \"%s\": ", key);
	if (isnan(v))
		buf_adds(b, "null");
	else
		buf_add_double(b, v);
}

static void report(const struct host *h, const struct run_reading *last)
{
	struct buf b = BUF_MAX(4096);
	struct account_note note;

	jobs_note(h->jobs, h, RUN, &note);
	buf_addf(&b, "{\"cpu_source\": \"%s\"", note.cpu_source);
	put(&b, "cpu_missed_seconds", note.cpu_missed_seconds);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		put(&b, values[i].key, last->value[values[i].metric]);
	put(&b, "exit_code",
		note.status_known && WIFEXITED(note.status) ? (double)WEXITSTATUS(note.status) :
							      (double)NAN);
	put(&b, "exit_signal",
		note.status_known && WIFSIGNALED(note.status) ? (double)WTERMSIG(note.status) :
								(double)NAN);
	printf("%s}\n", buf_text(&b));
	buf_done(&b);
}

/* Waits for `seconds`, or until the followed process has ended. */
static void wait_for_work(const struct host *h, double seconds)
{
	struct pollfd ending = {.fd = jobs_ending_fd(h->jobs), .events = POLLIN};

	while (poll(&ending, 1, (int)(seconds * 1000)) < 0 && errno == EINTR)
		;
}

static int follow(struct host *h, pid_t pid, double interval)
{
	struct run_spec spec = {
		.run_id = RUN, .job_name = "job", .pid = pid, .started_at = h->now.wall};
	struct snapshot s = {0};
	struct err e = {0};
	int code = jobs_follow(h->jobs, h, &spec, &e);

	if (code) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	jobs_read(h->jobs, h, &s);
	fprintf(stderr, "ready\n");
	while (!s.runs[0].ended) {
		wait_for_work(h, interval);
		h->now = now_read();
		arena_reset(&s.arena);
		jobs_read(h->jobs, h, &s);
	}
	report(h, &s.runs[0]);
	arena_done(&s.arena);
	return 0;
}

int main(int argc, char **argv)
{
	struct scan pid_text = SCAN(argc > 1 ? argv[1] : "", argc > 1 ? strlen(argv[1]) : 0);
	struct scan interval_text = SCAN(argc > 2 ? argv[2] : "1", argc > 2 ? strlen(argv[2]) : 1);
	struct host h;
	struct err e = {0};
	double interval;
	uint64_t pid;

	if (!scan_u64(&pid_text, &pid) || pid > INT32_MAX ||
		!scan_double(&interval_text, &interval) || interval <= 0) {
		fprintf(stderr, "usage: accuracy_attach PID [INTERVAL-SECONDS]\n");
		return 2;
	}
	if (host_open(&h, &(struct host_paths){"/proc", "/sys", "/"}, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	h.jobs = jobs_new(&h);
	int code = follow(&h, (pid_t)pid, interval);

	jobs_free(h.jobs);
	host_close(&h);
	return code;
}
