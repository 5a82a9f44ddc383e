/* Checks whether a server fits. A server with an unknown property never meets a condition on this
 * property. */
#include "recommender/servers/filters.h"

#include <strings.h>

#include "collectors/base/units.h"
#include "recommender/catalogue/gpus.h"

/* A job counts as idle if it is CPU-bound for a smaller share of its time than this. A burstable
 * CPU earns enough credits to be busy for 5 to 40 % of the time, so an idle job rarely runs out of
 * them. */
#define BUSY_SHARE 0.1

const char *const pick_exclusion_name[EXCLUSION_COUNT] = {
	[EXCLUDED_INACTIVE] = "inactive",
	[EXCLUDED_VENDOR] = "vendor",
	[EXCLUDED_COMPLIANCE] = "compliance_framework",
	[EXCLUDED_NAME] = "name",
	[EXCLUDED_ARCHITECTURE] = "architecture",
	[EXCLUDED_CPU_ALLOCATION] = "cpu_allocation",
	[EXCLUDED_TOO_FEW_VCPUS] = "too_few_vcpus",
	[EXCLUDED_TOO_MANY_VCPUS] = "too_many_vcpus",
	[EXCLUDED_TOO_LITTLE_MEMORY] = "too_little_memory",
	[EXCLUDED_TOO_MUCH_MEMORY] = "too_much_memory",
	[EXCLUDED_TOO_FEW_GPUS] = "too_few_gpus",
	[EXCLUDED_TOO_LITTLE_VRAM] = "too_little_vram",
	[EXCLUDED_GPU] = "gpu",
	[EXCLUDED_GPU_MEMORY] = "gpu_memory",
	[EXCLUDED_STORAGE] = "storage",
	[EXCLUDED_NO_PRICE] = "no_price",
	[EXCLUDED_REGION] = "region",
	[EXCLUDED_ALLOCATION] = "allocation",
	[EXCLUDED_CURRENCY] = "currency",
	[EXCLUDED_NO_FORECAST] = "no_forecast",
	[EXCLUDED_TOO_SLOW] = "too_slow",
	[EXCLUDED_TOO_EXPENSIVE] = "too_expensive",
	[EXCLUDED_NO_SCORE] = "no_score",
};

unsigned pick_usual_cpu_allocations(const struct job_profile *p)
{
	if (forecast_cpu_share(p) < BUSY_SHARE)
		return 0;
	return 1u << CPU_DEDICATED | 1u << CPU_ALLOCATION_UNKNOWN;
}

static bool complies(const struct filter_input *a, const struct server *s)
{
	for (size_t i = 0; i < a->o->compliance.n; i++)
		if (!region_list_has(a->c->vendor[s->vendor].compliance, ' ',
			    a->o->compliance.text[i]))
			return false;
	return true;
}

/* Returns true if `name` names the server or its family. With "vendor~" before it, a name means
 * only servers of that vendor. */
static bool is_named(const struct server *s, const char *name)
{
	name = region_name_at_vendor(name, s->vendor_id);
	return name && *name &&
	       (strcasecmp(s->server_id, name) == 0 || strcasecmp(s->api_reference, name) == 0 ||
		       strcasecmp(s->display_name, name) == 0 || strcasecmp(s->family, name) == 0);
}

bool pick_names(const struct catalogue *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (is_named(&c->server[i], name))
			return true;
	return false;
}

static bool named_in(const struct text_list *w, const struct server *s)
{
	for (size_t i = 0; i < w->n; i++)
		if (is_named(s, w->text[i]))
			return true;
	return false;
}

/* Returns true if `w` is empty or contains `text`. */
static bool may_be(const struct text_list *w, const char *text)
{
	return w->n == 0 || text_list_has(w, text);
}

static bool bit_allowed(unsigned bits, unsigned i)
{
	return bits == 0 || bits & (1u << i);
}

