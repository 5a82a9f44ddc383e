/* A recommendation as JSON. */
#ifndef EXPORTER_ANSWERS_SIZING_JSON_H
#define EXPORTER_ANSWERS_SIZING_JSON_H

#include <stdint.h>

#include "exporter/answers/server_answer.h"
#include "exporter/core/json.h"
#include "recommender/sizing/sizing.h"

/* Adds the keys of a sizing to the object `o`. Unknown numbers are null. `details`: also the keys
 * that few clients read. */
void sizing_json_put(json_t *o, const struct sizing *s, bool details);

/* Adds the warnings, and whether a program may act on the answer without a person. */
void sizing_json_put_warnings(json_t *o, const struct warnings *w);

/* Like sizing_json_put_warnings, but each warning has only its code and its severity. `codes`: the
 * result of warnings_codes. */
void sizing_json_put_codes(json_t *o, uint32_t codes);

/* Makes JSON of the resources to request, which are whole numbers. */
json_t *sizing_json_resources(const struct resources *r);

/* Makes JSON of a demand. The demand comes from a strategy or from the parameters of the
 * request. */
json_t *sizing_json_demand(const struct demand *d);

/* All data of an answer of /recommend: the sizing of the job, and servers for it. */
struct recommendation {
	const char *job_name, *strategy;
	double generated_at;
	const struct sizing *sizing;
	const struct runs *runs; /* runs of the job, newest first */
	/* The request as a text for the batch or workflow system that runs the job: the name of the
	 * format, and the text to paste. `paste` NULL = this system sells no size that is large
	 * enough. */
	const char *paste_format, *paste;
	const char *paste_note; /* see struct advice_format, `note` */
	const struct server_answer *servers;
	bool details; /* also the keys that few clients read */
};

json_t *recommend_json(const struct recommendation *r);

/* The keys that sizing_json_put_warnings and sizing_json_put add, for the description of routes. */
/* clang-format off */
#define WARNING_KEYS \
	{"apply", KEY_OBJECT, .required = true, .help = "Whether a change by a program is safe, and which warnings speak against it"}, \
	{"warnings", KEY_LIST, .required = true, .help = "What to know before the request is used"}
/* clang-format on */
/* clang-format off */
#define SIZING_KEYS \
	{"summary", KEY_TEXT, .required = true, .help = "The recommendation in words"}, \
	{"based_on", KEY_OBJECT, .required = true, .help = "The runs that it is based on, and the announced input"}, \
	{"resources", KEY_OBJECT, .required = true, .help = "What to request, in the units of Metaflow: CPUs, MiB, GPUs"}, \
	{"demand", KEY_OBJECT, .required = true, .help = "What the next run will need"}, \
	{"limits", KEY_OBJECT, .required = true, .help = "Limits for systems that have them beside requests"}, \
	{"memory", KEY_OBJECT, .required = true, .help = "Chances of too little memory, and the expected range"}, \
	{"cpu", KEY_OBJECT, .required = true, .help = "Cores, and how long a run takes with fewer"}, \
	{"duration", KEY_OBJECT, .required = true, .help = "The expected range of the duration"}, \
	{"hindsight", KEY_OBJECT, .help = "With details: how this and the baseline would have done for earlier runs"}, \
	{"split_job", KEY_FLAG, .help = "With details: whether the runs look like those of several jobs"}, \
	{"explain", KEY_LIST, .required = true, .help = "The reasons, a sentence each"}
/* clang-format on */

#endif
