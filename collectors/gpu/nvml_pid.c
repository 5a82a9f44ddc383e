#include "collectors/gpu/nvml_pid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/process/process.h"

/* Maximum number of descriptors that are read for one process. */
#define LINKS_MAX 4096

/* ---- evidence ---- */

static int is_nvidia(void *context, int fd, const char *target)
{
	(void)context;
	(void)fd;
	return strncmp(target, "/dev/nvidia", strlen("/dev/nvidia")) == 0;
}

static bool has_nvidia_open(const struct host *h, pid_t pid)
{
	unsigned left = LINKS_MAX;

	return process_fds(h, pid, &left, is_nvidia, NULL) > 0;
}

/* ---- the map: sorted by the driver's pid ---- */

static int by_driver_pid(const void *a, const void *b)
{
	const struct gpu_pid *p = a, *q = b;

	return (p->driver_pid > q->driver_pid) - (p->driver_pid < q->driver_pid);
}

static struct gpu_pid *find_pid(const struct gpu_pids *m, uint32_t driver_pid)
{
	struct gpu_pid key = {.driver_pid = driver_pid};

	return m->n ? bsearch(&key, m->map, m->n, sizeof key, by_driver_pid) : NULL;
}

pid_t gpu_pid_of(const struct gpu_pids *m, uint32_t driver_pid)
{
	const struct gpu_pid *p;

	if (m->same_numbers)
		return driver_pid <= INT32_MAX ? (pid_t)driver_pid : 0;
	p = find_pid(m, driver_pid);
	return p ? p->pid : 0;
}

/* Makes a new map with one entry for each pid in `driver_pid`. Entries that the old map already has
 * are copied. */
static void renew_map(struct gpu_pids *m, const uint32_t *driver_pid, size_t n)
{
	struct gpu_pid *map = xcalloc(n + 1, sizeof *map);
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const struct gpu_pid *known = find_pid(m, driver_pid[i]);

		map[i] = known ? *known : (struct gpu_pid){.driver_pid = driver_pid[i]};
	}
	qsort(map, n, sizeof *map, by_driver_pid);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || map[kept - 1].driver_pid != map[i].driver_pid)
			map[kept++] = map[i];
	free(m->map);
	m->map = map;
	m->n = kept;
}

/* ---- pids of inner namespaces ---- */

struct pid_search {
	struct gpu_pids *map;
	const struct host *host;
};

static void look_at(void *context, pid_t pid)
{
	const struct pid_search *s = context;
	struct scan line;
	uint64_t number;

	/* The first number is the pid in host->proc. The following numbers are pids in inner
	 * namespaces. */
	if (!process_status_line(s->host, pid, "NSpid:", &line) || !scan_u64(&line, &number))
		return;
	while (scan_u64(&line, &number)) {
		struct gpu_pid *p =
			number <= UINT32_MAX ? find_pid(s->map, (uint32_t)number) : NULL;

		if (p && !p->pid && has_nvidia_open(s->host, pid))
			p->pid = pid;
	}
}

static bool search_due(const struct gpu_pids *m, const struct host *h)
{
	bool missing = false;

	for (size_t i = 0; i < m->n; i++)
		missing = missing || !m->map[i].pid;
	return missing && (!m->ever_searched || mono_seconds_between(m->searched, h->now.mono) >=
							GPU_PID_SEARCH_SECONDS);
}

bool gpu_pids_are_same(struct gpu_pids *m, const struct host *h)
{
	if (!m->asked_namespace) {
		m->asked_namespace = true;
		m->same_numbers = h->initial_pid_namespace;
	}
	return m->same_numbers;
}

void gpu_pids_update(struct gpu_pids *m, const struct host *h, const uint32_t *driver_pid, size_t n)
{
	struct pid_search search = {m, h};

	if (gpu_pids_are_same(m, h))
		return;
	renew_map(m, driver_pid, n);
	for (size_t i = 0; i < m->n; i++) {
		struct gpu_pid *p = &m->map[i];

		if (!p->pid && p->driver_pid <= INT32_MAX &&
			has_nvidia_open(h, (pid_t)p->driver_pid))
			p->pid = (pid_t)p->driver_pid;
	}
	if (!search_due(m, h))
		return;
	m->searched = h->now.mono;
	m->ever_searched = true;
	process_list(h, look_at, &search);
}

void gpu_pids_done(struct gpu_pids *m)
{
	free(m->map);
	*m = (struct gpu_pids){0};
}
