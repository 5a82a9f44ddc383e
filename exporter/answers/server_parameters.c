#include "exporter/answers/server_parameters.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "exporter/text/suggest.h"
#include "recommender/catalogue/reference_rates.h"
#include "recommender/catalogue/regions.h"

#define ACCEPTED_MAX 64 /* with more names than this, an error lists only similar names */

#if defined(__x86_64__)
#define NATIVE ARCHITECTURE_X86_64
#elif defined(__aarch64__)
#define NATIVE ARCHITECTURE_ARM64
#else
#define NATIVE ARCHITECTURE_UNKNOWN
#endif

/* ---- choices ---- */

struct word_choice {
	const char *word;
	unsigned bits; /* bits of a member of struct pick_options; 0 = any */
};

/* The words of the parameter "architecture". "native", the first one, is the default if the
 * architecture of the job's programs is unknown. */
static const struct word_choice architectures[] = {
	{"native", NATIVE == ARCHITECTURE_UNKNOWN ? 0 : 1u << NATIVE},
	{"any", 0},
	{"x86_64", 1u << ARCHITECTURE_X86_64},
	{"arm64", 1u << ARCHITECTURE_ARM64},
	{"i386", 1u << ARCHITECTURE_I386},
	{"x86_64_mac", 1u << ARCHITECTURE_X86_64_MAC},
	{"arm64_mac", 1u << ARCHITECTURE_ARM64_MAC},
	{0},
};

static const struct word_choice cpu_allocations[] = {
	{"any", 0},
	{"Dedicated", 1u << CPU_DEDICATED},
	{"Burstable", 1u << CPU_BURSTABLE},
	{"Shared", 1u << CPU_SHARED},
	{0},
};

static const struct word_choice allocations[] = {
	{"ondemand", ALLOCATION_BIT(ALLOCATION_ONDEMAND)},
	{"spot", ALLOCATION_BIT(ALLOCATION_SPOT)},
	{"any", ALLOCATION_BIT(ALLOCATION_ONDEMAND) | ALLOCATION_BIT(ALLOCATION_SPOT)},
	{0},
};

const char *server_parameter_architecture(size_t i)
{
	return architectures[i].word;
}

const char *server_parameter_cpu_allocation(size_t i)
{
	return cpu_allocations[i].word;
}

const char *server_parameter_allocation(size_t i)
{
	return allocations[i].word;
}

const char *server_parameter_objective(size_t i)
{
	return objective_name(i);
}

const char *server_parameter_reserve(size_t i)
{
	return system_reserves[i].name;
}

static const char *const benchmark_configs[BENCHMARK_CONFIGS + 1] = {
	[BENCHMARK_AUTO] = "auto",
	[BENCHMARK_SINGLE] = "single",
	[BENCHMARK_MULTI] = "multi",
};

const char *server_parameter_benchmark_config(size_t i)
{
	return benchmark_configs[i];
}

/* Returns the union of the bits of all words of the parameter `name` in the request. Returns 0 if
 * one word is "any". Returns `unset` if the request does not have the parameter. */
static unsigned bits_of(const struct arguments *a, const char *name,
	const struct word_choice *choices, unsigned unset)
{
	const char *const *word;
	size_t n = argument_texts(a, name, &word);
	unsigned bits = 0;

	for (size_t i = 0; i < n; i++) {
		const struct word_choice *c = choices;

		while (strcmp(c->word, word[i]) != 0)
			c++;
		if (!c->bits)
			return 0;
		bits |= c->bits;
	}
	return n ? bits : unset;
}

/* ---- numbers ---- */

