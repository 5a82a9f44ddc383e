/* What a server must be, price and speed aside. An unknown fact never passes what is asked. */
#include "recommender/servers/filters.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define MIB 1048576.0

/* Burstable CPUs earn credits for 5 to 40 % of their time, depending on the size: below, few run
 * out. */
#define BUSY_SHARE 0.1

const char *const exclusion_name[EXCLUSION_COUNT] = {
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

unsigned usual_cpu_allocations(const struct profile *p)
{
	if (profile_cpu_share(p) < BUSY_SHARE)
		return 0;
	return 1u << CPU_DEDICATED | 1u << CPU_ALLOCATION_UNKNOWN;
}

static bool active_asked(const struct ask *a)
{
	return !a->o->with_inactive;
}

static bool active_passes(const struct ask *a, const struct server *s)
{
	(void)a;
	return s->active;
}

static bool vendor_asked(const struct ask *a)
{
	return a->o->vendors.n > 0;
}

static bool vendor_passes(const struct ask *a, const struct server *s)
{
	return words_have(&a->o->vendors, s->vendor_id);
}

static bool compliance_asked(const struct ask *a)
{
	return a->o->compliance.n > 0;
}

/* True when word is one of the words of text, which have blanks between them. */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (; *text; text += strspn(text, " ")) {
		size_t len = strcspn(text, " ");

		if (len == n && strncasecmp(text, word, n) == 0)
			return true;
		text += len;
	}
	return false;
}

static bool compliance_passes(const struct ask *a, const struct server *s)
{
	for (size_t i = 0; i < a->o->compliance.n; i++)
		if (!has_word(a->c->vendor[s->vendor].compliance, a->o->compliance.text[i]))
			return false;
	return true;
}

