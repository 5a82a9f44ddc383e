#include "exporter/wrapper/run_accounts.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/followed/jobs.h"
#include "exporter/core/log.h"
#include "exporter/sampling/sampler.h"

/* Returns true if systemd is the init system of this machine. sd_booted(3) makes the same check. */
static bool is_under_systemd(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

/* Returns true when another controller uses the same hierarchy of cgroup v1 as `p`. The control
 * group of the run would then be one of that controller, too. */
static bool is_shared(const struct cgroup *c, const struct cgroup_place *p)
{
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		const struct cgroup_place *other = &c->place[i];

		if (other != p && other->version == 1 && other->top == p->top &&
			strncmp(other->path, p->path, p->top) == 0)
			return true;
	}
	return false;
}

/* Writes the directory of this program's control group to `out`. Returns false when no group may be
 * created below it (own_group.h). */
static bool own_directory(const struct cgroup *c, const struct host *h, const struct options *o,
	char *out, size_t size, int *ret_version)
{
	bool v2 = c->place[CGROUP_CPU].version == 2;
	const struct cgroup_place *p = &c->place[v2 ? CGROUP_CPU : CGROUP_CPUACCT];
	const char *root = p->tree == h->sys ? o->sysfs : o->rootfs;
	int n = snprintf(out, size, "%s/%s", root, p->path);

	*ret_version = p->version;
	return p->version && (v2 || !is_shared(c, p)) && n > 0 && (size_t)n < size &&
	       own_group_allowed(out, strlen(root) + 1 + p->top, is_under_systemd());
}

/* A request to the sampler to open the sources. It is on the heap, because the sampler may still
 * fill it after the caller has timed out. */
struct accounts_request {
	struct run_accounts accounts;
	/* true = one of the two threads is done with the request: the sampler has filled it, or the
	 * caller has given up. The second thread that sets this member frees the request. */
	atomic_bool over;
};

static void open_accounts(struct run_accounts *a, const struct host *h)
{
	struct cgroup c;
	char directory[PATH_MAX];
	struct err e = {0};
	int version;

	if (cgroup_find(&c, h, "self", NULL) < 0)
		return;
	a->quota = cpu_quota_find(&c, h);
	if (a->options->run_cgroup &&
		own_directory(&c, h, a->options, directory, sizeof directory, &version) &&
		own_group_make(&a->cgroup, directory, version, &e) < 0)
		log_line(LOG_LEVEL_DEBUG, "no control group for the run", "err", e.text, NULL);
}

/* Opens the sources on the sampler thread. If run_accounts_open has given up waiting, no caller
 * gets the sources. They are then closed here, because otherwise the control group would never be
 * removed. */
static void open_accounts_in_time(const struct host *h, void *context)
{
	struct accounts_request *request = context;

	open_accounts(&request->accounts, h);
	if (!atomic_exchange(&request->over, true))
		return;
	run_accounts_close(&request->accounts);
	free(request);
}

int run_accounts_open(struct run_accounts *ret, struct app *app, struct err *e)
{
	struct accounts_request *request = xcalloc(1, sizeof *request);

	*ret = request->accounts = (struct run_accounts){
		.cgroup = OWN_GROUP_NONE, .clock = TASK_CLOCK_NONE, .options = app->options};
	int code = sampler_call(app->sampler, open_accounts_in_time, request,
		SAMPLER_PATIENCE_SECONDS, e);

	/* If the sampler never runs the request, its memory is not freed. This happens at most
	 * once. */
	if (code && !atomic_exchange(&request->over, true))
		return code;
	*ret = request->accounts;
	free(request);
	task_clock_open(&ret->clock);
	return 0;
}

void run_accounts_started(struct run_accounts *a, bool in_cgroup)
{
	/* Close the task clock when possible, because it slows each context switch of the job. */
	if (in_cgroup)
		task_clock_close(&a->clock);
	else
		own_group_remove(&a->cgroup);
}

void run_accounts_followed(struct run_accounts *a, bool uses_clock)
{
	if (!uses_clock)
		task_clock_close(&a->clock);
}

void run_accounts_close(struct run_accounts *a)
{
	own_group_remove(&a->cgroup);
	task_clock_close(&a->clock);
}

/* ---- advice ---- */

/* Returns true when the source of the CPU time counts all children. */
static bool is_whole(const struct account_note *note)
{
	return strcmp(note->cpu_source, "cgroup") == 0 ||
	       strcmp(note->cpu_source, "taskstats") == 0;
}

const char *run_accounts_advice(const struct account_note *note, bool under_systemd, bool root)
{
	if (is_whole(note))
		return NULL;
	if (under_systemd)
		return root ? "systemd-run --scope -p Delegate=yes rightsize-exporter run ..." :
			      "systemd-run --user --scope -p Delegate=yes rightsize-exporter run "
			      "...";
	return "a control group that it may write to, a container in which it is the first "
	       "process, or CAP_NET_ADMIN outside of containers";
}

void run_accounts_advise(const struct account_note *note)
{
	const char *advice = run_accounts_advice(note, is_under_systemd(), geteuid() == 0);

	if (advice)
		log_line(LOG_LEVEL_INFO,
			"CPU time of children that are not waited for may be missing", "cpu_source",
			note->cpu_source, "exact_with", advice, NULL);
}
