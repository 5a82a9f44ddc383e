/* Servers and benchmarks of the catalogue, and the server that this machine is. */
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

static void add_server(struct grid *g, const json_t *server, size_t rank)
{
	const char *region = member_text(server, "region"),
		   *allocation = member_text(server, "allocation");
	double saving = member_number(server, "saving"), gpus = member_number(server, "gpu_count");
	struct buf b AUTO(buf_done) = BUF_MAX(256);

	buf_addf(&b, "%2zu  %s", rank, member_text(server, "api_reference"));
	grid_take(g, STYLE_PLAIN, &b);
	grid_add(g, STYLE_PLAIN, member_text(server, "vendor_id"));
	grid_add(g, STYLE_PLAIN, *region ? region : member_text(server, "region_id"));
	grid_add(g, STYLE_PLAIN, strcmp(allocation, "ondemand") == 0 ? "" : allocation);
	figure_short(&b, member_number(server, "vcpus"));
	grid_take(g, STYLE_PLAIN, &b);
	figure_bytes(&b, member_number(server, "memory_amount") * MIB);
	grid_take(g, STYLE_PLAIN, &b);
	if (gpus > 0) {
		figure_short(&b, gpus);
		buf_addf(&b, " %s", member_text(server, "gpu_model"));
	}
	grid_take(g, STYLE_PLAIN, &b);
	add_amount(g, member_number(server, "price"));
	if (!isnan(member_number(server, "forecast_duration_seconds")))
		figure_seconds(&b, member_number(server, "forecast_duration_seconds"));
	grid_take(g, STYLE_PLAIN, &b);
	add_amount(g, member_number(server, "forecast_cost"));
	if (!isnan(saving))
		figure_number(&b, saving);
	grid_take(g, saving > 0 ? STYLE_GOOD : STYLE_PLAIN, &b);
}

void show_servers(struct buf *out, const json_t *answer, const struct screen *s, bool explain)
{
	static const struct grid_column with_gpus[] = {{"    SERVER", false, 0, 24},
		{"VENDOR", false, 2}, {"REGION", false, 3}, {"", false, 4}, {"VCPUS", true, 0},
		{"MEMORY", true, 0}, {"GPUS", false, 1}, {"PRICE/HOUR", true, 0},
		{"DURATION", true, 5}, {"COST/RUN", true, 0}, {"SAVES/RUN", true, 0}};
	const json_t *servers = json_object_get(answer, "servers");
	AUTO(grid_freep) struct grid *g = grid_new(with_gpus, ARRAY_LEN(with_gpus));
	const json_t *first = json_array_get(servers, 0);
	struct buf head AUTO(buf_done) = BUF_MAX(1024);

	(void)explain;
	buf_addf(&head, "%.0f servers fit. First: %s.", member_number(answer, "servers_fitting"),
		member_text(first, "why"));
	paragraphs_text(out, s, buf_text(&head));
	buf_addc(out, '\n');
	for (size_t i = 0; i < json_array_size(servers); i++)
		add_server(g, json_array_get(servers, i), i + 1);
	if (first)
		grid_write(out, g, s);
	if (first)
		buf_addf(out, "\nPrices in %s; catalogue %s of %s.\n",
			member_text(first, "currency"),
			member_text(json_object_get(answer, "catalogue"), "source"),
			member_text(json_object_get(answer, "catalogue"), "as_of"));
	paragraphs_alternatives(out, answer, s);
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
