#include "exporter/site/report_charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/core/json.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/members.h"

/* Lines are drawn in a square with sides of this length, which the browser stretches to the size of
 * the chart. */
#define SQUARE 1000.0
/* A level, such as the requested memory, gets no line if it is more than this many times the
 * highest sample. Only its name is written then. With its line, the rest of the chart would be too
 * flat to read. */
#define LEVEL_NEAR 2.0
#define SERIES_MAX 3
#define LEVELS_MAX 3
#define TIMES      5 /* number of times that are written below a chart */

struct chart_series {
	const char *key, *label, *class;
	/* true = draw the line in steps, first up and then to the right. This is for the highest
	 * value so far: a sloped line would be below the line of the value itself. */
	bool steps;
};

static const struct chart {
	/* unit in the singular; "" = bytes, which have units of their own */
	const char *title, *unit;
	unsigned height; /* pixels */
	struct chart_series series[SERIES_MAX];
} charts[] = {
	{"CPU", "core", 180,
		{{"system_cpu_cores", "whole machine", "other", false},
			{"cpu_cores", "this run", "use", false}}},
	{"Memory", "", 180,
		{{"memory_bytes", "this run", "use", false},
			{"memory_peak_bytes", "highest so far", "peak", true}}},
	{"GPU", "GPU", 90,
		{{"system_gpu_usage", "whole machine", "other", false},
			{"gpu_usage", "this run", "use", false}}},
	{"GPU memory", "", 90,
		{{"vram_bytes", "this run", "use", false},
			{"vram_peak_bytes", "highest so far", "peak", true}}},
	{"Disk a second", "", 90,
		{{"disk_read_bytes_per_second", "read", "use", false},
			{"disk_written_bytes_per_second", "written", "second", false}}},
	{"Network a second", "", 90,
		{{"network_received_bytes_per_second", "received", "use", false},
			{"network_sent_bytes_per_second", "sent", "second", false}}},
};

/* A value with which the samples are compared, such as the requested memory. It is drawn as a
 * horizontal line. */
struct level {
	const char *label, *class;
	double value;
};

/* The data of one chart. */
struct drawing {
	const struct chart *chart;
	const json_t *at, *columns;
	/* `first`, `last`: times of the first and the last sample; `most`: top of the scale */
	double first, last, most;
	struct level level[LEVELS_MAX];
	size_t n_levels;
};

static void add_amount(struct buf *out, const struct chart *c, double v)
{
	if (*c->unit) {
		figure_short(out, v);
		buf_addf(out, " %s%s", c->unit, v > 1 || v < 1 ? "s" : "");
	} else {
		figure_bytes(out, v);
	}
}

static double number_at(const json_t *array, size_t i)
{
	return json_number(json_array_get(array, i));
}

static double highest(const json_t *column)
{
	double most = NAN;

	for (size_t i = 0; i < json_array_size(column); i++)
		most = fmax(most, number_at(column, i));
	return most;
}

/* Appends the points of a series to an SVG path. A sample without a value is left out. Returns the
 * x coordinate of the last point; NaN = there is none. */
static double add_points(struct buf *out, const struct drawing *d, const struct chart_series *s)
{
	const json_t *column = json_object_get(d->columns, s->key);
	double before = NAN, x = NAN;
	bool begun = false;

	for (size_t i = 0; i < json_array_size(column); i++) {
		double v = number_at(column, i);

		if (isnan(v))
			continue;
		if (s->steps && begun && (v > before || v < before))
			buf_addf(out, "V%.0f", SQUARE * (1 - v / d->most));
		x = (number_at(d->at, i) - d->first) / (d->last - d->first) * SQUARE;
		buf_addf(out, "%s%.1f %.0f", begun ? "L" : "M", x, SQUARE * (1 - v / d->most));
		before = v;
		begun = true;
	}
	return x;
}

static void add_series(struct buf *out, const struct drawing *d)
{
	for (size_t k = 0; k < SERIES_MAX && d->chart->series[k].key; k++) {
		const struct chart_series *s = &d->chart->series[k];

		if (isnan(highest(json_object_get(d->columns, s->key))))
			continue;
		buf_addf(out, "<path class=\"%s\" d=\"", s->class);
		add_points(out, d, s);
		buf_adds(out, "\"/>");
	}
}

/* Returns the distance between two lines of the scale, so that at most five lines are above 0. It
 * is a round number, or a power of two for bytes (`binary`). `most` is the top of the scale. */
static double round_step(double most, bool binary)
{
	static const double steps[] = {1, 2, 5};
	double least = most / 5, power = pow(10, floor(log10(least)));

	if (binary)
		return exp2(ceil(log2(least)));
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		if (power * steps[i] >= least)
			return power * steps[i];
	return power * 10;
}

static void add_scale(struct buf *out, const struct drawing *d)
{
	double step = round_step(d->most, !*d->chart->unit);

	for (unsigned i = 0; i * step <= d->most; i++) {
		double v = i * step, y = 100 * (1 - v / d->most);

		buf_addf(out,
			"<line class=\"%s\" x2=\"100%%\" y1=\"%.2f%%\" y2=\"%.2f%%\"/>"
			"<text class=\"yt\" x=\"-8\" y=\"%.2f%%\" dy=\"4\">",
			v > 0 ? "g" : "axis", y, y, y);
		if (*d->chart->unit)
			figure_short(out, v);
		else
			figure_bytes(out, v);
		buf_adds(out, "</text>");
	}
}