/* "name" or "vendor~name": of the server, or of its family. */
static bool is_named(const struct server *s, const char *name)
{
	const char *tilde = strchr(name, '~');

	if (tilde) {
		size_t n = (size_t)(tilde - name);

		if (strlen(s->vendor_id) != n || strncasecmp(s->vendor_id, name, n) != 0)
			return false;
		name = tilde + 1;
	}
	return *name &&
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

static bool named_in(const struct words *w, const struct server *s)
{
	for (size_t i = 0; i < w->n; i++)
		if (is_named(s, w->text[i]))
			return true;
	return false;
}

static bool name_asked(const struct ask *a)
{
	return a->o->include.n > 0 || a->o->exclude.n > 0;
}

static bool name_passes(const struct ask *a, const struct server *s)
{
	return (a->o->include.n == 0 || named_in(&a->o->include, s)) &&
	       !named_in(&a->o->exclude, s);
}

static bool architecture_asked(const struct ask *a)
{
	return a->o->architectures != 0;
}

static bool architecture_passes(const struct ask *a, const struct server *s)
{
	return a->o->architectures & (1u << s->cpu_architecture);
}

static bool cpu_allocation_asked(const struct ask *a)
{
	return a->o->cpu_allocations != 0;
}

static bool cpu_allocation_passes(const struct ask *a, const struct server *s)
{
	return a->o->cpu_allocations & (1u << s->cpu_allocation);
}

static bool vcpus_asked(const struct ask *a)
{
	return a->d->cpu_cores > 0 || a->o->vcpus_min > 0;
}

/* Nothing is asked, or what there is is enough; unknown is not. */
static bool enough(double asked, double there)
{
	return !(asked > 0) || there >= asked;
}

static bool vcpus_pass(const struct ask *a, const struct server *s)
{
	return enough(a->d->cpu_cores, a->o->reserve ? a->o->reserve->cpus(s) : s->vcpus) &&
	       enough(a->o->vcpus_min, s->vcpus);
}

static bool vcpus_max_asked(const struct ask *a)
{
	return a->o->vcpus_max > 0;
}

static bool vcpus_max_passes(const struct ask *a, const struct server *s)
{
	return s->vcpus <= a->o->vcpus_max;
}

static bool memory_asked(const struct ask *a)
{
	return a->d->memory_bytes > 0 || a->o->memory_min > 0;
}

static bool memory_passes(const struct ask *a, const struct server *s)
{
	const struct reserve *r = a->o->reserve ? a->o->reserve : reserve_find("none");

	return enough(a->d->memory_bytes, r->memory(s) * MIB) &&
	       enough(a->o->memory_min, s->memory_amount);
}

static bool memory_max_asked(const struct ask *a)
{
	return a->o->memory_max > 0;
}

static bool memory_max_passes(const struct ask *a, const struct server *s)
{
	return s->memory_amount <= a->o->memory_max;
}

static bool gpus_asked(const struct ask *a)
{
	return a->d->gpus > 0 || a->o->gpus_min > 0;
}

static bool gpus_pass(const struct ask *a, const struct server *s)
{
	return enough(a->d->gpus, s->gpu_count) && enough(a->o->gpus_min, s->gpu_count);
}

static bool vram_asked(const struct ask *a)
{
	return a->d->vram_bytes > 0 || a->o->gpu_memory_total > 0;
}

static bool vram_passes(const struct ask *a, const struct server *s)
{
	return enough(a->d->vram_bytes, s->gpu_memory_total * MIB) &&
	       enough(a->o->gpu_memory_total, s->gpu_memory_total);
}

static bool gpu_asked(const struct ask *a)
{
	return a->o->gpu_manufacturers.n || a->o->gpu_families.n || a->o->gpu_models.n;
}

static bool gpu_passes(const struct ask *a, const struct server *s)
{
	return (!a->o->gpu_manufacturers.n ||
		       words_have(&a->o->gpu_manufacturers, s->gpu_manufacturer)) &&
	       (!a->o->gpu_families.n || words_have(&a->o->gpu_families, s->gpu_family)) &&
	       (!a->o->gpu_models.n || words_have(&a->o->gpu_models, s->gpu_model));
}

static bool gpu_memory_asked(const struct ask *a)
{
	return a->o->gpu_memory_min > 0;
}

static bool gpu_memory_passes(const struct ask *a, const struct server *s)
{
	return s->gpu_memory_min >= a->o->gpu_memory_min;
}

static bool storage_asked(const struct ask *a)
{
	return a->o->storage_size > 0 || a->o->storage_types.n > 0;
}

static bool storage_passes(const struct ask *a, const struct server *s)
{
	return (!(a->o->storage_size > 0) || s->storage_size >= a->o->storage_size) &&
	       (!a->o->storage_types.n || words_have(&a->o->storage_types, s->storage_type));
}

const struct pick_filter pick_filters[] = {
	{EXCLUDED_INACTIVE, active_asked, active_passes},
	{EXCLUDED_VENDOR, vendor_asked, vendor_passes},
	{EXCLUDED_COMPLIANCE, compliance_asked, compliance_passes},
	{EXCLUDED_NAME, name_asked, name_passes},
	{EXCLUDED_ARCHITECTURE, architecture_asked, architecture_passes},
	{EXCLUDED_CPU_ALLOCATION, cpu_allocation_asked, cpu_allocation_passes},
	{EXCLUDED_TOO_FEW_VCPUS, vcpus_asked, vcpus_pass},
	{EXCLUDED_TOO_MANY_VCPUS, vcpus_max_asked, vcpus_max_passes},
	{EXCLUDED_TOO_LITTLE_MEMORY, memory_asked, memory_passes},
	{EXCLUDED_TOO_MUCH_MEMORY, memory_max_asked, memory_max_passes},
	{EXCLUDED_TOO_FEW_GPUS, gpus_asked, gpus_pass},
	{EXCLUDED_TOO_LITTLE_VRAM, vram_asked, vram_passes},
	{EXCLUDED_GPU, gpu_asked, gpu_passes},
	{EXCLUDED_GPU_MEMORY, gpu_memory_asked, gpu_memory_passes},
	{EXCLUDED_STORAGE, storage_asked, storage_passes},
	{0},
};
