/* Reading the rules of the site. */
#include "exporter/discovery/rules_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/file.h"
#include "exporter/text/yaml_reader.h"

static const char *const condition_names[] = {
	[CONDITION_COMMAND_LINE] = "command_line",
	[CONDITION_EXECUTABLE] = "executable",
	[CONDITION_WORKING_DIRECTORY] = "working_directory",
	[CONDITION_CGROUP] = "cgroup",
	[CONDITION_CONTAINER] = "container",
	[CONDITION_USER] = "user",
	[CONDITION_VARIABLE] = "environment",
};

static const unsigned condition_facts[] = {
	[CONDITION_COMMAND_LINE] = 0,
	[CONDITION_EXECUTABLE] = FACT_EXECUTABLE,
	[CONDITION_WORKING_DIRECTORY] = FACT_WORKING_DIRECTORY,
	[CONDITION_CGROUP] = FACT_CGROUP,
	[CONDITION_CONTAINER] = FACT_CGROUP,
	[CONDITION_USER] = FACT_USER,
	[CONDITION_VARIABLE] = 0,
};

const char *condition_name(enum condition_kind kind)
{
	return condition_names[kind];
}

void job_rules_free(struct job_rules *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->rule[i]->n; k++)
			pcre2_code_free(r->rule[i]->condition[k].code);
	arena_done(&r->arena);
	free(r);
}

/* ---- one rule ---- */

static int add_condition(struct yaml *y, yaml_node_t *value, struct rule *rule,
	enum condition_kind kind, const char *variable, struct err *e)
{
	const char *pattern = "";
	PCRE2_SIZE offset;
	PCRE2_UCHAR why[120];
	int number, code = yaml_text(y, value, &pattern, e);

	if (code)
		return code;
	if (rule->n == RULE_CONDITIONS_MAX)
		return yaml_error(y, value, e, "a rule may have at most %d conditions",
			RULE_CONDITIONS_MAX);
	if (strlen(pattern) > RULE_PATTERN_MAX)
		return yaml_error(y, value, e, "a pattern may have at most %d bytes",
			RULE_PATTERN_MAX);
	pcre2_code *compiled = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
		PCRE2_NEVER_BACKSLASH_C | PCRE2_NEVER_UTF | PCRE2_DUPNAMES, &number, &offset, NULL);

	if (!compiled) {
		pcre2_get_error_message(number, why, sizeof why);
		return yaml_error(y, value, e, "%s: %s at character %zu of the pattern",
			variable ? variable : condition_names[kind], (const char *)why,
			(size_t)offset);
	}
	rule->condition[rule->n++] = (struct condition){kind, variable, compiled};
	return 0;
}

#define READ_CONDITION(function, kind)                                                             \
	static int function(struct yaml *y, yaml_node_t *value, void *into, struct err *e)         \
	{                                                                                          \
		return add_condition(y, value, into, kind, NULL, e);                               \
	}

READ_CONDITION(read_command_line, CONDITION_COMMAND_LINE)
READ_CONDITION(read_executable, CONDITION_EXECUTABLE)
READ_CONDITION(read_working_directory, CONDITION_WORKING_DIRECTORY)
READ_CONDITION(read_cgroup, CONDITION_CGROUP)
READ_CONDITION(read_container, CONDITION_CONTAINER)
READ_CONDITION(read_user, CONDITION_USER)

/* A mapping whose keys are names: each is called with its name and value. */
static int each_pair(struct yaml *y, yaml_node_t *node, const char *what,
	int (*each)(struct yaml *y, const char *name, yaml_node_t *value, struct rule *rule,
		struct err *e),
	struct rule *rule, struct err *e)
{
	if (node->type != YAML_MAPPING_NODE)
		return yaml_error(y, node, e, "%s must be keys with values (key: value)", what);
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
		p++) {
		const char *name = "";
		int code = yaml_text(y, yaml_node(y, p->key), &name, e);

		if (code == 0)
			code = each(y, name, yaml_node(y, p->value), rule, e);
		if (code)
			return code;
	}
	return 0;
}

static int read_variable(struct yaml *y, const char *name, yaml_node_t *value, struct rule *rule,
	struct err *e)
{
	return add_condition(y, value, rule, CONDITION_VARIABLE, name, e);
}

static int read_environment(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	return each_pair(y, value, "environment", read_variable, into, e);
}

static int read_label(struct yaml *y, const char *name, yaml_node_t *value, struct rule *rule,
	struct err *e)
{
	if (rule->n_labels == JOB_LABELS_MAX)
		return yaml_error(y, value, e, "a rule may have at most %d labels", JOB_LABELS_MAX);
	rule->label[rule->n_labels].name = name;
	return yaml_text(y, value, &rule->label[rule->n_labels++].value, e);
}

static int read_labels(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	return each_pair(y, value, "labels", read_label, into, e);
}

static const struct yaml_key rule_keys[] = {
	{"name", yaml_text, offsetof(struct rule, name)},
	{"command_line", read_command_line, 0},
	{"executable", read_executable, 0},
	{"working_directory", read_working_directory, 0},
	{"cgroup", read_cgroup, 0},
	{"container", read_container, 0},
	{"user", read_user, 0},
	{"environment", read_environment, 0},
	{"job_name", yaml_text, offsetof(struct rule, job_name)},
	{"run", yaml_text, offsetof(struct rule, run)},
	{"attempt", yaml_text, offsetof(struct rule, attempt)},
	{"labels", read_labels, 0},
	{"ignore", yaml_flag, offsetof(struct rule, ignore)},
	{0},
};

/* ---- checks of a whole rule ---- */