static const struct {
	const char *name;
	size_t offset; /* offset of a double in struct pick_options */
	double factor;
} numbers[] = {
	{"deadline", offsetof(struct pick_options, deadline_seconds), 1},
	{"max_cost", offsetof(struct pick_options, max_cost), 1},
	{"vcpus_min", offsetof(struct pick_options, vcpus_min), 1},
	{"vcpus_max", offsetof(struct pick_options, vcpus_max), 1},
	{"memory_min", offsetof(struct pick_options, memory_min), GB_IN_MIB},
	{"memory_max", offsetof(struct pick_options, memory_max), GB_IN_MIB},
	{"gpu_min", offsetof(struct pick_options, gpus_min), 1},
	{"gpu_memory_min", offsetof(struct pick_options, gpu_memory_min), GB_IN_MIB},
	{"gpu_memory_total", offsetof(struct pick_options, gpu_memory_total), GB_IN_MIB},
	{"storage_size", offsetof(struct pick_options, storage_size), 1},
	{"spot_interruptions", offsetof(struct pick_options, spot_interruptions_per_hour), 1},
};

static bool read_numbers(const struct arguments *a, struct pick_options *ret, struct reply *r)
{
	static const char *const ranges[][2] = {
		{"vcpus_min", "vcpus_max"}, {"memory_min", "memory_max"}};

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		double v = argument_number(a, numbers[i].name);

		if (!isnan(v))
			*(double *)(void *)((char *)ret + numbers[i].offset) =
				v * numbers[i].factor;
	}
	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		double least = argument_number(a, ranges[i][0]),
		       most = argument_number(a, ranges[i][1]);
		char names[2][ARGUMENT_CALLED_MAX];

		if (!(least > most))
			continue;
		reply_error(r, 400, "bad_parameter",
			"%s: %g is more than %s, %g: no server is both",
			argument_called(a, ranges[i][0], names[0]), least,
			argument_called(a, ranges[i][1], names[1]), most);
		return false;
	}
	return true;
}

/* ---- words that the catalogue must contain ---- */

/* Each function below returns the i-th word that its parameter accepts. "" = unknown, skip it. NULL
 * = there are no more words. */
static const char *vendor_name(const struct catalogue *c, size_t i)
{
	return i < c->n_vendors ? c->vendor[i].vendor_id : NULL;
}

#define SERVER_NAME(field)                                                                         \
	static const char *server_##field(const struct catalogue *c, size_t i)                     \
	{                                                                                          \
		return i < c->n ? c->server[i].field : NULL;                                       \
	}
SERVER_NAME(gpu_manufacturer)
SERVER_NAME(gpu_family)
SERVER_NAME(gpu_model)
SERVER_NAME(storage_type)
SERVER_NAME(display_name)

/* Returns the currencies of the catalogue first, then those whose rates are compiled in. */
static const char *currency_name(const struct catalogue *c, size_t i)
{
	const struct currency *compiled_in;

	if (i < c->n_currencies)
		return c->currency[i].code;
	compiled_in = reference_rate_at(i - c->n_currencies);
	return compiled_in ? compiled_in->code : NULL;
}

static const char *benchmark_name(const struct catalogue *c, size_t i)
{
	return i < c->n_benchmarks ? c->benchmark[i].benchmark_id : NULL;
}

static bool is_listed(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(list[i], name) == 0)
			return true;
	return false;
}

/* Replies that `word` is not in the catalogue, and returns false. The reply lists the accepted
 * words, which `name` returns, or only the similar ones if there are many. */
static bool refuse(const struct arguments *a, struct reply *r, const char *parameter,
	const char *word, const struct catalogue *c,
	const char *(*name)(const struct catalogue *c, size_t i))
{
	AUTO(freep) const char **all = NULL;
	const char *near[CLOSEST_MAX + 1], *text;
	char message[512], called[ARGUMENT_CALLED_MAX];
	size_t n = 0, room = 0;

	for (size_t i = 0; (text = name(c, i)); i++)
		if (*text && (n > ACCEPTED_MAX || !is_listed(all, n, text))) {
			GROW(all, n, room);
			all[n++] = text;
		}
	snprintf(message, sizeof message, "%s: \"%.100s\" is not in the catalogue %.200s%s",
		argument_called(a, parameter, called), word, c->source,
		n ? "" : ", which has none at all");
	if (n <= ACCEPTED_MAX) {
		GROW(all, n, room);
		all[n] = NULL;
		reply_error_list(r, 400, "bad_parameter", "accepted", all, "%s", message);
		return false;
	}
	suggest_closest(word, all, n, near);
	if (!near[0])
		snprintf(message + strlen(message), sizeof message - strlen(message),
			", nor is any of its %zu like it", n);
	reply_error_list(r, 400, "bad_parameter", "did_you_mean", near, "%s", message);
	return false;
}

