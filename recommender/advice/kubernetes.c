/* Advice as Kubernetes objects: quantities in thousandths of a CPU (m) and in MiB (Mi). */
#include <inttypes.h>
#include <math.h>

#include "recommender/advice/formats.h"
#include "recommender/sizing/strategy.h"

/* One line per resource, indented. A GPU cannot be overcommitted: its request is its limit. */
static void add_quantities(struct buf *out, const char *indent, const struct ask *a, bool limits)
{
	uint64_t milli = limits ? a->millicores_limit : a->millicores;
	uint64_t mib = limits ? a->mib_limit : a->mib;

	if (milli)
		buf_addf(out, "%scpu: \"%" PRIu64 "m\"\n", indent, milli);
	if (mib)
		buf_addf(out, "%smemory: \"%" PRIu64 "Mi\"\n", indent, mib);
	if (a->disk_mib && !limits)
		buf_addf(out, "%sephemeral-storage: \"%" PRIu64 "Mi\"\n", indent, a->disk_mib);
	if (a->gpus)
		buf_addf(out, "%snvidia.com/gpu: \"%" PRIu64 "\"\n", indent, a->gpus);
}

static bool knows_something(const struct ask *a)
{
	return a->millicores || a->mib || a->gpus || a->disk_mib;
}

void write_kubernetes(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	if (!knows_something(&a)) {
		buf_adds(out, "resources: {}\n");
		return;
	}
	buf_adds(out, "resources:\n  requests:\n");
	add_quantities(out, "    ", &a, false);
	if (!a.mib_limit && !a.millicores_limit && !a.gpus)
		return;
	buf_adds(out, "  limits:\n");
	add_quantities(out, "    ", &a, true);
}

static void add_json_quantities(struct list *l, const struct ask *a, bool limits)
{
	uint64_t milli = limits ? a->millicores_limit : a->millicores;
	uint64_t mib = limits ? a->mib_limit : a->mib;

	if (milli)
		list_add(l, "\"cpu\":\"%" PRIu64 "m\"", milli);
	if (mib)
		list_add(l, "\"memory\":\"%" PRIu64 "Mi\"", mib);
	if (a->disk_mib && !limits)
		list_add(l, "\"ephemeral-storage\":\"%" PRIu64 "Mi\"", a->disk_mib);
	if (a->gpus)
		list_add(l, "\"nvidia.com/gpu\":\"%" PRIu64 "\"", a->gpus);
}

/* A limit that the container has already may be below the new request, which Kubernetes refuses: what gets none loses it. */
static void add_json_lifted(struct list *l, const struct ask *a)
{
	if (a->millicores && !a->millicores_limit)
		list_add(l, "\"cpu\":null");
	if (a->disk_mib)
		list_add(l, "\"ephemeral-storage\":null");
}

/* Of the container that most systems call main: the first in the list may be a sidecar. */
static void add_json_main(struct buf *out, const struct ask *a)
{
	struct list requests = {out, ",", false}, limits = {out, ",", false};

	buf_adds(out, "{\"containers\":[{\"name\":\"main\",\"resources\":{\"requests\":{");
	add_json_quantities(&requests, a, false);
	buf_adds(out, "},\"limits\":{");
	add_json_quantities(&limits, a, true);
	add_json_lifted(&limits, a);
	buf_adds(out, "}}}]}");
}

/* Merged by name into the containers, and by key into their resources, so that all else stays. */
void write_kubernetes_patch(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	if (!knows_something(&a)) {
		buf_adds(out, "{}\n");
		return;
	}
	buf_adds(out, "{\"spec\":{\"template\":{\"spec\":");
	add_json_main(out, &a);
	buf_adds(out, "}}}\n");
}

static void add_bound(struct buf *out, const char *name, uint64_t milli, uint64_t mib)
{
	buf_addf(out, "        %s:\n", name);
	if (milli)
		buf_addf(out, "          cpu: \"%" PRIu64 "m\"\n", milli);
	if (mib)
		buf_addf(out, "          memory: \"%" PRIu64 "Mi\"\n", mib);
}

void write_vpa(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);
	double economy = s->memory_at_risk[RISK_ECONOMY];
	uint64_t low = economy > 0 ? round_up_memory(economy) : 0;

	if (!a.millicores && !a.mib) {
		buf_adds(out, "status: {}\n");
		return;
	}
	if (!low || low > a.mib)
		low = a.mib;
	buf_adds(out, "status:\n  recommendation:\n    containerRecommendations:\n"
		      "      - containerName: main\n");
	add_bound(out, "lowerBound", a.millicores, low);
	add_bound(out, "target", a.millicores, a.mib);
	add_bound(out, "uncappedTarget", a.millicores, a.mib);
	add_bound(out, "upperBound", a.millicores_limit ? a.millicores_limit : a.millicores,
		a.mib_limit);
}

void write_argo(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	if (!knows_something(&a)) {
		buf_adds(out, "container:\n  resources: {}\n");
		return;
	}
	buf_adds(out, "container:\n  resources:\n    requests:\n");
	add_quantities(out, "      ", &a, false);
	if (!a.mib_limit && !a.millicores_limit && !a.gpus)
		return;
	buf_adds(out, "    limits:\n");
	add_quantities(out, "      ", &a, true);
}

/* Argo merges it strategically as well (ApplyPodSpecPatch() in its workflow/util/util.go). */
void write_argo_patch(struct buf *out, const struct sizing *s)
{
	struct ask a = ask_of(s);

	buf_adds(out, "podSpecPatch: '");
	add_json_main(out, &a);
	buf_adds(out, "'\n");
}
