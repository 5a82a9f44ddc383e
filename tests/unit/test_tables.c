/* All tables of metrics are checked against the rules of collectors/metric.h. */
#include "tests/unit/test_main.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/collector.h"
#include "exporter/sampling/enabled_collectors.h"
#include "exporter/site/exposition.h"

#define FAMILIES_MAX 1000

/* The units of OpenMetrics and our additional ones. */
static const char *const units[] = {"seconds", "bytes", "ratio", "cores", "celsius", "watts", "usd",
	"joules", "volts", "amperes", "hertz", "meters", "grams"};

/* The exposition adds these suffixes, or a parser reads them as part of another type. */
static const char *const reserved_suffixes[] = {
	"_total", "_info", "_created", "_bucket", "_count", "_sum"};

/* Prometheus sets these labels, or a user's scrape configuration probably does. */
static const char *const reserved_labels[] = {"job", "instance", "le", "quantile", "__name__"};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), len = strlen(end);

	return n >= len && strcmp(s + n - len, end) == 0;
}

static bool is_one_of(const char *s, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(s, list[i]) == 0)
			return true;
	return false;
}

/* Returns true for [a-z][a-z0-9_]* with words separated by single underscores. */
static bool legal_name(const char *s)
{
	if (!s || s[0] < 'a' || s[0] > 'z' || ends_with(s, "_") || strstr(s, "__"))
		return false;
	return s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static const char *unit_fault(const struct metric *m)
{
	char suffix[64];

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		snprintf(suffix, sizeof suffix, "_%s", units[i]);
		if (ends_with(m->name, suffix) && (!m->unit || strcmp(m->unit, units[i]) != 0))
			return "the name ends in a unit that the row does not have";
	}
	if (!m->unit)
		return NULL;
	if (!is_one_of(m->unit, units, ARRAY_LEN(units)))
		return "the unit is no base unit";
	snprintf(suffix, sizeof suffix, "_%s", m->unit);
	if (!ends_with(m->name, suffix))
		return "the name does not end in the unit";
	return m->type == METRIC_INFO ? "an info metric has no unit" : NULL;
}

static const char *label_fault(const struct metric *m)
{
	size_t n = 0;

	while (n < METRIC_LABELS_MAX && m->labels[n])
		n++;
	for (size_t i = n; i < METRIC_LABELS_MAX; i++)
		if (m->labels[i])
			return "there is a gap between the labels";
	for (size_t i = 0; i < n; i++) {
		if (!legal_name(m->labels[i]))
			return "a label name is not legal";
		if (is_one_of(m->labels[i], reserved_labels, ARRAY_LEN(reserved_labels)))
			return "a label name is reserved";
		if (is_one_of(m->labels[i], m->labels, i))
			return "two labels have the same name";
	}
	return m->type == METRIC_INFO && n == 0 ? "an info metric without labels says nothing" :
						  NULL;
}

static const char *help_fault(const struct metric *m)
{
	if (!m->help || !m->help[0])
		return "there is no help";
	if (strpbrk(m->help, "\n\r\\"))
		return "the help is more than one line of plain text";
	if (ends_with(m->help, ".") || strstr(m->help, ". "))
		return "the help is not one sentence without a full stop";
	return m->help[0] >= 'a' && m->help[0] <= 'z' ? "the help begins with a small letter" :
							NULL;
}

static const char *fold_fault(const struct metric *m)
{
	if (m->fold == FOLD_NONE)
		return m->column ? "a column that is never filled" : NULL;
	if (!legal_name(m->column))
		return "the history column has no legal name";
	if (m->type == METRIC_INFO)
		return "an info metric cannot be kept";
	if (m->fold == FOLD_DELTA && m->type != METRIC_COUNTER)
		return "only a counter has growth";
	if (m->fold == FOLD_VALUE && m->type != METRIC_GAUGE)
		return "only a gauge has a value of its own";
	return NULL;
}

/* Client libraries of Prometheus use the prefix process_ for metrics of their own process. */
static bool legal_prefix(const char *name)
{
	return strncmp(name, "rightsize_", 10) == 0 || strncmp(name, "process_", 8) == 0;
}

static const char *row_fault(const struct metric *m)
{
	const char *fault;

	if (!m->name || !legal_prefix(m->name) || !legal_name(m->name))
		return "the name is not legal, or has another prefix than rightsize_ and process_";
	for (size_t i = 0; i < ARRAY_LEN(reserved_suffixes); i++)
		if (ends_with(m->name, reserved_suffixes[i]))
			return "the suffix of the name is reserved";
	if ((fault = unit_fault(m)) || (fault = label_fault(m)) || (fault = help_fault(m)))
		return fault;
	return fold_fault(m);
}

static size_t add_rows(const struct metric *ret[FAMILIES_MAX], size_t n, const struct metric *rows,
	size_t more)
{
	assert_true(n + more <= FAMILIES_MAX);
	for (size_t i = 0; i < more; i++)
		ret[n++] = &rows[i];
	return n;
}

/* Returns the rows of all collectors in order, then the exporter's own. */
static size_t all_rows(const struct metric *ret[FAMILIES_MAX])
{
	static const struct collector *const *const lists[] = {
		all_collectors, enabled_collectors_own};
	size_t n = 0;

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; lists[k][i]; i++)
			n = add_rows(ret, n, lists[k][i]->metrics, lists[k][i]->n_metrics);
	return add_rows(ret, n, exposition_health, HEALTH_N_METRICS);
}

static void every_row_keeps_the_rules(void **state)
{
	const struct metric *row[FAMILIES_MAX];
	size_t n = all_rows(row);

	assert_true(n > 50);
	for (size_t i = 0; i < n; i++) {
		const char *fault = row_fault(row[i]);

		if (fault)
			fail_msg("%s: %s", row[i]->name ? row[i]->name : "a row without name",
				fault);
	}
}