static bool is_name(const struct catalogue *c, const char *word,
	const char *(*name)(const struct catalogue *c, size_t i))
{
	const char *text;

	for (size_t i = 0; (text = name(c, i)); i++)
		if (*text && strcasecmp(text, word) == 0)
			return true;
	return false;
}

static const struct {
	const char *name;
	size_t offset; /* offset of a struct text_list in struct pick_options */
	const char *(*known)(const struct catalogue *c, size_t i);
} lists[] = {
	{"vendor", offsetof(struct pick_options, vendors), vendor_name},
	{"gpu_manufacturer", offsetof(struct pick_options, gpu_manufacturers),
		server_gpu_manufacturer},
	{"gpu_family", offsetof(struct pick_options, gpu_families), server_gpu_family},
	{"gpu_model", offsetof(struct pick_options, gpu_models), server_gpu_model},
	{"storage_type", offsetof(struct pick_options, storage_types), server_storage_type},
};

static struct text_list words_of(const struct arguments *a, const char *name)
{
	struct text_list w;

	w.n = argument_texts(a, name, &w.text);
	return w;
}

static bool read_lists(const struct arguments *a, const struct catalogue *c,
	struct pick_options *ret, struct reply *r)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct text_list w = words_of(a, lists[i].name);

		for (size_t k = 0; k < w.n; k++)
			if (!is_name(c, w.text[k], lists[i].known))
				return refuse(a, r, lists[i].name, w.text[k], c, lists[i].known);
		*(struct text_list *)(void *)((char *)ret + lists[i].offset) = w;
	}
	/* A request for a kind of GPU replaces the default. */
	if (ret->gpu_manufacturers.n || ret->gpu_families.n || ret->gpu_models.n)
		ret->gpu_manufacturer = NULL;
	return true;
}

struct frameworks {
	size_t n;
	const char *id[ACCEPTED_MAX + 1]; /* ends with NULL */
};

static void add_frameworks(struct frameworks *f, const char *list, struct arena *arena)
{
	for (const char *at = list; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		const char *word = arena_text(arena, at, len);

		if (len && f->n < ACCEPTED_MAX && !is_listed(f->id, f->n, word))
			f->id[f->n++] = word;
		at += len;
	}
}

/* Replies with an error about a compliance framework with which no vendor is known to comply. */
static bool refuse_framework(const struct arguments *a, struct reply *r, const char *word,
	const struct catalogue *c, const struct frameworks *known)
{
	size_t unknown = catalogue_vendors_of_unknown_compliance(c);
	char called[ARGUMENT_CALLED_MAX];

	argument_called(a, "compliance_framework", called);
	if (unknown == c->n_vendors)
		reply_error(r, 400, "bad_parameter",
			"%s: the catalogue %.200s does not say with which frameworks vendors "
			"comply. The built-in catalogue and sc-data files do; run \"catalogue "
			"update\" if it was fetched by an older version",
			called, c->source);
	else
		reply_error_list(r, 400, "bad_parameter", "accepted", known->id,
			"%s: no vendor of the catalogue complies with \"%.64s\"%s", called, word,
			unknown ? ", as far as the catalogue says it of its vendors" : "");
	return false;
}

static bool read_compliance(const struct arguments *a, const struct catalogue *c,
	struct pick_options *ret, struct reply *r)
{
	struct frameworks known = {0};
	AUTO(arena_done) struct arena arena = {0};

