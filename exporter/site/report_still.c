#include "exporter/site/report_still.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/site/report_charts.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/members.h"
#include "exporter/text/html.h"

#define UNKNOWN "<span class=\"dim\">unknown</span>"

static const struct outcome_words {
	const char *outcome, *words, *class;
} outcomes[] = {
	{"running", "\xe2\x96\xb6 Running", "live"},
	{"succeeded", "\xe2\x9c\x93 Succeeded", "good"},
	{"failed", "\xe2\x9c\x95 Failed", "bad"},
	{"oom_killed", "\xe2\x97\x86 Out of memory", "bad"},
	{"interrupted", "\xe2\x80\x93 Interrupted", "warn"},
	{"", "? Unknown", "dim"},
};

static const struct outcome_words *words_of(const char *outcome)
{
	size_t i = 0;

	while (*outcomes[i].outcome && strcmp(outcomes[i].outcome, outcome) != 0)
		i++;
	return &outcomes[i];
}

/* Converts a time such as "2026-11-24T21:00:00.000Z" to "2026-11-24 21:00 UTC" and appends it. */
static void add_time(struct buf *out, const char *iso)
{
	if (strlen(iso) < 16) {
		buf_adds(out, "unknown time");
		return;
	}
	buf_add(out, iso, 10);
	buf_addc(out, ' ');
	buf_add(out, iso + 11, 5);
	buf_adds(out, " UTC");
}

static void add_top(struct buf *out, double as_of, const json_t *run)
{
	const char *outcome = member_text(run, "outcome"), *host = member_text(run, "host");
	const struct outcome_words *words = words_of(outcome);
	double lasted = member_number(run, "duration_seconds");
	time_t now = (time_t)as_of;
	char text[32] = "", job[JOB_KEY_MAX], name[JOB_TEXT_MAX];
	struct tm utc;

	if (gmtime_r(&now, &utc))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
	buf_addf(out,
		"<header class=\"top\"><div><p class=\"crumbs\">Report of rightsize-exporter, as of %s. "
		"The run %s.</p><div class=\"title\"><h1>",
		text, strcmp(outcome, "running") == 0 ? "goes on" : "has ended");
	html_add(out, job_key_text(member_job(run, job), name));
	buf_addf(out, "</h1><span class=\"badge %s\">%s</span></div><p>Run of ", words->class,
		words->words);
	add_time(out, member_text(run, "started_at"));
	buf_adds(out, *host ? " on " : "");
	html_add(out, host);
	buf_adds(out, ".");
	if (!isnan(lasted)) {
		buf_adds(out, " Duration: ");
		figure_seconds(out, lasted);
		buf_addc(out, '.');
	}
	buf_adds(out, "</p></div></header>\n");
}

/* Adds a cell with an amount, or "unknown". */
static void add_cell(struct buf *out, const char *class, void (*add)(struct buf *, double),
	double v)
{
	buf_addf(out, "<td class=\"%s\">", class);
	if (isnan(v))
		buf_adds(out, UNKNOWN);
	else
		add(out, v);
	buf_adds(out, "</td>");
}

static void add_row(struct buf *out, const char *name, void (*add)(struct buf *, double),
	double used, double requested, double recommended)
{
	if (isnan(recommended))
		return;
	buf_addf(out, "<tr><th scope=\"row\">%s</th>", name);
	add_cell(out, "", add, used);
	add_cell(out, "", add, requested);
	add_cell(out, "new", add, recommended);
	buf_adds(out, "</tr>");
}

static void add_table(struct buf *out, const json_t *advice)
{
	const json_t *used = json_object_get(advice, "used"),
		     *requested = json_object_get(advice, "requested"),
		     *need = json_object_get(advice, "resources");
	double gpus = member_number(need, "gpu");

	buf_adds(out,
		"<table class=\"compare\"><thead><tr><th scope=\"col\"><span "
		"class=\"hide\">Resource</span></th><th scope=\"col\">Used at most</th><th "
		"scope=\"col\">Requested now</th><th scope=\"col\">Recommended</th></tr></thead><tbody>");
	add_row(out, "CPU", figure_cores, member_number(used, "cpu_cores"),
		member_number(requested, "cpu_cores"), member_number(need, "cpu"));
	add_row(out, "Memory", figure_bytes, member_number(used, "memory_bytes"),
		member_number(requested, "memory_bytes"), member_number(need, "memory") * MIB);
	if (gpus > 0)
		add_row(out, "GPU", figure_short, member_number(used, "gpus"), NAN, gpus);
	buf_adds(out, "</tbody></table>");
}

/* Adds the first sentence of the summary as the headline, without the duration, which is shown
 * among the figures. Adds the other sentences below. */
static void add_summary(struct buf *out, const char *summary)
{
	const char *end = strstr(summary, ". "), *lasting = strstr(summary, " for about ");
	struct buf first AUTO(buf_done) = BUF_MAX(4096);

	if (lasting && (!end || lasting < end)) {
		buf_add(&first, summary, (size_t)(lasting - summary));
		buf_addc(&first, '.');
	} else {
		buf_add(&first, summary, end ? (size_t)(end + 1 - summary) : strlen(summary));
	}
	buf_adds(out, "<p class=\"answer\">");
	html_add(out, buf_text(&first));
	buf_adds(out, "</p><p>");
	html_add(out, end ? end + 2 : "");
	buf_adds(out, "</p>");
}

