#include "exporter/terminal/paragraphs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/members.h"

/* Appends `head` in `style`, and then `text`, wrapped to the width of the screen. Lines after the
 * first are indented by the width of `head`. */
static void add_paragraph(struct buf *out, const struct screen *s, enum style style,
	const char *head, const char *text)
{
	int indent = screen_width(head), column = indent;

	screen_text(out, s, style, head);
	for (const char *at = text; *at;) {
		char word[512];
		size_t n = strcspn(at, " ");

		snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1),
			at);
		if (column > indent && column + 1 + screen_width(word) > s->columns) {
			buf_addf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			buf_addc(out, ' ');
			column++;
		}
		screen_text(out, s, STYLE_PLAIN, word);
		column += screen_width(word);
		at += n + strspn(at + n, " ");
	}
	buf_addc(out, '\n');
}

void paragraphs_text(struct buf *out, const struct screen *s, const char *text)
{
	add_paragraph(out, s, STYLE_PLAIN, "", text);
}

void paragraphs_line(struct buf *out, const struct screen *s, const char *name, const char *text)
{
	char head[64];

	snprintf(head, sizeof head, "%-13s  ", name);
	add_paragraph(out, s, STYLE_PLAIN, head, text);
}

void paragraphs_warnings(struct buf *out, const json_t *answer, const struct screen *s, size_t most)
{
	const json_t *all = json_object_get(answer, "warnings"), *one;
	size_t i;

	json_array_foreach(all, i, one)
	{
		const char *severity = member_text(one, "severity"),
			   *text = member_text(one, "text");
		bool note = strcmp(severity, "info") == 0;

		if (i == most) {
			buf_addf(out, "%zu more: --format=json has them.\n",
				json_array_size(all) - most);
			break;
		}
		if (strcmp(severity, "critical") == 0)
			add_paragraph(out, s, STYLE_BAD, "Critical: ", text);
		else
			add_paragraph(out, s, note ? STYLE_DIM : STYLE_WARN,
				note ? "Note: " : "Warning: ", text);
	}
}

void paragraphs_notes(struct buf *out, const json_t *answer, const struct screen *s)
{
	const json_t *all = json_object_get(answer, "notes");

	for (size_t i = 0; i < json_array_size(all); i++)
		add_paragraph(out, s, STYLE_DIM, "Note: ", member_as_text(json_array_get(all, i)));
}

void paragraphs_server(struct buf *out, const json_t *server)
{
	const char *region = member_text(server, "region"),
		   *allocation = member_text(server, "allocation"),
		   *note = member_text(server, "price_note");

	buf_addf(out, "%s, %s%s%s", member_text(server, "api_reference"),
		member_text(server, "vendor_id"), *region ? " " : "", region);
	if (*allocation)
		buf_addf(out, ", %s",
			strcmp(allocation, "ondemand") == 0 ? "on-demand" : allocation);
	if (*note)
		buf_addf(out, " (%s)", note);
}

void paragraphs_prices(struct buf *out, const json_t *answer, const struct screen *s,
	const char *currency)
{
	const json_t *rates = json_object_get(answer, "rates");
	const char *as_of = member_text(json_object_get(answer, "catalogue"), "as_of");
	struct buf b AUTO(buf_done) = BUF_MAX(1024);

	buf_addf(&b, "Prices in %s, of %s.", currency, *as_of ? as_of : "an unknown day");
	for (size_t i = 0; i < json_array_size(rates); i++) {
		const json_t *rate = json_array_get(rates, i);

		buf_addf(&b, " 1 %s = %.6g USD", member_text(rate, "currency"),
			member_number(rate, "usd"));
		if (*member_text(rate, "source"))
			buf_addf(&b, " (%s", member_text(rate, "source"));
		if (*member_text(rate, "source") && *member_text(rate, "as_of"))
			buf_addf(&b, " of %s", member_text(rate, "as_of"));
		buf_adds(&b, *member_text(rate, "source") ? ")." : ".");
	}
	add_paragraph(out, s, STYLE_PLAIN, "", buf_text(&b));
}

void paragraphs_alternatives(struct buf *out, const json_t *answer, const struct screen *s,
	size_t most)
{
	const json_t *all = json_object_get(answer, "alternatives"), *one;
	size_t i;

	json_array_foreach(all, i, one)
	{
		struct buf b AUTO(buf_done) = BUF_MAX(1024);

		if (i == most)
			break;
		double cost = member_number(one, "forecast_cost"),
		       percent = member_number(one, "saving_percent");

		paragraphs_server(&b, one);
		if (*member_text(one, "region_note"))
			buf_addf(&b, ", %s", member_text(one, "region_note"));
		buf_adds(&b, ": ");
		figure_number(&b, isnan(cost) ? member_number(one, "price") : cost);
		buf_addf(&b, " %s %s", member_text(one, "currency"),
			isnan(cost) ? "an hour" : "a run");
		if (percent > 0) {
			/* Write with which server this saving is compared, because the screen may
			 * also show the saving of the best server. */
			buf_adds(&b, ", ");
			figure_percent(&b, percent / 100);
			buf_adds(&b, " below the best");
		}
		buf_addf(&b, "; %s.", member_text(one, "asks"));
		if (i + 1 == most && json_array_size(all) > most)
			buf_addf(&b, " %zu more: --explain.", json_array_size(all) - most);
		add_paragraph(out, s, STYLE_DIM, "Or: ", buf_text(&b));
	}
}

/* Quotes a name for the shell if it is empty or has characters that are not in `plain`. */
static void add_shell_word(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./:@,+=";

	if (*word && word[strspn(word, plain)] == '\0') {
		buf_adds(out, word);
		return;
	}
	buf_addc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *word);
	buf_addc(out, '\'');
}

static void add_flag(struct buf *out, const char *flag, const char *value)
{
	if (!*value)
		return;
	buf_adds(out, flag);
	add_shell_word(out, value);
}

void paragraphs_command(struct buf *out, const char *words, const char *job)
{
	struct job_parts p = job_key_parts(job);

	buf_addf(out, "rightsize-exporter %s", words);
	add_flag(out, " --job-name=", p.name);
	add_flag(out, " --namespace=", p.space);
	add_flag(out, " --cluster=", p.cluster);
}

void paragraphs_next(struct buf *out, const struct screen *s, const char *words, const json_t *job)
{
	char key[JOB_KEY_MAX];

	struct buf line AUTO(buf_done) = BUF_MAX(4096);

	buf_adds(&line, "Next: ");
	paragraphs_command(&line, words, member_job(job, key));
	screen_text(out, s, STYLE_DIM, buf_text(&line));
	buf_addc(out, '\n');
}