	ret->compliance = words_of(a, "compliance_framework");
	if (!ret->compliance.n)
		return true;
	for (size_t i = 0; i < c->n_vendors; i++)
		add_frameworks(&known, c->vendor[i].compliance, &arena);
	for (size_t i = 0; i < ret->compliance.n; i++)
		if (!is_listed(known.id, known.n, ret->compliance.text[i]))
			return refuse_framework(a, r, ret->compliance.text[i], c, &known);
	return true;
}

static bool read_servers(const struct arguments *a, const struct catalogue *c,
	struct pick_options *ret, struct reply *r)
{
	const struct {
		const char *name;
		struct text_list *words;
	} both[] = {{"include", &ret->include}, {"exclude", &ret->exclude}};

	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		*both[i].words = words_of(a, both[i].name);
		for (size_t k = 0; k < both[i].words->n; k++)
			if (!pick_names(c, both[i].words->text[k]))
				return refuse(a, r, both[i].name, both[i].words->text[k], c,
					server_display_name);
	}
	return true;
}

/* Returns the i-th name: first the names of all regions in their vendors' tools (or their ids),
 * then the display names of all regions. */
static const char *region_name(const struct catalogue *c, size_t i)
{
	const struct region *r = c->region;
	size_t n = c->n_regions;

	if (i < n)
		return *r[i].api_reference ? r[i].api_reference : r[i].region_id;
	return i < 2 * n ? r[i - n].display_name : NULL;
}

static const char *country_name(const struct catalogue *c, size_t i)
{
	return i < c->n_regions ? c->region[i].country_id : NULL;
}

static const char *continent_name(const struct catalogue *c, size_t i)
{
	return i < c->n_regions ? c->region[i].continent : NULL;
}

static bool read_places(const struct arguments *a, const struct catalogue *c, struct arena *arena,
	struct pick_options *ret, struct reply *r)
{
	static const struct {
		const char *name;
		const char *(*known)(const struct catalogue *c, size_t i);
	} places[REGION_KINDS] = {
		[REGION_NAME] = {"regions", region_name},
		[REGION_COUNTRY] = {"countries", country_name},
		[REGION_CONTINENT] = {"continents", continent_name},
	};
	const struct region_filter filter = {
		words_of(a, "regions"), words_of(a, "countries"), words_of(a, "continents")};
	struct region_unknown unknown;
	char called[ARGUMENT_CALLED_MAX];

	for (unsigned i = 0; i < REGION_KINDS && c->n_regions <= 1; i++)
		if (argument_text(a, places[i].name)) {
			reply_error(r, 400, "bad_parameter",
				"%s: the catalogue %.200s does not say in which regions its prices "
				"are: set --catalogue.region=REGION for the server or for "
				"\"catalogue update\"",
				argument_called(a, places[i].name, called), c->source);
			return false;
		}
	return regions_find(c, &filter, arena, &ret->regions, &unknown) ||
	       refuse(a, r, places[unknown.kind].name, unknown.word, c, places[unknown.kind].known);
}

static bool read_currency(const struct arguments *a, const struct catalogue *c,
	struct pick_options *ret, struct reply *r)
{
	const char *code = argument_text(a, "currency");

	for (size_t i = 0; code && i < c->n_currencies; i++)
		if (strcasecmp(c->currency[i].code, code) == 0)
			ret->currency = c->currency[i].code;
	if (code && !ret->currency && reference_rate(code))
		ret->currency = reference_rate(code)->code;
	return !code || ret->currency || refuse(a, r, "currency", code, c, currency_name);
}

/* ---- objective ---- */

static bool read_benchmark(const struct arguments *a, const struct catalogue *c,
	struct pick_options *ret, struct reply *r)
{
	const char *benchmark = argument_text(a, "benchmark"),
		   *config = argument_text(a, "benchmark_config");
	char called[ARGUMENT_CALLED_MAX];

