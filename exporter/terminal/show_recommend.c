/* A recommendation on one screen: the request, how sure it is, the saving, the line to paste. */
#include <stdint.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/grid.h"
#include "exporter/terminal/members.h"
#include "exporter/terminal/paragraphs.h"
#include "exporter/terminal/show.h"
#include "recommender/sizing/sizing.h"

#define BAR_COLUMNS 16
#define PARTS_MAX   (1u << 20)
/* Lines of the screen that are kept free: a blank line, the line that names the flags, and the
 * prompt of the shell. */
#define LINES_BELOW 3

/* How many alternatives, warnings and lines to paste are shown. The first row with which the answer
 * fits on the screen is used, or the last row if none fits. Only the last two rows shorten the
 * lines to paste, because half of these lines is of little use. The first warning is always
 * shown. */
static const struct room {
	size_t alternatives, warnings, paste;
} rooms[] = {
	{SIZE_MAX, 2, SIZE_MAX},
	{SIZE_MAX, 1, SIZE_MAX},
	{2, 1, SIZE_MAX},
	{1, 2, SIZE_MAX},
	{1, 1, SIZE_MAX},
	{0, 1, SIZE_MAX},
	{0, 1, 4},
	{0, 1, 0},
};

/* Writes the row of one resource: its peak use, the request, the recommendation, the change and a
 * bar. `add` writes an amount with its unit. */
static void add_resource(struct grid *g, const struct screen *s, const char *name, double used,
	double requested, double recommended, void (*add)(struct buf *, double))
{
	struct buf b AUTO(buf_done) = BUF_MAX(512);
	double most = fmax(fmax(used, requested), recommended); /* fmax ignores NaN */

	grid_add(g, STYLE_PLAIN, name);
	add(&b, used);
	grid_take(g, STYLE_PLAIN, &b);
	add(&b, requested);
	grid_take(g, STYLE_PLAIN, &b);
	add(&b, recommended);
	grid_take(g, STYLE_BOLD, &b);
	figure_change(&b, requested, recommended);
	grid_take(g, recommended < requested ? STYLE_GOOD : STYLE_PLAIN, &b);
	if (!isnan(used / most))
		screen_bar(&b, s, BAR_COLUMNS, used / most, recommended / most);
	grid_take(g, STYLE_PLAIN, &b);
}

static void add_table(struct buf *out, const json_t *answer, const struct screen *s)
{
	static const struct grid_column columns[] = {
		{"", false, 0},
		{"USED AT MOST", true, 0},
		{"REQUESTED", true, 0},
		{"RECOMMENDED", true, 0},
		{"", true, 0},
		{"", false, 1},
	};
	AUTO(grid_freep) struct grid *g = grid_new(columns, ARRAY_LEN(columns));
	const json_t *used = json_object_get(answer, "used"),
		     *requested = json_object_get(answer, "requested"),
		     *ask = json_object_get(answer, "resources"),
		     *demand = json_object_get(answer, "demand");
	double gpus = member_number(demand, "gpus");

	add_resource(g, s, "CPU", member_number(used, "cpu_cores"),
		member_number(requested, "cpu_cores"), member_number(ask, "cpu"), figure_cores);
	add_resource(g, s, "Memory", member_number(used, "memory_bytes"),
		member_number(requested, "memory_bytes"), member_number(ask, "memory") * MIB,
		figure_bytes);
	if (gpus > 0) {
		add_resource(g, s, "GPU", member_number(used, "gpus"), NAN, gpus, figure_short);
		add_resource(g, s, "GPU memory", member_number(used, "vram_bytes"), NAN,
			member_number(demand, "vram_bytes"), figure_bytes);
	}
	grid_write(out, g, s);
}

static void add_chance(struct buf *out, double chance)
{
	char words[CHANCE_WORDS_MAX];
	const char *runs = sizing_chance_words(words, chance);

	if (runs)
		buf_addf(out, "; %s may need more", runs);
	else
		buf_adds(out, "; the chance of more is not known");
}

/* Writes how many runs succeeded, how much memory they used, and how likely the recommended memory
 * is too little. */
static void add_evidence(struct buf *out, const json_t *answer)
{
	const json_t *based_on = json_object_get(answer, "based_on"),
		     *memory = json_object_get(answer, "memory");
	double runs = member_number(based_on, "runs"), others = member_number(based_on, "excluded"),
	       peak = member_number(json_object_get(answer, "used"), "memory_bytes");

	if (others > 0)
		buf_addf(out, "%.0f of %.0f runs succeeded", runs, runs + others);
	else
		buf_addf(out, "%.0f successful run%s", runs, runs > 1 || runs < 1 ? "s" : "");
	if (!isnan(peak)) {
		buf_adds(out, others > 0 ? " with up to " : " peaked at ");
		figure_bytes(out, peak);
		buf_adds(out, runs > 1 && !(others > 0) ? " at most" : "");
		add_chance(out, member_number(memory, "too_small_probability"));
	}
}

