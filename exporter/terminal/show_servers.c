/* Tables of servers, of benchmarks, and of the server that runs this program. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/terminal/figures.h"
#include "exporter/terminal/grid.h"
#include "exporter/terminal/members.h"
#include "exporter/terminal/paragraphs.h"
#include "exporter/terminal/show.h"

static void add_amount(struct grid *g, double v)
{
	struct buf b AUTO(buf_done) = BUF_MAX(64);

	if (!isnan(v))
		figure_number(&b, v);
	grid_take(g, STYLE_PLAIN, &b);
}

/* Adds the cells of a server's row from the column REGION on. The server is a recommended one or
 * the current one. `cost` is the cost of a run. */
static void add_offer(struct grid *g, const json_t *server, const char *region, double cost,
	double saving)
{
	const char *allocation = member_text(server, "allocation");
	double gpus = member_number(server, "gpu_count"), seconds;
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	grid_add(g, STYLE_PLAIN, region);
	grid_add(g, STYLE_PLAIN, strcmp(allocation, "ondemand") == 0 ? "" : allocation);
	if (!isnan(member_number(server, "vcpus")))
		figure_short(&b, member_number(server, "vcpus"));
	grid_take(g, STYLE_PLAIN, &b);
	if (!isnan(member_number(server, "memory_amount")))
		figure_bytes(&b, member_number(server, "memory_amount") * MIB);
	grid_take(g, STYLE_PLAIN, &b);
	if (gpus > 0) {
		figure_short(&b, gpus);
		buf_addf(&b, " %s", member_text(server, "gpu_model"));
	}
	grid_take(g, STYLE_PLAIN, &b);
	add_amount(g, member_number(server, "price"));
	seconds = member_number(server, "forecast_duration_seconds");
	if (!isnan(seconds))
		figure_seconds(&b, seconds);
	grid_take(g, STYLE_PLAIN, &b);
	add_amount(g, cost);
	if (!isnan(saving))
		figure_number(&b, saving);
	grid_take(g, saving > 0 ? STYLE_GOOD : STYLE_PLAIN, &b);
}

static void add_server(struct grid *g, const json_t *server, size_t rank)
{
	const char *region = member_text(server, "region");
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	/* Put a "?" after the name of a server whose price is doubtful. */
	buf_addf(&b, "%3zu  %s%s", rank, member_text(server, "api_reference"),
		*member_text(server, "price_note") ? "?" : "");
	grid_take(g, STYLE_PLAIN, &b);
	grid_add(g, STYLE_PLAIN, member_text(server, "vendor_id"));
	add_offer(g, server, *region ? region : member_text(server, "region_id"),
		member_number(server, "forecast_cost"), member_number(server, "saving"));
}

/* Adds the row of the server on which the job runs now, for comparison. */
static void add_today(struct grid *g, const json_t *today)
{
	const json_t *server = json_object_get(today, "server");
	const char *priced = member_text(server, "priced_in_region");
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	if (!*member_text(server, "api_reference"))
		return;
	buf_addf(&b, "now  %s", member_text(server, "api_reference"));
	grid_take(g, STYLE_BOLD, &b);
	grid_add(g, STYLE_PLAIN, member_text(server, "vendor_id"));
	add_offer(g, server, *priced ? priced : member_text(server, "region"),
		member_number(today, "cost_per_run"), NAN);
}

/* Explains the "?" after names of servers: writes each different note once, with the first server
 * to which it applies. */
static void add_doubts(struct buf *out, const json_t *servers, const struct screen *s)
{
	for (size_t i = 0; i < json_array_size(servers); i++) {
		const char *note = member_text(json_array_get(servers, i), "price_note");
		struct buf b AUTO(buf_done) = BUF_MAX(512);
		bool told = false;

		for (size_t k = 0; k < i; k++)
			told = told || strcmp(member_text(json_array_get(servers, k), "price_note"),
					       note) == 0;
		if (told || !*note)
			continue;
		buf_addf(&b, "? %s: %s.", member_text(json_array_get(servers, i), "api_reference"),
			note);
		paragraphs_text(out, s, buf_text(&b));
	}
}

/* Writes what the job must accept on each server, such as a restart. Servers with the same text
 * share a line, which begins with their ranks. */
