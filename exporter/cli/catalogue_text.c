/* Tables of text. */
#include "exporter/cli/catalogue_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"

static void add_age(struct buf *out, double seconds)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {0, "seconds"}};

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (seconds >= 2 * units[i].seconds || units[i].seconds == 0) {
			buf_addf(out, "%.0f %s",
				units[i].seconds > 0 ? seconds / units[i].seconds :
						       fmax(seconds, 0),
				units[i].name);
			return;
		}
}

static void add_vendor(struct buf *out, const struct catalogue *c, size_t vendor)
{
	size_t servers = 0, active = 0, priced = 0, scored = 0, prices = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct server *s = &c->server[i];

		if (s->vendor != vendor)
			continue;
		servers++;
		active += s->active;
		priced += s->n_prices > 0;
		scored += isnan(s->score) ? 0 : 1;
		prices += s->n_prices;
	}
	buf_addf(out, "%-12s %8zu %8zu %8zu %8zu %9zu\n", c->vendor[vendor].vendor_id, servers,
		active, priced, scored, prices);
}

void catalogue_info(struct buf *out, const struct catalogue *c, double age_seconds)
{
	buf_addf(out, "source      %s\n", c->source);
	if (*c->note)
		buf_addf(out, "data from   %s\n", c->note);
	buf_addf(out, "as of       %s\n", *c->as_of ? c->as_of : "not known");
	if (!isnan(age_seconds)) {
		buf_adds(out, "fetched     ");
		add_age(out, age_seconds);
		buf_adds(out, " ago\n");
	}
	buf_addf(out,
		"holds       %zu servers, %zu prices, %zu regions, %zu benchmarks in %.1f MiB\n",
		c->n, c->n_prices, c->n_regions - 1, c->n_benchmarks, (double)c->bytes / 1048576);
	buf_adds(out, "currencies ");
	for (size_t i = 0; i < c->n_currencies; i++)
		buf_addf(out, " %s%s", c->currency[i].code,
			isnan(c->currency[i].usd) ? " (no rate)" : "");
	buf_addf(out, "\n\n%-12s %8s %8s %8s %8s %9s\n", "vendor", "servers", "active", "priced",
		"scored", "prices");
	for (size_t i = 0; i < c->n_vendors; i++)
		add_vendor(out, c, i);
}

static bool contains(const struct server *s, const char *text)
{
	return strcasestr(s->server_id, text) || strcasestr(s->api_reference, text) ||
	       strcasestr(s->display_name, text) || strcasestr(s->family, text);
}

struct found {
	const struct server *server;
	double usd; /* per hour; NaN = not known */
};

/* By price, unknown ones last; then as in the catalogue. */
static int by_price(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (isnan(a->usd) || isnan(b->usd)) {
		if (!isnan(a->usd) || !isnan(b->usd))
			return isnan(a->usd) ? 1 : -1;
	} else if (a->usd < b->usd || a->usd > b->usd) {
		return a->usd < b->usd ? -1 : 1;
	}
	return (a->server > b->server) - (a->server < b->server);
}

static double usd_of(const struct catalogue *c, const struct server *s)
{
	const struct currency *currency = catalogue_currency(c, s->currency);

	return currency ? s->min_price_ondemand * currency->usd : (double)NAN;
}

static void add_number(struct buf *out, int width, double v)
{
	char text[DOUBLE_TEXT_MAX];

	double_text(text, v);
	buf_addf(out, " %*s", width, isnan(v) ? "-" : text);
}

static void add_server(struct buf *out, const struct server *s)
{
	buf_addf(out, "%-10s %-28s", s->vendor_id, s->display_name);
	add_number(out, 6, s->vcpus);
	add_number(out, 9, s->memory_amount);
	add_number(out, 5, s->gpu_count);
	buf_addf(out, " %-12s %-7s %-10s", *s->gpu_model ? s->gpu_model : "-",
		s->cpu_architecture ? architecture_name[s->cpu_architecture] : "-",
		s->cpu_allocation ? cpu_allocation_name[s->cpu_allocation] : "-");
	add_number(out, 9, s->score);
	add_number(out, 10, s->min_price_ondemand);
	buf_addf(out, " %s %s\n", s->currency, *s->region_id ? s->region_id : "(lowest)");
}

size_t catalogue_search(struct buf *out, const struct catalogue *c, const char *text, size_t limit)
{
	AUTO(freep) struct found *found = xcalloc(c->n, sizeof *found);
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->server[i].active && contains(&c->server[i], text))
			found[n++] = (struct found){&c->server[i], usd_of(c, &c->server[i])};
	qsort(found, n, sizeof *found, by_price);
	buf_addf(out, "%-10s %-28s %6s %9s %5s %-12s %-7s %-10s %9s %10s\n", "vendor", "server",
		"vCPUs", "MiB", "GPUs", "GPU", "arch", "CPU", "SCore", "per hour");
	for (size_t i = 0; i < n && i < limit; i++)
		add_server(out, found[i].server);
	return n;
}