	for (size_t i = 0; benchmark && i < c->n_benchmarks; i++)
		if (strcasecmp(c->benchmark[i].benchmark_id, benchmark) == 0)
			ret->benchmark = &c->benchmark[i];
	while (strcmp(benchmark_configs[ret->benchmark_config], config) != 0)
		ret->benchmark_config++;
	if (benchmark && !ret->benchmark)
		return refuse(a, r, "benchmark", benchmark, c, benchmark_name);
	if (ret->benchmark && ret->benchmark_config == BENCHMARK_SINGLE &&
		!ret->benchmark->single_score) {
		reply_error(r, 400, "bad_parameter",
			"%s: the catalogue has no scores of one core of %s",
			argument_called(a, "benchmark_config", called),
			ret->benchmark->benchmark_id);
		return false;
	}
	return true;
}

static bool read_objective(const struct arguments *a, struct pick_options *ret, struct reply *r)
{
	const char *benchmark = argument_text(a, "benchmark"),
		   *name = argument_text(a, "objective");
	char called[2][ARGUMENT_CALLED_MAX];

	argument_called(a, "objective", called[0]);
	if (!name)
		name = ret->deadline_seconds > 0 ? "deadline" :
		       benchmark                 ? "benchmark" :
						   objectives[0].name;
	ret->objective = objective_find(name);
	if (ret->objective->by_benchmark && !benchmark) {
		reply_error(r, 400, "bad_parameter",
			"%s: %s needs %s, the id of one; /benchmarks lists them", called[0], name,
			argument_called(a, "benchmark", called[1]));
		return false;
	}
	if (strcmp(name, "deadline") == 0 && !(ret->deadline_seconds > 0)) {
		reply_error(r, 400, "bad_parameter",
			"%s: %s needs %s, the seconds in which a run must end", called[0], name,
			argument_called(a, "deadline", called[1]));
		return false;
	}
	return true;
}

struct pick_options server_parameters_usual(const struct server_job *job)
{
	enum architecture a = runs_architecture(job->runs);
	unsigned bits = a != ARCHITECTURE_UNKNOWN ? 1u << a : architectures[0].bits;
	const char *gpus;

	/* The default architecture also accepts servers of an unknown architecture, because a
	 * user's own table of servers may not have architectures. */
	runs_gpu_manufacturer(job->runs, &gpus);
	return (struct pick_options){.architectures = bits ? bits | 1u << ARCHITECTURE_UNKNOWN : 0,
		.gpu_manufacturer = gpus,
		.cpu_allocations = pick_usual_cpu_allocations(job->profile),
		.reserve = system_reserves,
		.spot_interruptions_per_hour = SPOT_INTERRUPTIONS,
		.profile = job->profile};
}

bool server_parameters_read(const struct arguments *a, const struct catalogue *c,
	const struct server_job *job, struct arena *arena, struct pick_options *ret,
	struct reply *r)
{
	*ret = job ? server_parameters_usual(job) : (struct pick_options){0};
	ret->limit = argument_count(a, "limit");
	ret->page = argument_count(a, "page");
	ret->architectures = bits_of(a, "architecture", architectures, ret->architectures);
	ret->cpu_allocations = bits_of(a, "cpu_allocation", cpu_allocations, ret->cpu_allocations);
	ret->kinds_asked = words_of(a, "architecture").n || words_of(a, "cpu_allocation").n;
	ret->allocations = bits_of(a, "allocation", allocations, 0);
	ret->with_inactive = !argument_flag(a, "only_active");
	ret->ipv4 = argument_flag(a, "ipv4");
	ret->reserve = system_reserve_find(argument_text(a, "reserve"));
	return read_numbers(a, ret, r) && read_lists(a, c, ret, r) &&
	       read_compliance(a, c, ret, r) && read_servers(a, c, ret, r) &&
	       read_places(a, c, arena, ret, r) && read_currency(a, c, ret, r) &&
	       read_benchmark(a, c, ret, r) && read_objective(a, ret, r);
}