static void add_asks(struct buf *out, const json_t *servers, const struct screen *s)
{
	size_t n = json_array_size(servers);

	for (size_t i = 0; i < n; i++) {
		const char *asks = member_text(json_array_get(servers, i), "asks");
		struct buf b AUTO(buf_done) = BUF_MAX(1024);
		bool told = false;

		for (size_t k = 0; k < n; k++) {
			if (strcmp(member_text(json_array_get(servers, k), "asks"), asks) != 0)
				continue;
			told = told || k < i;
			buf_addf(&b, "%s%zu", b.len ? ", " : "", k + 1);
		}
		if (told || !*asks)
			continue;
		buf_addf(&b, ": %s.", asks);
		paragraphs_text(out, s, buf_text(&b));
	}
}

static void add_servers(struct buf *out, const json_t *answer, const struct screen *s)
{
	static const struct grid_column columns[] = {{"     SERVER", false, 0, 20},
		{"VENDOR", false, 1}, {"REGION", false, 2}, {"", false, 4}, {"VCPUS", true, 0},
		{"MEMORY", true, 0}, {"GPUS", false, 3}, {"PER HOUR", true, 0},
		{"DURATION", true, 5}, {"PER RUN", true, 0}, {"SAVES", true, 0}};
	const json_t *servers = json_object_get(answer, "servers");
	AUTO(grid_freep) struct grid *g = grid_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < json_array_size(servers); i++)
		add_server(g, json_array_get(servers, i), i + 1);
	add_today(g, json_object_get(answer, "today"));
	grid_write(out, g, s);
	buf_addc(out, '\n');
	paragraphs_prices(out, answer, s, member_text(json_array_get(servers, 0), "currency"));
	add_asks(out, servers, s);
	add_doubts(out, servers, s);
}

void show_servers(struct buf *out, const json_t *answer, const struct screen *s, bool explain)
{
	double fitting = member_number(answer, "servers_fitting");

	(void)explain;
	if (fitting > 0) {
		buf_addf(out, "%.0f server%s. %s\n\n", fitting, fitting > 1 ? "s fit" : " fits",
			member_text(answer, "order"));
		add_servers(out, answer, s);
	} else {
		buf_adds(out, isnan(fitting) ? "It is not known which servers fit.\n" :
					       "No server fits.\n");
	}
	paragraphs_alternatives(out, answer, s, SIZE_MAX);
	paragraphs_notes(out, answer, s);
}

void show_benchmarks(struct buf *out, const json_t *answer, const struct screen *s, bool explain)
{
	static const struct grid_column columns[] = {{"BENCHMARK", false, 0, 24},
		{"NAME", false, 1}, {"CATEGORY", false, 2}, {"UNIT", false, 3},
		{"BETTER", false, 4}, {"SERVERS", true, 0}};
	AUTO(grid_freep) struct grid *g = grid_new(columns, ARRAY_LEN(columns));
	const json_t *one;
	size_t i;

	(void)explain;
	json_array_foreach(json_object_get(answer, "benchmarks"), i, one)
	{
		char servers[32];

		grid_add(g, STYLE_PLAIN, member_text(one, "benchmark_id"));
		grid_add(g, STYLE_PLAIN, member_text(one, "name"));
		grid_add(g, STYLE_PLAIN, member_text(one, "category"));
		grid_add(g, STYLE_PLAIN, member_text(one, "unit"));
		grid_add(g, STYLE_PLAIN,
			json_is_true(json_object_get(one, "higher_is_better")) ? "higher" :
										 "lower");
		snprintf(servers, sizeof servers, "%.0f", member_number(one, "servers"));
		grid_add(g, STYLE_PLAIN, servers);
	}
	grid_write(out, g, s);
}

void show_server(struct buf *out, const json_t *answer, const struct screen *s, bool explain)
{
	static const struct {
		const char *key, *name;
	} rows[] = {{"host", "Host"}, {"vendor_id", "Vendor"}, {"instance_type", "Type"},
		{"region", "Region"}, {"zone", "Zone"}, {"allocation", "Allocation"},
		{"source", "Known from"}};

	(void)explain;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *value = member_text(answer, rows[i].key);

		buf_addf(out, "%-10s  ", rows[i].name);
		screen_text(out, s, STYLE_PLAIN, *value ? value : "?");
		buf_addc(out, '\n');
	}
	if (!*member_text(answer, "instance_type"))
		buf_adds(out, "Set --server.vendor and --server.type, and answers can compare with "
			      "this server.\n");
}