static void families_and_columns_are_unique(void **state)
{
	const struct metric *row[FAMILIES_MAX];
	size_t n = all_rows(row);

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			if (strcmp(row[i]->name, row[j]->name) == 0)
				fail_msg(
					"two rows of collectors have the name %s: \"%s\" and \"%s\"",
					row[i]->name, row[i]->help, row[j]->help);
			if (row[i]->column && row[j]->column &&
				strcmp(row[i]->column, row[j]->column) == 0)
				fail_msg("two metrics fill the column %s", row[i]->column);
		}
}

static void every_collector_can_run_and_has_help(void **state)
{
	for (size_t i = 0; all_collectors[i]; i++) {
		const struct collector *c = all_collectors[i];

		if (!legal_name(c->name) || !c->collect || !c->n_metrics || !c->metrics)
			fail_msg("collector %zu (%s) is incomplete", i,
				c->name ? c->name : "no name");
		if (!c->help || !c->help[0] || ends_with(c->help, "."))
			fail_msg("collector %s has no help, or a full stop after it", c->name);
		for (size_t j = 0; j < i; j++)
			if (strcmp(c->name, all_collectors[j]->name) == 0)
				fail_msg("two collectors are called %s", c->name);
	}
}

/* The columns that resource-tracker records for a machine, with the names that they have in this
 * program. */
static void the_history_has_the_system_columns(void **state)
{
	static const struct {
		const char *column;
		enum metric_fold fold;
	} columns[] = {
		{"system_processes", FOLD_VALUE},
		{"system_cpu_user_seconds", FOLD_DELTA},
		{"system_cpu_system_seconds", FOLD_DELTA},
		{"system_cpu_usage_cores", FOLD_VALUE},
		{"system_memory_free_bytes", FOLD_VALUE},
		{"system_memory_used_bytes", FOLD_VALUE},
		{"system_memory_buffers_bytes", FOLD_VALUE},
		{"system_memory_cached_bytes", FOLD_VALUE},
		{"system_memory_active_bytes", FOLD_VALUE},
		{"system_memory_inactive_bytes", FOLD_VALUE},
		{"system_disk_read_bytes", FOLD_DELTA},
		{"system_disk_written_bytes", FOLD_DELTA},
		{"system_disk_space_total_bytes", FOLD_VALUE},
		{"system_disk_space_used_bytes", FOLD_VALUE},
		{"system_disk_space_free_bytes", FOLD_VALUE},
		{"system_network_received_bytes", FOLD_DELTA},
		{"system_network_sent_bytes", FOLD_DELTA},
	};
	const struct metric *row[FAMILIES_MAX];
	size_t n = all_rows(row);

	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		bool found = false;

		for (size_t j = 0; j < n; j++)
			found = found || (row[j]->column && row[j]->fold == columns[i].fold &&
						 strcmp(row[j]->column, columns[i].column) == 0);
		if (!found)
			fail_msg("no metric fills the column %s", columns[i].column);
	}
}

/* A test of the check itself: each bad row must be refused. */
static void a_row_that_breaks_a_rule_is_refused(void **state)
{
	static const struct metric good = {.name = "rightsize_x_bytes",
		.unit = "bytes",
		.help = "Size",
		.labels = {"device"},
		.type = METRIC_GAUGE,
		.fold = FOLD_VALUE,
		.column = "x_bytes"};
	static const struct metric bad[] = {
		{.help = "No name"},
		{.name = "node_x", .help = "Prefix"},
		{.name = "rightsize_X", .help = "Capital"},
		{.name = "rightsize_x_", .help = "Underscore"},
		{.name = "rightsize__x", .help = "Underscores"},
		{.name = "rightsize_x_total", .help = "Reserved"},
		{.name = "rightsize_x_count", .help = "Reserved"},
		{.name = "rightsize_x_bytes", .help = "Unit not declared"},
		{.name = "rightsize_x", .unit = "bytes", .help = "Unit not in the name"},
		{.name = "rightsize_x_kilobytes", .unit = "kilobytes", .help = "No base unit"},
		{.name = "rightsize_x"},
		{.name = "rightsize_x", .help = "Ends in a full stop."},
		{.name = "rightsize_x", .help = "Two\nlines"},
		{.name = "rightsize_x", .help = "Label", .labels = {"job"}},
		{.name = "rightsize_x", .help = "Label", .labels = {"a-b"}},
		{.name = "rightsize_x", .help = "Label", .labels = {"a", "a"}},
		{.name = "rightsize_x", .help = "Label", .labels = {"a", NULL, "b"}},
		{.name = "rightsize_x", .help = "No labels", .type = METRIC_INFO},
		{.name = "rightsize_x", .help = "Column", .column = "x"},
		{.name = "rightsize_x", .help = "Column", .fold = FOLD_VALUE},
		{.name = "rightsize_x", .help = "Gauge", .fold = FOLD_DELTA, .column = "x"},
		{.name = "rightsize_x",
			.help = "Counter",
			.type = METRIC_COUNTER,
			.fold = FOLD_VALUE,
			.column = "x"},
	};

	assert_null(row_fault(&good));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (!row_fault(&bad[i]))
			fail_msg("bad row %zu (%s) was accepted", i, bad[i].help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_keeps_the_rules),
		cmocka_unit_test(families_and_columns_are_unique),
		cmocka_unit_test(every_collector_can_run_and_has_help),
		cmocka_unit_test(the_history_has_the_system_columns),
		cmocka_unit_test(a_row_that_breaks_a_rule_is_refused),
	};

	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