static void add_headline(struct buf *out, const json_t *answer, const struct screen *s)
{
	const json_t *ask = json_object_get(answer, "resources");
	double input = member_number(json_object_get(answer, "based_on"), "input_bytes"),
	       cores = member_number(ask, "cpu"), bytes = member_number(ask, "memory") * MIB;
	struct buf b AUTO(buf_done) = BUF_MAX(512);

	buf_adds(&b, "Request ");
	if (!isnan(cores))
		figure_cpus(&b, cores);
	buf_adds(&b, isnan(cores) || isnan(bytes) ? "" : " and ");
	if (!isnan(bytes))
		figure_bytes(&b, bytes);
	if (!isnan(input)) {
		buf_adds(&b, " for an input of ");
		figure_bytes(&b, input);
	}
	buf_addc(&b, '.');
	screen_text(out, s, STYLE_BOLD, buf_text(&b));
	buf_addc(out, '\n');
	buf_reset(&b);
	add_evidence(&b, answer);
	buf_addc(&b, '.');
	paragraphs_text(out, s, buf_text(&b));
	buf_addc(out, '\n');
}

static void add_line(struct buf *out, const struct screen *s, const char *name, struct buf *text)
{
	paragraphs_line(out, s, name, buf_text(text));
	buf_reset(text);
}

/* Writes the cost of a run now and on the best server. If the cost on the best server is unknown,
 * writes its price of an hour instead. */
static void add_cost(struct buf *out, const struct screen *s, const json_t *best, double now,
	const char *as_of)
{
	double then = member_number(best, "forecast_cost"),
	       saved = member_number(best, "saving_percent");
	struct buf b AUTO(buf_done) = BUF_MAX(1024);

	if (!isnan(now) && !json_is_true(json_object_get(best, "is_current"))) {
		figure_number(&b, now);
		buf_adds(&b, " -> ");
	}
	figure_number(&b, isnan(then) ? member_number(best, "price") : then);
	buf_addf(&b, " %s", member_text(best, "currency"));
	if (saved > 0) {
		buf_adds(&b, ", saves ");
		figure_percent(&b, saved / 100);
	}
	if (*as_of)
		buf_addf(&b, " (prices of %s)", as_of);
	add_line(out, s, isnan(then) ? "Cost an hour" : "Cost of a run", &b);
}

/* Writes how much the runs of a month (`runs`) would save on the best server. Writes nothing if the
 * saving or the number of runs is unknown, or if there is nothing to save. */
static void add_saving(struct buf *out, const struct screen *s, const json_t *best, double runs)
{
	double saving = member_number(best, "saving");
	struct buf b AUTO(buf_done) = BUF_MAX(1024);

	if (!(saving * runs > 0))
		return;
	figure_number(&b, saving * runs);
	buf_addf(&b, " %s a month, at %.0f run%s a month", member_text(best, "currency"), runs,
		round(runs) > 1 || round(runs) < 1 ? "s" : "");
	add_line(out, s, "Saving", &b);
}

/* Writes how long a run takes on the current server (`now`) and on the best server (`then`), in
 * seconds. NaN = unknown. */
static void add_duration(struct buf *out, const struct screen *s, double now, double then)
{
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	if (!isnan(now) && !isnan(then)) {
		figure_seconds(&b, now);
		buf_adds(&b, " -> ");
	}
	figure_seconds(&b, then);
	add_line(out, s, "Duration", &b);
}

/* Writes why the current server has no cost, or which price was used. */
static void add_today(struct buf *out, const json_t *today, const struct screen *s)
{
	const char *note = member_text(today, "note");
	const json_t *server = json_object_get(today, "server");

	if (!*member_text(server, "vendor_id"))
		buf_adds(out,
			"Current server unknown. Set --server.vendor and --server.type to see "
			"the saving.\n");
	else if (*note)
		paragraphs_text(out, s, note);
	if (*member_text(server, "price_note")) {
		struct buf b AUTO(buf_done) = BUF_MAX(512);

		buf_addf(&b, "Price of today's server: %s.", member_text(server, "price_note"));
		paragraphs_text(out, s, buf_text(&b));
	}
}

