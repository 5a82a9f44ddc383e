#include "collectors/gpu/users.h"

#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/gpu/drm_fdinfo.h"
#include "collectors/process/process.h"

/* Maximum number of DRM clients of one process. */
#define CLIENTS_MAX 64

/* A DRM client counts as a user of a GPU in two cases: an engine has ever worked for it, or it has
 * at least this many bytes of GPU memory. An open descriptor is not enough, because ROCm opens all
 * GPUs of the machine. */
#define IDLE_VRAM_BYTES (16.0 * 1024 * 1024)

/* Pauses between two searches of the descriptors of a process:
 * - CHANGED: the number of descriptors has changed since the last search.
 * - RAN: the process ran at this tick.
 * - SLEPT: all other cases. */
#define SEARCH_CHANGED_SECONDS 1
#define SEARCH_RAN_SECONDS     5
#define SEARCH_SLEPT_SECONDS   60
/* A process opens its GPUs soon after its start. In its first NEW_SECONDS seconds, its descriptors
 * are searched at each tick in which it ran, at least READ_AGAIN_SECONDS apart. */
#define NEW_SECONDS 5.0
/* A client that used no engine at the last reading is read only once in this many seconds while its
 * process sleeps. */
#define READ_IDLE_SECONDS 5
/* Shortest interval over which utilization is computed. Two scrapes may come close together, and an
 * interval of a few milliseconds would give wild values. */
#define READ_AGAIN_SECONDS 0.5

struct client {
	int fd;
	size_t device;
	struct drm_fdinfo last;
	struct mono read_at;
	double utilization; /* use of the GPU by this client, 0 to 1; NaN = not known yet */
};

struct user {
	struct user *next;          /* list of all users */
	pid_t pid, shown_by;        /* `shown_by`: see member_shown_by */
	uint64_t start_ticks, tick; /* `tick`: last tick that saw the process */
	struct mono searched;
	bool ever_searched;
	bool unknown;      /* a descriptor is unreadable or belongs to an unknown GPU */
	bool cuda;         /* has /dev/nvidia-uvm open; CUDA needs this file, NVML does not */
	bool computes;     /* has /dev/kfd open; engine times then lack AMD's compute queues */
	uint64_t open_fds; /* number of descriptors at the last search */
	size_t n, room;
	struct client *client;
};

struct gpu_users {
	void *by_pid; /* tsearch(3) tree of struct user */
	struct user *all;
	uint64_t tick;
	unsigned links_left;
};

static int by_pid(const void *a, const void *b)
{
	const struct user *p = a, *q = b;

	return (p->pid > q->pid) - (p->pid < q->pid);
}

struct gpu_users *gpu_users_new(void)
{
	struct gpu_users *u = xcalloc(1, sizeof *u);

	u->links_left = GPU_LINKS_PER_TICK;
	return u;
}

static void forget_user(struct gpu_users *u, struct user **place)
{
	struct user *p = *place;

	*place = p->next;
	tdelete(p, &u->by_pid, by_pid);
	free(p->client);
	free(p);
}

void gpu_users_free(struct gpu_users *u)
{
	if (!u)
		return;
	while (u->all)
		forget_user(u, &u->all);
	free(u);
}

void gpu_users_begin(struct gpu_users *u)
{
	for (struct user **p = &u->all; *p;)
		if ((*p)->tick < u->tick)
			forget_user(u, p);
		else
			p = &(*p)->next;
	u->tick++;
	u->links_left = GPU_LINKS_PER_TICK;
}

/* ---- searching ---- */

struct client_search {
	const struct gpu_drm *d;
	const struct host *h;
	struct user *user;
	struct user before;
};

/* Returns 0, -ENOENT when the descriptor is closed or not a GPU client, or another negative errno
 * when it is unreadable. */
static int read_fd(const struct host *h, pid_t pid, int fd, struct drm_fdinfo *ret)
{
	char path[64];

	snprintf(path, sizeof path, "%d/fdinfo/%d", (int)pid, fd);
	ssize_t n = tree_read(h->proc, path, h->scratch, h->scratch_size);

	if (n < 0)
		return process_gone((int)n) ? -ENOENT : (int)n;
	return drm_fdinfo_parse(SCAN(h->scratch, n), ret) ? 0 : -ENOENT;
}

static bool same_client(const struct client *c, size_t device, const struct drm_fdinfo *f)
{
	return c->device == device && c->last.has_client_id && f->has_client_id &&
	       c->last.client_id == f->client_id;
}

static int look_at_fd(void *context, int fd, const char *target)
{
	const struct client_search *s = context;
	struct user *p = s->user;
	struct drm_fdinfo f;

	if (strcmp(target, "/dev/kfd") == 0)
		p->computes = true;
	if (strcmp(target, "/dev/nvidia-uvm") == 0)
		p->cuda = true;
	if (!s->d || strncmp(target, "/dev/dri/", 9) != 0 || p->n == CLIENTS_MAX)
		return 0;
	int code = read_fd(s->h, p->shown_by, fd, &f);

	if (code)
		return code == -ENOENT ? 0 : code;
	size_t device = gpu_drm_find(s->d, f.pci, f.driver);

	if (device == SIZE_MAX) {
		p->unknown = p->unknown || !gpu_drm_leaves_out(f.driver);
		return 0;
	}
	for (size_t i = 0; i < p->n; i++)
		if (same_client(&p->client[i], device, &f))
			return 0; /* the list already has this client */
	GROW(p->client, p->n, p->room);
	struct client *c = &p->client[p->n++];

	*c = (struct client){.fd = fd,
		.device = device,
		.last = f,
		.read_at = s->h->now.mono,
		.utilization = NAN};
	/* If this client was known before the search, keep its last reading: the next reading is
	 * compared with it. */
	for (size_t i = 0; i < s->before.n; i++) {
		const struct client *b = &s->before.client[i];

		if (same_client(b, device, &f) ||
			(b->fd == fd && b->device == device && !f.has_client_id &&
				!b->last.has_client_id)) {
			*c = *b;
			c->fd = fd;
		}
	}
	return 0;
}

