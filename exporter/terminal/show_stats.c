/* Statistics of a job's runs: one row for each amount that was measured. */
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/grid.h"
#include "exporter/terminal/members.h"
#include "exporter/terminal/paragraphs.h"
#include "exporter/terminal/show.h"

/* How an amount is written. The end of its key names the unit: the first row whose `end` matches is
 * used. `add` writes the number, and the text `after` follows. `add` NULL = the amount is not
 * shown, because it is the age of a measurement.
 *
 * `kind` is appended to the name of the amount, because two amounts may have the same name: "disk
 * read" in bytes, and "disk read rate". Keys with "_chars" count the bytes of read(2) and write(2),
 * which include the cache. */
static const struct {
	const char *end;
	void (*add)(struct buf *out, double v);
	const char *after, *kind;
} units[] = {
	{"memory_pss_age_seconds", NULL, "", ""},
	{"_bytes_per_second", figure_bytes, "/s", " rate"},
	{"_bytes", figure_bytes, "", ""},
	{"_chars", figure_bytes, "", " with cache"},
	{"_seconds", figure_seconds, "", ""},
	{"", figure_number, "", ""},
};

static size_t unit_of(const char *key)
{
	size_t len = strlen(key), i = 0;

	for (;; i++) {
		size_t n = strlen(units[i].end);

		if (n <= len && strcmp(key + len - n, units[i].end) == 0)
			return i;
	}
}

static void add_name(struct grid *g, const char *key, size_t unit)
{
	char name[128];

	snprintf(name, sizeof name, "%.*s%s", (int)(strlen(key) - strlen(units[unit].end)), key,
		units[unit].kind);
	for (char *c = name; *c; c++)
		if (*c == '_')
			*c = ' ';
	grid_add(g, STYLE_PLAIN, name);
}

static void add_amount(struct grid *g, const json_t *of, const char *key, size_t unit)
{
	struct buf b AUTO(buf_done) = BUF_MAX(64);
	double v = member_number(of, key);

	if (!isnan(v)) {
		units[unit].add(&b, v);
		buf_adds(&b, units[unit].after);
	}
	grid_take(g, STYLE_PLAIN, &b);
}

void show_stats(struct buf *out, const json_t *answer, const struct screen *s, bool explain)
{
	static const struct grid_column columns[] = {{"AMOUNT", false, 0, 20}, {"MEAN", true, 0},
		{"MIN", true, 2}, {"P50", true, 3}, {"P95", true, 1}, {"P99", true, 4},
		{"MAX", true, 0}};
	static const char *const keys[] = {"mean", "min", "p50", "p95", "p99", "max"};
	AUTO(grid_freep) struct grid *g = grid_new(columns, ARRAY_LEN(columns));
	char job[JOB_KEY_MAX], text[JOB_TEXT_MAX];
	const char *key;
	json_t *of, *over = json_object_get(answer, "over_runs");

	(void)explain;
	buf_addf(out, "%.0f runs of ", member_number(answer, "runs_analyzed"));
	screen_text(out, s, STYLE_BOLD, job_key_text(member_job(answer, job), text));
	buf_adds(out, ", from ");
	figure_time(out, member_text(answer, "first_started_at"));
	buf_adds(out, " to ");
	figure_time(out, member_text(answer, "last_started_at"));
	buf_adds(out, ".\n\n");
	json_object_foreach(over, key, of)
	{
		size_t unit = unit_of(key);

		/* Leave out an amount that was always 0. */
		if (!units[unit].add || !(member_number(of, "max") > 0))
			continue;
		add_name(g, key, unit);
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			add_amount(g, of, keys[i], unit);
	}
	grid_write(out, g, s);
	buf_addc(out, '\n');
	paragraphs_warnings(out, answer, s, 3);
	paragraphs_next(out, s, "recommend", answer);
}
