#include "exporter/site/report.h"

#include <string.h>

#include "exporter/text/html.h"
#include "exporter/core/version.h"
#include "exporter/site/page.h"

/* Appends JSON, and escapes each "<". The JSON is inside a script element, and "</script>" in the
 * data would end that element. In JSON, "<" occurs only in strings. */
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
		page_script.sha256, page_style.sha256);
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

static void add_body(struct buf *out, const struct report_part *parts)
{
	buf_adds(out, "<body>\n<button class=\"skip\" id=\"skip\">Skip to the content</button>\n"
		      "<header class=\"bar\"><span class=\"home\">rightsize-exporter</span><span "
		      "class=\"spacer\"></span><button id=\"theme\" "
		      "class=\"quiet\">Dark</button></header>\n"
		      "<div id=\"notice\" role=\"status\" aria-live=\"polite\"></div>\n"
		      "<main id=\"main\" tabindex=\"-1\"><noscript><p>This report needs "
		      "JavaScript.</p></noscript></main>\n"
		      "<script type=\"application/json\" id=\"data\">\n{");
	for (const struct report_part *p = parts; p->name; p++) {
		buf_addf(out, p == parts ? "\"%s\": " : ", \"%s\": ", p->name);
		if (p->json->len)
			add_json(out, p->json);
		else
			buf_adds(out, "null");
	}
	buf_adds(out, "}\n</script>\n<script>");
	page_add(out, &page_script);
	buf_adds(out, "</script>\n</body>\n</html>\n");
}

void report_write(struct buf *out, const char *title, const struct report_part *parts)
{
	add_head(out, title);
	add_body(out, parts);
}
