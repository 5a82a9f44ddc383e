/* Parses fdinfo. Any process may provide the text, so no value can be trusted. */
#include "collectors/gpu/drm_fdinfo.h"

#include <math.h>
#include <string.h>

#include "collectors/base/number.h"

/* Maximum number of memory regions of one client. Further regions are ignored. */
#define REGIONS_MAX 16

/* Kinds of keys that give the bytes of a memory region. If a region has keys of several kinds, the
 * kind that comes last in the enum is used. A KEY_RESIDENT key counts only bytes that are in the
 * region right now. */
enum memory_key { KEY_NONE, KEY_TOTAL, KEY_MEMORY, KEY_RESIDENT };

struct memory_region {
	struct slice name;
	enum memory_key kind;
	uint64_t bytes;
};

struct memory_regions {
	size_t n;
	struct memory_region region[REGIONS_MAX];
};

/* Sets *ret to the text of `key` after `prefix`. Returns false if `key` has another prefix, or no
 * text after the prefix. */
static bool after_prefix(struct slice key, const char *prefix, struct slice *ret)
{
	size_t n = strlen(prefix);

	if (!slice_starts(key, prefix) || key.len == n)
		return false;
	*ret = (struct slice){key.data + n, key.len - n};
	return true;
}

/* Finds or adds an engine. Returns NULL when there are too many engines or the name is too long. */
static struct drm_engine *engine_named(struct drm_fdinfo *f, struct slice name)
{
	for (size_t i = 0; i < f->n_engines; i++)
		if (slice_is(name, f->engine[i].name))
			return &f->engine[i];
	if (f->n_engines == DRM_ENGINES_MAX || name.len >= sizeof f->engine[0].name)
		return NULL;
	struct drm_engine *e = &f->engine[f->n_engines++];

	*e = (struct drm_engine){.capacity = 1};
	slice_copy(name, e->name, sizeof e->name);
	return e;
}

static void take_engine(struct drm_fdinfo *f, struct slice key, uint64_t value)
{
	struct slice name;
	struct drm_engine *e;

	/* Test for this prefix first. Otherwise "drm-engine-capacity-video" would be read as an
	 * engine with the name "capacity-video". */
	if (after_prefix(key, "drm-engine-capacity-", &name)) {
		e = engine_named(f, name);
		if (e && value > 0)
			e->capacity = value;
	} else if (after_prefix(key, "drm-engine-", &name)) {
		e = engine_named(f, name);
		if (e) {
			e->busy_ns = value;
			e->has_ns = true;
		}
	} else if (after_prefix(key, "drm-cycles-", &name)) {
		e = engine_named(f, name);
		if (e)
			e->cycles = value;
	} else if (after_prefix(key, "drm-total-cycles-", &name)) {
		e = engine_named(f, name);
		if (e) {
			e->total_cycles = value;
			e->has_cycles = true;
		}
	}
}

static bool region_key(struct slice key, struct slice *ret_name, enum memory_key *ret_kind)
{
	static const struct {
		const char *prefix;
		enum memory_key kind;
	} keys[] = {
		{"drm-resident-", KEY_RESIDENT},
		{"drm-memory-", KEY_MEMORY},
		{"drm-total-", KEY_TOTAL},
	};
	struct slice cycles;

	if (after_prefix(key, "drm-total-cycles-", &cycles))
		return false;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (after_prefix(key, keys[i].prefix, ret_name)) {
			*ret_kind = keys[i].kind;
			return true;
		}
	return false;
}

static void take_region(struct memory_regions *r, struct slice key, uint64_t value,
	struct scan rest)
{
	struct slice name, unit = {"", 0};
	enum memory_key kind;
	size_t i = 0;

	if (!region_key(key, &name, &kind))
		return;
	scan_word(&rest, &unit);
	unsigned shift = slice_is(unit, "KiB") ? 10 : slice_is(unit, "MiB") ? 20 : 0;

	if (value > UINT64_MAX >> shift)
		return;
	while (i < r->n && !slice_equal(r->region[i].name, name))
		i++;
	if (i == REGIONS_MAX)
		return;
	if (i == r->n)
		r->region[r->n++] = (struct memory_region){.name = name};
	if (kind >= r->region[i].kind) {
		r->region[i].kind = kind;
		r->region[i].bytes = value << shift;
	}
}

/* Adds up the memory regions in the GPU's own memory. Their names are "vram" (amdgpu), "vram0" (xe)
 * or "local0" (i915). */
static void sum_vram(struct drm_fdinfo *f, const struct memory_regions *r)
{
	f->vram_known = r->n > 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct memory_region *region = &r->region[i];

		if (!slice_starts(region->name, "vram") && !slice_starts(region->name, "local"))
			continue;
		if (region->bytes > UINT64_MAX - f->vram_bytes) {
			f->vram_known = false;
			return;
		}
		f->vram_bytes += region->bytes;
	}
}

bool drm_fdinfo_parse(struct scan s, struct drm_fdinfo *ret)
{
	struct drm_fdinfo f = {0};
	struct memory_regions regions = {0};
	struct scan line;
	bool any = false;

	while (scan_line(&s, &line)) {
		struct slice key, word;
		uint64_t value;

		if (!scan_until(&line, ':', &key) || !slice_starts(key, "drm-"))
			continue;
		any = true;
		if (slice_is(key, "drm-driver") && scan_word(&line, &word))
			slice_copy(word, f.driver, sizeof f.driver);
		else if (slice_is(key, "drm-pdev") && scan_word(&line, &word))
			slice_copy(word, f.pci, sizeof f.pci);
		else if (slice_is(key, "drm-client-id"))
			f.has_client_id = scan_u64(&line, &f.client_id);
		else if (scan_u64(&line, &value)) {
			take_engine(&f, key, value);
			take_region(&regions, key, value, line);
		}
	}
	if (!any)
		return false;
	sum_vram(&f, &regions);
	*ret = f;
	return true;
}

static const struct drm_engine *same_engine(const struct drm_fdinfo *f, const struct drm_engine *e)
{
	for (size_t i = 0; i < f->n_engines; i++)
		if (strcmp(f->engine[i].name, e->name) == 0)
			return &f->engine[i];
	return NULL;
}

double drm_fdinfo_utilization(const struct drm_fdinfo *before, struct drm_fdinfo *now,
	double seconds)
{
	double most = NAN;

	for (size_t i = 0; i < now->n_engines; i++) {
		struct drm_engine *e = &now->engine[i];
		const struct drm_engine *b = same_engine(before, e);
		double busy = NAN;

		if (!b)
			continue;
		raise_to(&e->busy_ns, b->busy_ns);
		raise_to(&e->cycles, b->cycles);
		if (e->has_cycles && e->total_cycles > b->total_cycles)
			busy = (double)(e->cycles - b->cycles) /
			       (double)(e->total_cycles - b->total_cycles);
		else if (e->has_ns && seconds > 0)
			busy = (double)(e->busy_ns - b->busy_ns) / 1e9 / seconds;
		busy /= (double)e->capacity;
		if (busy > 1)
			busy = 1;
		if (isnan(most) || busy > most)
			most = busy;
	}
	return most;
}

bool drm_fdinfo_has_worked(const struct drm_fdinfo *f)
{
	for (size_t i = 0; i < f->n_engines; i++)
		if (f->engine[i].busy_ns > 0 || f->engine[i].cycles > 0)
			return true;
	return false;
}