static void add_times(struct buf *out, const struct drawing *d)
{
	for (unsigned i = 0; i < TIMES; i++) {
		double share = (double)i / (TIMES - 1);
		time_t at = (time_t)(d->first + share * (d->last - d->first));
		char text[16] = "";
		struct tm utc;

		if (gmtime_r(&at, &utc))
			strftime(text, sizeof text, d->last - d->first < 300 ? "%H:%M:%S" : "%H:%M",
				&utc);
		buf_addf(out, "<text class=\"xt%s\" x=\"%.0f%%\" y=\"100%%\" dy=\"18\">%s</text>",
			i == 0         ? " first" :
			i == TIMES - 1 ? " last" :
					 "",
			100 * share, text);
	}
}

/* Draws the levels as horizontal lines, and writes the name of each at the right end of its line,
 * so that no name covers another. */
static void add_levels(struct buf *out, const struct drawing *d)
{
	double free_y = -INFINITY;

	for (size_t i = 0; i < d->n_levels; i++) {
		const struct level *l = &d->level[i];
		bool near = l->value <= d->most;
		double y = near ? d->chart->height * (1 - l->value / d->most) : 0;
		double text_y = fmax(y, free_y);

		if (near)
			buf_addf(out, "<line class=\"%s\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>",
				l->class, y, y);
		buf_addf(out,
			"<text class=\"end t-%s\" x=\"100%%\" dx=\"10\" y=\"%.1f\" dy=\"4\">%s ",
			l->class, text_y, l->label);
		add_amount(out, d->chart, l->value);
		buf_addf(out, "%s</text>", near ? "" : " \xe2\x86\x91");
		free_y = text_y + 15;
	}
}

static void add_heading(struct buf *out, const struct drawing *d)
{
	buf_addf(out,
		"<figure class=\"chart\"><figcaption class=\"head\"><span class=\"h\">%s</span>"
		"<span class=\"legend\">",
		d->chart->title);
	for (size_t k = 0; k < SERIES_MAX && d->chart->series[k].key; k++) {
		const struct chart_series *s = &d->chart->series[k];
		double most = highest(json_object_get(d->columns, s->key));

		if (isnan(most))
			continue;
		buf_addf(out,
			"<span class=\"key\"><svg class=\"sign\" aria-hidden=\"true\"><path class=\"%s\" "
			"d=\"M0 5H18\"/></svg>%s, at most ",
			s->class, s->label);
		add_amount(out, d->chart, most);
		buf_adds(out, "</span>");
	}
	buf_adds(out, "</span></figcaption>");
}

static void add_chart(struct buf *out, struct drawing *d)
{
	double top = NAN;

	for (size_t k = 0; k < SERIES_MAX && d->chart->series[k].key; k++)
		top = fmax(top, highest(json_object_get(d->columns, d->chart->series[k].key)));
	if (isnan(top))
		return;
	d->most = top * 1.08;
	for (size_t i = 0; i < d->n_levels; i++)
		if (d->level[i].value <= LEVEL_NEAR * top)
			d->most = fmax(d->most, d->level[i].value * 1.06);
	d->most = d->most > 0 ? d->most : 1;
	add_heading(out, d);
	buf_addf(out,
		"<div class=\"still-plot\"><svg height=\"%u\" role=\"img\" aria-label=\"%s over time\">",
		d->chart->height, d->chart->title);
	add_scale(out, d);
	add_times(out, d);
	buf_adds(out, "<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" width=\"100%\" "
		      "height=\"100%\" overflow=\"visible\">");
	add_series(out, d);
	buf_adds(out, "</svg>");
	add_levels(out, d);
	buf_adds(out, "</svg></div></figure>");
}

static void put_level(struct drawing *d, const char *label, const char *class, double value)
{
	size_t i;

	if (isnan(value) || value <= 0)
		return;
	/* Keep the levels sorted, the highest first, because their names are written from the top
	 * down. */
	for (i = d->n_levels++; i > 0 && d->level[i - 1].value < value; i--)
		d->level[i] = d->level[i - 1];
	d->level[i] = (struct level){label, class, value};
}

static void find_levels(struct drawing *d, const json_t *run, const json_t *need)
{
	if (strcmp(d->chart->title, "CPU") == 0) {
		put_level(d, "requested", "request", member_number(run, "requested_cpu_cores"));
		put_level(d, "recommended", "advice", member_number(need, "cpu"));
	} else if (strcmp(d->chart->title, "Memory") == 0) {
		put_level(d, "limit", "limit", member_number(run, "memory_limit_bytes"));
		put_level(d, "requested", "request", member_number(run, "requested_memory_bytes"));
		put_level(d, "recommended", "advice", member_number(need, "memory") * MIB);
	}
}

void report_charts_add(struct buf *out, const json_t *series, const json_t *advice)
{
	const json_t *points = json_object_get(series, "series"),
		     *at = json_object_get(points, "at");
	size_t n = json_array_size(at);
	double first = number_at(at, 0), last = n ? number_at(at, n - 1) : (double)NAN;

	if (n < 2 || !(last > first))
		return;
	buf_adds(out, "<section class=\"card charts still\" id=\"charts\" aria-label=\"Charts\">");
	for (size_t i = 0; i < ARRAY_LEN(charts); i++) {
		struct drawing d = {.chart = &charts[i],
			.at = at,
			.columns = json_object_get(points, "columns"),
			.first = first,
			.last = last};

		find_levels(&d, json_object_get(series, "run"),
			json_object_get(advice, "resources"));
		add_chart(out, &d);
	}
	buf_adds(out, "<p class=\"note\">Times of the charts are in UTC.</p></section>\n");
}