static bool has_group(const struct rule *rule, struct slice name)
{
	char text[RULE_PATTERN_MAX];

	slice_copy(name, text, sizeof text);
	for (size_t i = 0; i < rule->n; i++) {
		PCRE2_SPTR first, last;

		if (pcre2_substring_nametable_scan(rule->condition[i].code, (PCRE2_SPTR)text,
			    &first, &last) > 0)
			return true;
	}
	return false;
}

static void add_groups(const struct rule *rule, struct buf *out)
{
	for (size_t i = 0; i < rule->n; i++) {
		uint32_t n = 0, size = 0;
		PCRE2_SPTR table = NULL;

		pcre2_pattern_info(rule->condition[i].code, PCRE2_INFO_NAMECOUNT, &n);
		pcre2_pattern_info(rule->condition[i].code, PCRE2_INFO_NAMEENTRYSIZE, &size);
		pcre2_pattern_info(rule->condition[i].code, PCRE2_INFO_NAMETABLE, &table);
		for (uint32_t k = 0; k < n; k++)
			buf_addf(out, "%s%s", out->len ? ", " : "",
				(const char *)table + k * size + 2);
	}
}

static int check_template(struct yaml *y, yaml_node_t *node, const struct rule *rule,
	const char *text, struct err *e)
{
	struct buf known AUTO(buf_done) = BUF_MAX(400);
	struct slice before, name;

	if (!text)
		return 0;
	struct scan s = SCAN(text, strlen(text));

	while (scan_until(&s, '{', &before)) {
		if (!scan_until(&s, '}', &name))
			return yaml_error(y, node, e, "\"%.64s\": a { without its }", text);
		if (has_group(rule, name))
			continue;
		add_groups(rule, &known);
		return yaml_error(y, node, e,
			"\"%.64s\": {%.*s} is no named group, (?<%.*s>...), of this rule; there "
			"are: %s",
			text, (int)name.len, name.data, (int)name.len, name.data,
			known.len ? buf_text(&known) : "none");
	}
	return 0;
}

static int check_rule(struct yaml *y, yaml_node_t *node, const struct rule *rule, struct err *e)
{
	if (rule->n == 0)
		return yaml_error(y, node, e,
			"a rule needs a condition: command_line, executable, working_directory, "
			"cgroup, container, user or environment");
	if (!rule->job_name == !rule->ignore)
		return yaml_error(y, node, e, "a rule needs either job_name or ignore: true");
	if (rule->job_name && !rule->job_name[0])
		return yaml_error(y, node, e, "job_name is empty");
	int code = check_template(y, node, rule, rule->job_name, e);

	if (code == 0)
		code = check_template(y, node, rule, rule->run, e);
	if (code == 0)
		code = check_template(y, node, rule, rule->attempt, e);
	for (size_t i = 0; i < rule->n_labels && code == 0; i++)
		code = check_template(y, node, rule, rule->label[i].value, e);
	return code;
}

/* ---- the file ---- */

static int read_rule(struct yaml *y, yaml_node_t *node, struct job_rules *r, struct err *e)
{
	if (r->n == JOB_RULES_MAX)
		return yaml_error(y, node, e, "more than %d rules", JOB_RULES_MAX);
	/* In the list before it is whole, so that what it has is freed. */
	struct rule *rule = r->rule[r->n++] = arena_alloc(&r->arena, sizeof *rule);

	rule->line = node->start_mark.line + 1;
	if (node->type != YAML_MAPPING_NODE)
		return yaml_error(y, node, e, "a rule must be keys with values (key: value)");
	int code = yaml_mapping(y, node, "a rule", rule_keys, rule, e);

	return code ? code : check_rule(y, node, rule, e);
}

static int read_rules(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	int code = 0;

	if (value->type != YAML_SEQUENCE_NODE)
		return yaml_error(y, value, e, "rules must be a list");
	for (yaml_node_item_t *i = value->data.sequence.items.start;
		i < value->data.sequence.items.top && code == 0; i++)
		code = read_rule(y, yaml_node(y, *i), into, e);
	return code;
}

static const struct yaml_key file_keys[] = {{"rules", read_rules, 0}, {0}};

int job_rules_parse(struct job_rules **ret, const char *file, const char *text, size_t len,
	struct err *e)
{
	struct job_rules *r = xcalloc(1, sizeof *r);
	struct yaml y;
	int code = yaml_open(&y, file, text, len, &r->arena, e);

	if (code == 0) {
		code = yaml_mapping(&y, yaml_root(&y), "", file_keys, r, e);
		yaml_close(&y);
	}
	if (code) {
		job_rules_free(r);
		return code;
	}
	*ret = r;
	return 0;
}

int job_rules_read(struct job_rules **ret, const char *file, struct err *e)
{
	struct buf text AUTO(buf_done) = BUF_MAX(YAML_SIZE_MAX);
	int code = file_read(&text, file, e);

	return code ? code : job_rules_parse(ret, file, buf_text(&text), text.len, e);
}

unsigned job_rules_facts(const struct job_rules *r)
{
	unsigned facts = 0;

	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->rule[i]->n; k++)
			facts |= condition_facts[r->rule[i]->condition[k].kind];
	return facts;
}

size_t job_rules_count(const struct job_rules *r)
{
	return r->n;
}

bool job_rules_reads(const struct job_rules *r, struct slice variable)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->rule[i]->n; k++)
			if (r->rule[i]->condition[k].variable &&
				slice_is(variable, r->rule[i]->condition[k].variable))
				return true;
	return false;
}

void job_rules_name(const struct job_rules *r, size_t rule, struct buf *out)
{
	buf_addf(out, "rule %zu (line %zu%s%s)", rule + 1, r->rule[rule]->line,
		r->rule[rule]->name ? ", " : "", r->rule[rule]->name ? r->rule[rule]->name : "");
}
