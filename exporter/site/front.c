/* Serves the front page and the files that it loads. */
#include "exporter/site/site_state.h"

#include <string.h>

#include "exporter/text/html.h"
#include "exporter/site/page.h"

/* Appends the start of a link. Links are relative, because a proxy may serve the page below any
 * path. */
static void begin_link(struct buf *out, const char *path)
{
	buf_adds(out, "<li><a href=\"");
	html_add(out, path + 1);
	buf_adds(out, "\"");
}

static void end_link(struct buf *out, const char *path, const char *help)
{
	buf_addc(out, '>');
	html_add(out, path);
	buf_adds(out, "</a> ");
	html_add(out, help);
	buf_adds(out, "</li>\n");
}

static void add_link(struct buf *out, const char *path, const char *help)
{
	begin_link(out, path);
	end_link(out, path, help);
}

/* Adds the link of a route. The attribute data-formats lists the route's formats for the page's
 * script. */
static void add_route(struct buf *out, const struct route *route)
{
	const struct parameter *format = route_parameter_find(route->parameters, "format");

	begin_link(out, route->path);
	if (format && format->kind == PARAMETER_CHOICE) {
		buf_adds(out, " data-formats=\"");
		for (size_t i = 0; format->choice(i); i++) {
			buf_adds(out, i ? " " : "");
			html_add(out, format->choice(i));
		}
		buf_adds(out, "\"");
	}
	end_link(out, route->path, route->help);
}

/* Adds the link to Grafana. The script of the page finds this link by its id, and makes links from
 * jobs and runs to their dashboards. */
static void add_grafana(struct buf *out, const char *url)
{
	buf_adds(out, "<li><a id=\"grafana\" href=\"");
	html_add(out, url);
	buf_adds(out, "\">Grafana</a> Dashboards of jobs and machines</li>\n");
}

/* Adds the link to the metrics. The script of the page finds this link by its id, because
 * --web.telemetry-path may change the path. */
static void add_metrics(struct buf *out, const char *path)
{
	buf_adds(out, "<li><a id=\"metrics\" href=\"");
	html_add(out, path + 1);
	buf_adds(out, "\"");
	end_link(out, path, site_metrics_about.help);
}

static void add_links(struct buf *out, const struct site *s)
{
	if (s->app->options->grafana_url)
		add_grafana(out, s->app->options->grafana_url);
	add_metrics(out, s->app->options->telemetry_path);
	for (const struct route *const *route = all_routes; *route; route++)
		add_route(out, *route);
	for (const struct site_page *p = s->pages + 1; p->about; p++)
		add_link(out, p->about->path, p->about->help);
}

void site_front(struct site *s, const struct http_request *request, struct request_target *t,
	struct http_answer *ret)
{
	struct reply r = {.content_type = "text/html; charset=utf-8", .body = BUF_MAX(65536)};
	struct buf page AUTO(buf_done) = BUF_MAX(65536);

	(void)request;
	(void)t;
	page_add(&page, &page_html);
	const char *text = buf_text(&page), *mark = strstr(text, PAGE_MARK);

	buf_add(&r.body, text, mark ? (size_t)(mark - text) : page.len);
	if (mark) {
		add_links(&r.body, s);
		buf_adds(&r.body, mark + strlen(PAGE_MARK));
	}
	ret->policy = PAGE_POLICY;
	site_reply(ret, &r);
}

/* Returns true when the client already has this version of the file. If-None-Match is a list of
 * tags, or "*" (RFC 9110, 13.1.2). strstr cannot match a part of a tag, because the tags include
 * their quotes. */
static bool has_it(const struct http_request *r, const struct page_asset *a)
{
	return r->if_none_match &&
	       (strstr(r->if_none_match, a->etag) || strcmp(r->if_none_match, "*") == 0);
}

bool site_file(struct site *s, const struct http_request *r, struct request_target *t,
	struct http_answer *ret)
{
	const struct page_file *f = page_find(t->path);

	if (!f)
		return false;
	const struct page_asset *a = f->asset;
	bool gzip = !s->app->options->disable_compression && negotiate_gzip(r->accept_encoding);
	struct reply reply = {.content_type = f->content_type, .body = BUF_MAX(REPLY_BODY_MAX)};

	if (has_it(r, a))
		reply.status = 304;
	else if (gzip)
		buf_add(&reply.body, a->gzip, a->gzip_size);
	else
		page_add(&reply.body, a);
	ret->handler = f->path;
	ret->negotiated = true;
	ret->etag = a->etag;
	ret->policy = PAGE_POLICY;
	site_reply(ret, &reply);
	ret->body->gzip = gzip && ret->status == 200;
	return true;
}
