#include "exporter/this_server/this_server.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collectors/base/clock.h"
#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "collectors/base/thread.h"
#include "collectors/base/tree.h"
#include "exporter/core/app.h"
#include "exporter/this_server/metadata.h"
#include "exporter/core/log.h"

#define ANSWER_SECONDS 1.0
#define PORT           80
/* A service may not answer while the machine boots. The first retry comes after RETRY_SECONDS, and
 * each further delay is twice as long. */
#define RETRY_SECONDS         5.0
#define ATTEMPTS_KNOWN_VENDOR 6
#define ATTEMPTS_ANY_VENDOR   3

struct this_server {
	const struct options *options;
	size_t n; /* vendors to query */
	const struct cloud_vendor *vendor[CLOUD_VENDORS_MAX];
	bool by_dmi; /* true = DMI names the vendor */
	int stop;    /* eventfd that stops the thread */
	bool started;
	pthread_t thread;
	pthread_mutex_t lock; /* guards `known` */
	struct machine known;
};

/* ---- options ---- */

static void take_option(const char *text, char *out, size_t size, struct machine *m)
{
	if (!text)
		return;
	text_copy(text, out, size);
	if (!m->source[0])
		text_copy("option", m->source, sizeof m->source);
}

/* Copies the values of options, which take precedence over detected values. */
static void take_options(const struct options *o, struct machine *m)
{
	take_option(o->server_vendor, m->vendor_id, sizeof m->vendor_id, m);
	take_option(o->server_type, m->instance_type, sizeof m->instance_type, m);
	take_option(o->server_region, m->region, sizeof m->region, m);
	if (o->server_allocation && strcmp(o->server_allocation, "unknown") != 0)
		m->allocation =
			strcmp(o->server_allocation, "spot") == 0 ? MACHINE_SPOT : MACHINE_ONDEMAND;
}

/* ---- the current knowledge ---- */

static bool knows_something(const struct machine *m)
{
	return m->vendor_id[0] || m->instance_type[0] || m->region[0] || m->zone[0] ||
	       m->allocation != MACHINE_ALLOCATION_UNKNOWN;
}

static void add_name(struct machine *m)
{
	struct utsname u;

	if (uname(&u) == 0)
		text_copy(u.nodename, m->host, sizeof m->host);
}

bool this_server_now(struct app *app, struct machine *ret)
{
	struct this_server *w = app->machine;

	*ret = (struct machine){0};
	if (w) {
		pthread_mutex_lock(&w->lock);
		*ret = w->known;
		pthread_mutex_unlock(&w->lock);
	} else {
		take_options(app->options, ret);
	}
	add_name(ret);
	return knows_something(ret);
}

