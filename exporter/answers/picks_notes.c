/* What a reader should know before believing the servers of an answer, or their absence. */
#include <math.h>

#include "collectors/base/mem.h"
#include "exporter/answers/server_answer.h"

#define NOTE_MAX 1024
#define MIB      1048576.0

/* "124 ..." of each: a sentence for people, where exclusion_name is a key for programs. */
static const char *const excluded_because[EXCLUSION_COUNT] = {
	[EXCLUDED_INACTIVE] = "cannot be had now",
	[EXCLUDED_VENDOR] = "are of other vendors",
	[EXCLUDED_COMPLIANCE] = "are of vendors that do not comply",
	[EXCLUDED_NAME] = "are left out by name",
	[EXCLUDED_ARCHITECTURE] = "have another CPU architecture",
	[EXCLUDED_CPU_ALLOCATION] = "have CPUs that are sold in another way",
	[EXCLUDED_TOO_FEW_VCPUS] = "have too few vCPUs",
	[EXCLUDED_TOO_MANY_VCPUS] = "have too many vCPUs",
	[EXCLUDED_TOO_LITTLE_MEMORY] = "have too little memory",
	[EXCLUDED_TOO_MUCH_MEMORY] = "have too much memory",
	[EXCLUDED_TOO_FEW_GPUS] = "have too few GPUs",
	[EXCLUDED_TOO_LITTLE_VRAM] = "have too little GPU memory",
	[EXCLUDED_GPU] = "have other GPUs",
	[EXCLUDED_GPU_MEMORY] = "have too little memory on each GPU",
	[EXCLUDED_STORAGE] = "have no such local storage",
	[EXCLUDED_NO_PRICE] = "have no price",
	[EXCLUDED_REGION] = "have no price in such a region",
	[EXCLUDED_ALLOCATION] = "have no price of that allocation",
	[EXCLUDED_CURRENCY] = "have prices in another currency",
	[EXCLUDED_NO_FORECAST] = "would run for an unknown time",
	[EXCLUDED_TOO_SLOW] = "would take longer than the deadline",
	[EXCLUDED_TOO_EXPENSIVE] = "would cost more than max_cost, or than can be counted",
	[EXCLUDED_NO_SCORE] = "have no score to compare",
};

static void push(json_t *notes, struct buf *b)
{
	json_push(notes, json_text(buf_text(b)));
	buf_reset(b);
}

static void add_reasons(struct buf *b, const struct picks *p)
{
	const char *before = "";

	for (unsigned i = 0; i < EXCLUSION_COUNT; i++)
		if (p->excluded[i]) {
			buf_addf(b, "%s%zu %s", before, p->excluded[i], excluded_because[i]);
			before = ", ";
		}
}

/* That nothing is as large as that is the reason that nobody thinks of. */
static void add_largest(struct buf *b, const struct server_answer *s)
{
	const struct catalogue *c = s->use.catalogue;
	double vcpus = 0, memory = 0, cores = fmax(s->demand.cpu_cores, s->options.vcpus_min),
	       mib = fmax(s->demand.memory_bytes / MIB, s->options.memory_min);

	for (size_t i = 0; i < c->n; i++) {
		vcpus = fmax(vcpus, c->server[i].vcpus);
		memory = fmax(memory, c->server[i].memory_amount);
	}
	if (cores > vcpus)
		buf_addf(b, "; %g vCPUs are needed, and none has more than %g", cores, vcpus);
	if (mib > memory)
		buf_addf(b, "; %.4g GiB of memory are needed, and none has more than %.4g",
			mib / 1024, memory / 1024);
}

static void note_no_servers(json_t *notes, struct buf *b, const struct server_answer *s)
{
	const struct picks *p = &s->picks;

	if (p->n)
		return;
	if (p->fitting) {
		buf_addf(b, "page %zu is past the last of the %zu servers that fit",
			s->options.page, p->fitting);
	} else if (s->use.catalogue->n == 0) {
		buf_adds(b, "the catalogue has no servers");
	} else {
		buf_addf(b, "none of the %zu servers of the catalogue fits: ", s->use.catalogue->n);
		add_reasons(b, p);
		add_largest(b, s);
	}
	push(notes, b);
}

static const char *first_unrated(const struct catalogue *c)
{
	for (size_t i = 0; i < c->n_currencies; i++)
		if (isnan(c->currency[i].usd))
			return c->currency[i].code;
	return NULL;
}

static void add_unrated(struct buf *b, const struct catalogue *c)
{
	const char *before = "";

	for (size_t i = 0; i < c->n_currencies; i++)
		if (isnan(c->currency[i].usd)) {
			buf_addf(b, "%s%s", before, c->currency[i].code);
			before = ", ";
		}
}

static void note_currencies(json_t *notes, struct buf *b, const struct server_answer *s)
{
	const struct catalogue *c = s->use.catalogue;
	const struct picks *p = &s->picks;
	const struct currency *asked = catalogue_currency(c, p->currency);
	const char *one = first_unrated(c);

	if (!p->excluded[EXCLUDED_CURRENCY])
		return;
	buf_addf(b,
		"%zu servers are left out, for there is no exchange rate to %s for their prices",
		p->excluded[EXCLUDED_CURRENCY], p->currency);
	if (asked && isnan(asked->usd)) {
		buf_addf(b, ": start with --catalogue.rate=%s=DOLLARS, US dollars for one %s",
			p->currency, p->currency);
	} else if (one) {
		buf_adds(b, " in ");
		add_unrated(b, c);
		buf_addf(b,
			": start with --catalogue.rate=%s=DOLLARS, US dollars for one %s, or ask "
			"for currency=%s to see these alone",
			one, one, one);
	}
	push(notes, b);
}

json_t *notes_json(const struct server_answer *s)
{
	struct buf b AUTO(buf_done) = BUF_MAX(NOTE_MAX);
	const struct picks *p = &s->picks;
	json_t *notes = json_array();

	note_no_servers(notes, &b, s);
	note_currencies(notes, &b, s);
	if (s->use.state.stale)
		json_push(notes, json_text("the catalogue is stale: prices may have changed"));
	if (s->of_job && !s->profile.reference && p->objective->by_forecast)
		json_push(notes, json_text("the server on which the job ran is not known: every "
					   "server is assumed to be as fast"));
	if (p->n && p->pick[0].priced->allocation == ALLOCATION_SPOT) {
		buf_addf(&b,
			"it is assumed that an hour of a spot server ends a run with a probability "
			"of %g: spot_interruptions says otherwise",
			s->options.spot_interruptions_per_hour);
		push(notes, &b);
	}
	return notes;
}
