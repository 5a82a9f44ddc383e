#include "exporter/site/report.h"

#include "collectors/base/mem.h"
#include "exporter/core/json.h"
#include "exporter/core/version.h"
#include "exporter/site/page.h"
#include "exporter/site/report_still.h"
#include "exporter/text/html.h"

/* Appends JSON for a script element. Each "<" is escaped, because "</script>" in the data would end
 * the element. In JSON, "<" occurs only in strings, where the escape is valid. */
static void add_json(struct buf *out, const struct buf *json)
{
	for (size_t i = 0; i < json->len; i++)
		if (json->data[i] == '<')
			buf_adds(out, "\\u003c");
		else
			buf_addc(out, json->data[i]);
}

static void add_head(struct buf *out, const char *title)
{
	buf_addf(out,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data:; base-uri 'none'; "
		"form-action 'none'\">\n",
		page_report_script.sha256, page_style.sha256);
	buf_addf(out,
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<meta name=\"generator\" content=\"rightsize-exporter %s\">\n<title>",
		version.version);
	html_add(out, title);
	buf_adds(out, "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>");
	page_add(out, &page_style);
	buf_adds(out, "</style>\n</head>\n");
}

/* Removes all members that are null from an array of objects, at any depth. An absent member has
 * the same meaning. */
static void drop_nulls(json_t *v)
{
	void *next;

	for (size_t i = 0; i < json_array_size(v); i++)
		drop_nulls(json_array_get(v, i));
	for (void *at = json_object_iter(v); at; at = next) {
		next = json_object_iter_next(v, at);
		drop_nulls(json_object_iter_value(at));
		if (json_is_null(json_object_iter_value(at)))
			json_object_del(v, json_object_iter_key(at));
	}
}

/* Adds the JSON that the script reads. */
static void add_data(struct buf *out, const struct report *r, json_t *series)
{
	struct buf text AUTO(buf_done) = BUF_MAX(out->max);
	json_t *all = json_object(), *runs = json_loadb(buf_text(r->runs), r->runs->len, 0, NULL);
	json_t *points = json_object_get(series, "series");

	json_object_del(points, "at");
	json_object_del(points, "columns");
	drop_nulls(runs);
	json_put(all, "as_of", json_time(r->as_of));
	json_put(all, "series", series ? json_incref(series) : json_null());
	json_put(all, "runs", runs ? runs : json_null());
	json_write(&text, all);
	json_decref(all);
	/* Remove the closing brace of the object, and append the recommendation as text. Unlike in
	 * the runs, null has a meaning in it, so its members that are null must stay. */
	while (text.len > 0 && text.data[text.len - 1] != '}')
		text.len--;
	text.len -= text.len > 0;
	add_json(out, &text);
	buf_adds(out, ",\"recommend\": ");
	if (r->recommend->len)
		add_json(out, r->recommend);
	else
		buf_adds(out, "null");
	buf_adds(out, "}\n");
	out->full = out->full || text.full;
}

static void add_body(struct buf *out, const struct report *r)
{
	json_t *series = json_loadb(buf_text(r->series), r->series->len, 0, NULL);
	json_t *advice = json_loadb(buf_text(r->recommend), r->recommend->len, 0, NULL);

	buf_adds(out, "<body>\n<button class=\"skip\" id=\"skip\">Skip to the content</button>\n"
		      "<header class=\"bar\"><span class=\"home\">rightsize-exporter</span><span "
		      "class=\"spacer\"></span><button id=\"theme\">Dark</button></header>\n"
		      "<main id=\"main\" tabindex=\"-1\">\n");
	report_still_add(out, r->as_of, series, advice);
	buf_adds(out, "</main>\n<script type=\"application/json\" id=\"data\">\n");
	add_data(out, r, series);
	buf_adds(out, "</script>\n<script>");
	page_add(out, &page_report_script);
	buf_adds(out, "</script>\n</body>\n</html>\n");
	json_decref(series);
	json_decref(advice);
}

void report_write(struct buf *out, const struct report *r)
{
	add_head(out, r->title);
	add_body(out, r);
}