const char *this_server_allocation_name(enum machine_allocation a)
{
	switch (a) {
	case MACHINE_ALLOCATION_UNKNOWN:
		return NULL;
	case MACHINE_ONDEMAND:
		return "ondemand";
	case MACHINE_SPOT:
		return "spot";
	}
	return NULL;
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

struct run_server this_server_of_run(struct app *app, struct machine *m)
{
	this_server_now(app, m);
	return (struct run_server){
		.vendor_id = known(m->vendor_id),
		.instance_type = known(m->instance_type),
		.region = known(m->region),
		.zone = known(m->zone),
		.allocation = this_server_allocation_name(m->allocation),
	};
}

void this_server_host(struct app *app, struct host_cloud *ret)
{
	struct machine m;

	if (!this_server_now(app, &m))
		return;
	const char *allocation = this_server_allocation_name(m.allocation);

	text_copy(m.vendor_id, ret->vendor, sizeof ret->vendor);
	text_copy(m.instance_type, ret->instance_type, sizeof ret->instance_type);
	text_copy(m.region, ret->region, sizeof ret->region);
	text_copy(m.zone, ret->zone, sizeof ret->zone);
	text_copy(allocation ? allocation : "", ret->allocation, sizeof ret->allocation);
}

/* ---- DMI ---- */

static void read_text(struct tree *sys, const char *name, char *out, size_t size)
{
	char path[64], text[256];

	snprintf(path, sizeof path, "class/dmi/id/%s", name);
	ssize_t n = tree_read(sys, path, text, sizeof text);

	slice_copy(slice_trim((struct slice){text, n > 0 ? (size_t)n : 0}), out, size);
}

static void read_dmi(const char *sysfs, struct dmi *ret)
{
	struct tree *sys;

	*ret = (struct dmi){0};
	if (tree_open(&sys, sysfs, NULL) < 0)
		return;
	read_text(sys, "sys_vendor", ret->sys_vendor, sizeof ret->sys_vendor);
	read_text(sys, "product_name", ret->product_name, sizeof ret->product_name);
	read_text(sys, "bios_vendor", ret->bios_vendor, sizeof ret->bios_vendor);
	read_text(sys, "bios_version", ret->bios_version, sizeof ret->bios_version);
	read_text(sys, "chassis_asset_tag", ret->chassis_asset_tag, sizeof ret->chassis_asset_tag);
	tree_free(sys);
}

static void choose_vendors(struct this_server *w, const struct dmi *d)
{
	for (size_t i = 0; i < vendor_count && w->n < CLOUD_VENDORS_MAX; i++) {
		enum dmi_verdict verdict = vendor_judge_dmi(d, &vendor_table[i]);

		if (verdict == DMI_RULES_OUT)
			continue;
		w->by_dmi = verdict == DMI_MATCHES;
		w->vendor[w->n++] = &vendor_table[i];
	}
}

/* ---- metadata services ---- */

static void publish(struct this_server *w, struct machine found)
{
	take_options(w->options, &found);
	pthread_mutex_lock(&w->lock);
	w->known = found;
	pthread_mutex_unlock(&w->lock);
	log_line(LOG_LEVEL_DEBUG, "server found", "vendor", found.vendor_id, "instance_type",
		found.instance_type, "region", found.region, "zone", found.zone, "allocation",
		this_server_allocation_name(found.allocation) ?: "", "source", found.source, NULL);
}

static bool wait_unless_stopped(int stop, double seconds)
{
	struct pollfd fd = {.fd = stop, .events = POLLIN};

	return poll(&fd, 1, (int)(seconds * 1e3)) == 0;
}

static void *ask_services(void *context)
{
	struct this_server *w = context;
	unsigned times = w->by_dmi ? ATTEMPTS_KNOWN_VENDOR : ATTEMPTS_ANY_VENDOR;
	double pause = RETRY_SECONDS;
	struct machine found;

	for (unsigned i = 0; i < times; i++, pause *= 2) {
		int code = metadata_ask(w->vendor, w->n, PORT, ANSWER_SECONDS, w->stop, &found);

		if (code == 0)
			publish(w, found);
		if (code == 0 || code == -ECANCELED || i + 1 == times ||
			!wait_unless_stopped(w->stop, pause))
			break;
	}
	return NULL;
}

static int start_thread(struct this_server *w, struct err *e)
{
	w->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->stop < 0)
		return err_system(e, -errno, "create an eventfd");
	int code = thread_start(&w->thread, "machine", ask_services, w, e);

	w->started = code == 0;
	return code;
}

/* Reads options and DMI, and chooses the vendors to query. */
static void prepare(struct this_server *w, const struct options *o)
{
	struct dmi dmi;

	w->options = o;
	w->stop = -1;
	if (!o->server_vendor && o->cloud_discovery) {
		read_dmi(o->sysfs, &dmi);
		vendor_by_dmi(&dmi, &w->known);
		choose_vendors(w, &dmi);
	}
	take_options(o, &w->known);
}

void this_server_find(const struct options *o, struct machine *ret)
{
	struct this_server w = {0};
	struct machine found;

	prepare(&w, o);
	if (w.n && metadata_ask(w.vendor, w.n, PORT, ANSWER_SECONDS, -1, &found) == 0) {
		take_options(o, &found);
		w.known = found;
	}
	*ret = w.known;
	add_name(ret);
}

int this_server_start(struct this_server **ret, const struct options *o, struct err *e)
{
	struct this_server *w = xcalloc(1, sizeof *w);
	int code = 0;

	prepare(w, o);
	pthread_mutex_init(&w->lock, NULL);
	if (w->n)
		code = start_thread(w, e);
	if (code) {
		this_server_stop(w);
		return code;
	}
	*ret = w;
	return 0;
}

void this_server_stop(struct this_server *w)
{
	if (!w)
		return;
	if (w->started) {
		eventfd_write(w->stop, 1);
		pthread_join(w->thread, NULL);
	}
	closep(&w->stop);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
