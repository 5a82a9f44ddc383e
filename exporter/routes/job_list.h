/* One page of the list of jobs, for /jobs and /overview. The list can be searched, filtered and
 * sorted. */
#ifndef EXPORTER_ROUTES_JOB_LIST_H
#define EXPORTER_ROUTES_JOB_LIST_H

#include <assert.h>

#include "exporter/api/route.h"
#include "exporter/core/json.h"
#include "exporter/history/history.h"
#include "exporter/sampling/job_advice.h"

#define JOB_SEARCH_MAX 200

const char *job_list_show_word(size_t i); /* NULL past the last */
const char *job_list_sort_word(size_t i);

static_assert(JOBS_MAX == 1000, "the help of show says so");

/* The parameters of a route that returns a page of this list. The default of `limit` keeps answers
 * small: without a limit, /overview with 18,004 jobs takes 150 MB of memory and returns 22 MB. To
 * get more jobs, a client raises the limit or requests several pages. */
/* clang-format off */
#define JOB_LIST_PARAMETERS \
	{.name = "search", .kind = PARAMETER_TEXT, .least = 1, .most = JOB_SEARCH_MAX, \
		.help = "Only jobs whose names have each of these words; A to Z match a to z"}, \
	{.name = "show", .kind = PARAMETER_CHOICE, .choice = job_list_show_word, .fallback = "all", \
		.help = "Only these jobs. running to interrupted are by the newest run. failed includes oom_killed. " \
			"too_small requests less memory than recommended. no_request is by the newest run. A " \
			"server knows can_save and too_small of the 1000 newest jobs"}, \
	{.name = "sort", .kind = PARAMETER_CHOICE, .choice = job_list_sort_word, .fallback = "-last", \
		.help = "The order; - is from the highest to the lowest. Unknown values come last. last is the " \
			"start of the newest run, failures counts 12 runs, duration and memory are of the " \
			"newest success, saving is that of a month"}, \
	{.name = "limit", .kind = PARAMETER_COUNT, .fallback = "1000", .least = 1, .most = 100000, \
		.help = "Most jobs to give"}, \
	{.name = "offset", .kind = PARAMETER_COUNT, .fallback = "0", .least = 0, .most = 1e9, \
		.help = "How many jobs to leave out at the start of the list"}

/* The keys that job_list_put adds. */
#define JOB_LIST_KEYS \
	{"total", KEY_NUMBER, .required = true, .help = "Number of jobs that match search and show, on all pages"}, \
	{"counts", KEY_OBJECT, .required = true, .help = "Number of jobs that match search, for each value of show"}, \
	{"savings", KEY_OBJECT, .required = true, .help = "US dollars that the jobs that match search can save a month, and how many jobs this is known of"}
/* clang-format on */

#define JOB_SHOWS_MAX 16

struct job_list {
	size_t n;
	struct job_head *job; /* the jobs of the page */
	size_t total, counts[JOB_SHOWS_MAX];
	size_t saving_known;
	double saving_a_month; /* US dollars */
};

/* Reads the page that the parameters in `a` (JOB_LIST_PARAMETERS) select. The result is in `arena`.
 * `advice` may be NULL: savings are then unknown. */
int job_list_read(struct history *h, const struct arguments *a,
	const struct job_advice_table *advice, struct arena *arena, struct job_list *ret,
	struct err *e);

void job_list_put(json_t *o, const struct job_list *list);

#endif