static void add_servers(struct buf *out, const json_t *answer, const struct screen *s,
	size_t alternatives)
{
	const json_t *told = json_object_get(answer, "best"),
		     *today = json_object_get(answer, "today"),
		     *first = json_array_get(json_object_get(answer, "servers"), 0),
		     *best = json_is_object(told) ? told : first;
	bool converted = json_array_size(json_object_get(answer, "rates")),
	     stays = json_is_true(json_object_get(best, "is_current"));
	double now = member_number(today, "cost_per_run");
	const char *server = member_text(json_object_get(today, "server"), "api_reference");
	struct buf b AUTO(buf_done) = BUF_MAX(1024);

	buf_addc(out, '\n');
	if (best) {
		add_saving(out, s, best, member_number(answer, "runs_a_month"));
		add_cost(out, s, best, now,
			converted ? "" :
				    member_text(json_object_get(answer, "catalogue"), "as_of"));
		if (!stays && !isnan(now) && *server)
			buf_addf(&b, "%s -> ", server);
		paragraphs_server(&b, best);
		if (stays)
			buf_adds(&b, ": it runs on the best server already");
		if (*member_text(best, "region_note"))
			buf_addf(&b, ", %s", member_text(best, "region_note"));
		add_line(out, s, isnan(now) ? "Best server" : "Server", &b);
		add_duration(out, s,
			stays || isnan(now) ? (double)NAN :
					      member_number(json_object_get(answer, "duration"),
						      "expected_seconds"),
			member_number(best, "forecast_duration_seconds"));
	}
	if (!first)
		paragraphs_notes(out, answer, s);
	paragraphs_alternatives(out, answer, s, alternatives);
	add_today(out, today, s);
	if (best && converted)
		paragraphs_prices(out, answer, s, member_text(best, "currency"));
}

static size_t lines_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* Writes the lines to paste, at most `most`. If there are more, the heading names the flag that
 * shows all. */
static void add_paste(struct buf *out, const json_t *answer, const struct screen *s, size_t most)
{
	const json_t *paste = json_object_get(answer, "paste");
	const char *format = member_text(paste, "format"), *text = member_text(paste, "text");
	const char *note = member_text(paste, "note");
	size_t all = lines_of(text), shown = all > most ? most : all;

	if (!*text)
		return;
	if (shown < all)
		buf_addf(out, "\nFor %s, all %zu lines: --format=%s\n", format, all, format);
	else
		buf_addf(out, *note ? "\nFor %s (%s):\n" : "\nFor %s:\n", format, note);
	for (const char *at = text; *at && shown; shown--) {
		size_t n = strcspn(at, "\n");
		struct buf line AUTO(buf_done) = BUF_MAX(65536);

		buf_add(&line, at, n);
		screen_text(out, s, STYLE_BOLD, buf_text(&line));
		buf_addc(out, '\n');
		at += n + (at[n] == '\n');
	}
}

static void add_reasons(struct buf *out, const json_t *answer, const struct screen *s)
{
	const json_t *all = json_object_get(answer, "explain");

	buf_addc(out, '\n');
	for (size_t i = 0; i < json_array_size(all); i++)
		paragraphs_text(out, s, member_as_text(json_array_get(all, i)));
}

/* Writes all parts of the answer except the reasons. `r` limits the parts whose length varies. */
static void add_parts(struct buf *out, const json_t *answer, const struct screen *s,
	const struct room *r)
{
	add_headline(out, answer, s);
	add_table(out, answer, s);
	add_servers(out, answer, s, r->alternatives);
	if (json_array_size(json_object_get(answer, "warnings"))) {
		buf_addc(out, '\n');
		paragraphs_warnings(out, answer, s, r->warnings);
	}
	add_paste(out, answer, s, r->paste);
}

/* Writes all parts of the answer except the reasons. Uses the first row of `rooms` with which they
 * fit on the screen. */
static void add_what_fits(struct buf *out, const json_t *answer, const struct screen *s)
{
	struct buf b AUTO(buf_done) = BUF_MAX(PARTS_MAX);

	for (size_t i = 0; i < ARRAY_LEN(rooms); i++) {
		buf_reset(&b);
		add_parts(&b, answer, s, &rooms[i]);
		if (!s->rows || lines_of(buf_text(&b)) + LINES_BELOW <= (size_t)s->rows)
			break;
	}
	buf_add(out, buf_text(&b), b.len);
}

void show_recommend(struct buf *out, const json_t *answer, const struct screen *s, bool explain)
{
	if (explain) {
		add_parts(out, answer, s, &rooms[0]);
		add_reasons(out, answer, s);
		paragraphs_notes(out, answer, s);
		return;
	}
	add_what_fits(out, answer, s);
	buf_addc(out, '\n');
	screen_text(out, s, STYLE_DIM,
		"Why: --explain. Other formats: --format=kubernetes, slurm, metaflow, ...");
	buf_addc(out, '\n');
}