/* Returns true if nothing is requested, or if `there`, the amount of the server, suffices. An
 * unknown amount (NaN) never suffices. */
static bool enough(double requested, double there)
{
	return !(requested > 0) || there >= requested;
}

bool filter_keeps_limit(double limit, double value)
{
	return !(limit > 0) || value <= limit;
}

/* Checks the conditions that are not about size: whether the server is active, its vendor,
 * compliance, name and kind of CPU. */
static enum exclusion misfit_by_kind(const struct filter_input *a, const struct server *s)
{
	const struct pick_options *o = a->o;

	if (!s->active && !o->with_inactive)
		return EXCLUDED_INACTIVE;
	if (!may_be(&o->vendors, s->vendor_id))
		return EXCLUDED_VENDOR;
	if (!complies(a, s))
		return EXCLUDED_COMPLIANCE;
	if ((o->include.n && !named_in(&o->include, s)) || named_in(&o->exclude, s))
		return EXCLUDED_NAME;
	if (!bit_allowed(o->architectures, s->cpu_architecture))
		return EXCLUDED_ARCHITECTURE;
	if (!bit_allowed(o->cpu_allocations, s->cpu_allocation))
		return EXCLUDED_CPU_ALLOCATION;
	return EXCLUSION_COUNT;
}

/* Returns true if the programs of the job, which need GPUs of one manufacturer, run on the server. */
static bool suits_programs(const struct filter_input *a, const struct server *s)
{
	const char *needed = a->o->gpu_manufacturer;
	bool named = *s->gpu_manufacturer || *s->gpu_model;

	return !needed || !(a->d->gpus > 0) || !named ||
	       gpus_same_name(s->gpu_manufacturer, needed);
}

static enum exclusion misfit_by_size(const struct filter_input *a, const struct server *s)
{
	const struct demand *d = a->d;
	const struct pick_options *o = a->o;
	const struct system_reserve *r = o->reserve;
	double cpus = r ? r->cpus(s) : s->vcpus;

	if (!enough(d->cpu_cores, cpus) || !enough(o->vcpus_min, s->vcpus))
		return EXCLUDED_TOO_FEW_VCPUS;
	if (!filter_keeps_limit(o->vcpus_max, s->vcpus))
		return EXCLUDED_TOO_MANY_VCPUS;
	if (!enough(d->memory_bytes, (r ? r : system_reserve_find("none"))->memory(s) * MIB) ||
		!enough(o->memory_min, s->memory_amount))
		return EXCLUDED_TOO_LITTLE_MEMORY;
	if (!filter_keeps_limit(o->memory_max, s->memory_amount))
		return EXCLUDED_TOO_MUCH_MEMORY;
	if (!enough(d->gpus, s->gpu_count) || !enough(o->gpus_min, s->gpu_count))
		return EXCLUDED_TOO_FEW_GPUS;
	if (!enough(d->vram_bytes, s->gpu_memory_total * MIB) ||
		!enough(o->gpu_memory_total, s->gpu_memory_total))
		return EXCLUDED_TOO_LITTLE_VRAM;
	if (!suits_programs(a, s) || !may_be(&o->gpu_manufacturers, s->gpu_manufacturer) ||
		!may_be(&o->gpu_families, s->gpu_family) || !may_be(&o->gpu_models, s->gpu_model))
		return EXCLUDED_GPU;
	if (!enough(o->gpu_memory_min, s->gpu_memory_min))
		return EXCLUDED_GPU_MEMORY;
	if (!enough(o->storage_size, s->storage_size) ||
		!may_be(&o->storage_types, s->storage_type))
		return EXCLUDED_STORAGE;
	return EXCLUSION_COUNT;
}

enum exclusion filter_misfit(const struct filter_input *a, const struct server *s)
{
	enum exclusion reason = misfit_by_kind(a, s);

	return reason == EXCLUSION_COUNT ? misfit_by_size(a, s) : reason;
}