static void add_paste(struct buf *out, const json_t *advice)
{
	const json_t *paste = json_object_get(advice, "paste");
	const char *text = member_text(paste, "text");

	if (!*text)
		return;
	buf_adds(out, "<div class=\"paste\"><code tabindex=\"0\">");
	html_add(out, text);
	buf_adds(out, "</code></div><p class=\"note\">For ");
	html_add(out, member_text(paste, "format"));
	if (*member_text(paste, "note")) {
		buf_adds(out, " (");
		html_add(out, member_text(paste, "note"));
		buf_addc(out, ')');
	}
	buf_adds(out, ".</p>");
}

/* Adds the cost of a run now and on the best server, and the saving. */
static void add_costs(struct buf *out, const json_t *advice)
{
	const json_t *best = json_object_get(advice, "best"),
		     *today = json_object_get(advice, "today");
	double now = member_number(today, "cost_per_run"),
	       then = member_number(best, "forecast_cost"), saving = member_number(best, "saving");
	const char *currency = member_text(best, "currency");

	buf_adds(out, "<div><h2 class=\"eyebrow\">");
	if (saving > 0) {
		buf_adds(out, "Saving</h2><p class=\"money good\">");
		figure_number(out, saving);
		buf_addf(out, " %s a run</p>", currency);
	} else {
		buf_adds(out, "Cost of a run</h2>");
	}
	buf_adds(out, "<dl class=\"pairs\">");
	if (!isnan(now)) {
		buf_adds(out, "<dt>Cost of a run now</dt><dd>");
		figure_number(out, now);
		buf_addf(out, " %s</dd>", currency);
	}
	if (!isnan(then)) {
		buf_adds(out, "<dt>On the best server</dt><dd>");
		figure_number(out, then);
		buf_addf(out, " %s</dd><dt>Best server</dt><dd>", currency);
		html_add(out, member_text(best, "api_reference"));
		buf_adds(out, ", ");
		html_add(out, member_text(best, "vendor_id"));
		buf_adds(out, "</dd>");
	}
	buf_adds(out, "</dl></div>");
}

static void add_warnings(struct buf *out, const json_t *advice)
{
	const json_t *all = json_object_get(advice, "warnings");

	buf_adds(out, json_array_size(all) ? "<ul class=\"alerts\">" : "");
	for (size_t i = 0; i < json_array_size(all); i++) {
		const json_t *w = json_array_get(all, i);
		const char *severity = member_text(w, "severity");
		bool critical = strcmp(severity, "critical") == 0,
		     note = strcmp(severity, "info") == 0;

		buf_addf(out, "<li class=\"alert %s\"><b>%s</b><p>",
			critical ? "bad" :
			note     ? "plain" :
				   "",
			critical ? "\xe2\x9c\x95 Critical" :
			note     ? "i Note" :
				   "\xe2\x9a\xa0 Warning");
		html_add(out, member_text(w, "text"));
		buf_adds(out, "</p></li>");
	}
	buf_adds(out, json_array_size(all) ? "</ul>\n" : "");
}

static void add_advice(struct buf *out, const json_t *advice)
{
	const char *summary = member_text(advice, "summary");

	if (!*summary) {
		buf_adds(out,
			"<section class=\"card\"><h2 class=\"eyebrow\">Next run</h2><p class=\"answer\">No "
			"recommendation yet.</p><p>A recommendation needs a run that succeeded.</p></section>\n");
		return;
	}
	buf_adds(out, "<section class=\"card hero\"><div><h2 class=\"eyebrow\">Next run</h2>");
	add_summary(out, summary);
	add_table(out, advice);
	add_paste(out, advice);
	buf_adds(out, "</div>");
	add_costs(out, advice);
	buf_adds(out, "</section>\n");
	add_warnings(out, advice);
}

/* Adds a figure: `v` as a percentage of `of`, which is a request or the usual duration. If `of` is
 * unknown, shows only `v`. `add` writes a number with its unit. */
static void add_figure(struct buf *out, const char *title, void (*add)(struct buf *, double),
	double v, double of)
{
	buf_addf(out, "<div class=\"figure\"><dt>%s</dt><dd><strong>", title);
	if (v / of >= 0) {
		figure_percent(out, v / of);
		buf_adds(out, "</strong> <span class=\"dim\">");
		figure_of(out, add, v, of);
		buf_adds(out, "</span>");
	} else {
		if (isnan(v))
			buf_adds(out, "unknown");
		else
			add(out, v);
		buf_adds(out, "</strong>");
	}
	buf_adds(out, "</dd></div>");
}

static void add_figures(struct buf *out, const json_t *run, const json_t *advice)
{
	double cores = member_number(run, "requested_cpu_cores");

	buf_adds(out, "<dl class=\"figures\">");
	add_figure(out, "CPU, average", figure_cores, member_number(run, "cpu_cores_mean"), cores);
	add_figure(out, "CPU, peak", figure_cores, member_number(run, "cpu_cores_max"), cores);
	add_figure(out, "Memory, peak", figure_bytes, member_number(run, "memory_peak_bytes"),
		member_number(run, "requested_memory_bytes"));
	add_figure(out, "Duration, of the usual", figure_seconds,
		member_number(run, "duration_seconds"),
		member_number(json_object_get(advice, "duration"), "expected_seconds"));
	buf_adds(out, "</dl>\n");
}

void report_still_add(struct buf *out, double as_of, const json_t *series, const json_t *advice)
{
	const json_t *run = json_object_get(series, "run");

	buf_adds(out, "<div class=\"report\">\n");
	add_top(out, as_of, run);
	add_advice(out, advice);
	add_figures(out, run, advice);
	report_charts_add(out, series, advice);
	buf_adds(out, "</div>\n");
}