static void search_links(struct gpu_users *u, const struct gpu_drm *d, const struct host *h,
	struct user *p, const struct member *m)
{
	struct client_search s = {.d = d, .h = h, .user = p, .before = *p};
	bool whole_budget = u->links_left == GPU_LINKS_PER_TICK;

	p->n = p->room = 0;
	p->client = NULL;
	p->computes = p->cuda = p->unknown = false;
	int code = process_fds(h, p->shown_by, &u->links_left, look_at_fd, &s);

	/* The rest of this tick's budget is too small, because earlier processes used a part of it.
	 * Keep the old clients, and search again in the next tick, which has a full budget. */
	if (code == -EAGAIN && !whole_budget) {
		free(p->client);
		*p = s.before;
		return;
	}
	free(s.before.client);
	if (code == -EAGAIN)
		/* Even the full budget of a tick is too small for this process. Accept the part
		 * that was searched. */
		code = 0;
	p->unknown = p->unknown || (code < 0 && !process_gone(code));
	p->ever_searched = true;
	p->searched = h->now.mono;
	p->open_fds = m->open_fds;
}

static bool search_due(const struct user *p, const struct host *h, const struct member *m)
{
	double age = mono_seconds_between(p->searched, h->now.mono);
	double born = (double)m->start_ticks / (double)h->ticks_per_second;
	bool is_new = (double)h->now.mono.ns / 1e9 - born < NEW_SECONDS;

	if (!p->ever_searched || age < 0)
		return true;
	if (is_new && m->ran && age >= READ_AGAIN_SECONDS)
		return true;
	if (m->fds_known && m->open_fds != p->open_fds)
		return age >= SEARCH_CHANGED_SECONDS;
	return age >= (m->ran ? SEARCH_RAN_SECONDS : SEARCH_SLEPT_SECONDS);
}

/* ---- reading ---- */

static bool read_due(const struct client *c, const struct host *h, const struct member *m)
{
	double age = mono_seconds_between(c->read_at, h->now.mono);

	if (age < READ_AGAIN_SECONDS)
		return false;
	return m->ran || isnan(c->utilization) || c->utilization > 0 || age >= READ_IDLE_SECONDS;
}

/* Returns false when the descriptor now belongs to another client, or is unreadable. */
static bool read_client(struct client *c, const struct host *h, const struct user *p)
{
	struct drm_fdinfo f;

	if (read_fd(h, p->shown_by, c->fd, &f) < 0 || f.has_client_id != c->last.has_client_id ||
		f.client_id != c->last.client_id)
		return false;
	c->utilization =
		drm_fdinfo_utilization(&c->last, &f, mono_seconds_between(c->read_at, h->now.mono));
	if (p->computes)
		c->utilization = NAN;
	c->last = f;
	c->read_at = h->now.mono;
	return true;
}

static void add_client(const struct client *c, size_t first, struct gpu_sum *sum)
{
	double vram = c->last.vram_known ? (double)c->last.vram_bytes : NAN;
	bool in_use = drm_fdinfo_has_worked(&c->last) || vram >= IDLE_VRAM_BYTES;

	if (!in_use)
		return;
	/* Without a client id from the driver, each descriptor of each process counts as a separate
	 * client. */
	if (c->last.has_client_id && !gpu_sum_first(sum, first + c->device, c->last.client_id))
		return;
	gpu_sum_add(sum, first + c->device, c->utilization, vram);
}

/* ---- one process ---- */

static struct user *user_of(struct gpu_users *u, const struct member *m)
{
	struct user key = {.pid = m->pid}, *p;
	void *found = tfind(&key, &u->by_pid, by_pid);

	if (found) {
		p = *(struct user **)found;
		if (p->start_ticks == m->start_ticks)
			return p;
		/* The pid now belongs to another process. */
		free(p->client);
		*p = (struct user){.next = p->next, .pid = m->pid, .start_ticks = m->start_ticks};
		return p;
	}
	p = xcalloc(1, sizeof *p);
	p->pid = m->pid;
	p->start_ticks = m->start_ticks;
	p->next = u->all;
	u->all = p;
	if (!tsearch(p, &u->by_pid, by_pid))
		abort(); /* out of memory, as in xmalloc */
	return p;
}

bool gpu_users_look(struct gpu_users *u, const struct gpu_drm *d, const struct host *h,
	const struct member *m, size_t first, struct gpu_sum *sum)
{
	struct user *p = user_of(u, m);
	bool moved = false;

	p->tick = u->tick;
	p->shown_by = member_shown_by(m);
	if (search_due(p, h, m) && u->links_left)
		search_links(u, d, h, p, m);
	for (size_t i = 0; i < p->n; i++)
		/* search_links() gave p other clients when it freed the old ones. */
		/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
		if (read_due(&p->client[i], h, m))
			moved = !read_client(&p->client[i], h, p) || moved;
	if (moved && u->links_left)
		search_links(u, d, h, p, m);
	sum->unknown = sum->unknown || !p->ever_searched || p->unknown;
	for (size_t i = 0; i < p->n; i++)
		add_client(&p->client[i], first, sum);
	return p->cuda;
}
