#include "exporter/discovery/job_rules.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <math.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/file.h"
#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/utf8.h"
#include "collectors/naming/stable_name.h"
#include "exporter/text/yaml.h"

/* PCRE2's match limit, about 0.1 ms of CPU time; a pattern that needs more does not match */
#define MATCH_STEPS 5000
#define MATCH_HEAP  256  /* limit on the memory of PCRE2, KiB */
#define SUBJECT_MAX 4096 /* patterns are matched only against this many first bytes of a text */
#define GROUPS_MAX  32

enum rule_condition_kind {
	CONDITION_COMMAND_LINE,
	CONDITION_EXECUTABLE,
	CONDITION_WORKING_DIRECTORY,
	CONDITION_CGROUP,
	CONDITION_CONTAINER,
	CONDITION_USER,
	CONDITION_VARIABLE,
};

struct rule_condition {
	enum rule_condition_kind kind;
	const char *variable;
	pcre2_code *code;
};

struct job_rule_label {
	const char *name, *value;
};

struct job_rule {
	size_t line;
	const char *name, *job_name, *run, *attempt; /* texts of the rule; NULL = not given */
	const char *cpu, *memory, *input_bytes;      /* texts such as "4 GiB"; NULL = not given */
	bool ignore;
	size_t n;
	struct rule_condition condition[RULE_CONDITIONS_MAX];
	size_t n_labels;
	struct job_rule_label label[JOB_LABELS_MAX];
};

struct job_rules {
	struct arena arena;
	size_t n;
	struct job_rule *rule[JOB_RULES_MAX];
};

static const struct {
	const char *name;
	unsigned facts; /* bits of enum fact: the facts that the condition needs */
} conditions[] = {
	[CONDITION_COMMAND_LINE] = {"command_line", 0},
	[CONDITION_EXECUTABLE] = {"executable", FACT_EXECUTABLE},
	[CONDITION_WORKING_DIRECTORY] = {"working_directory", FACT_WORKING_DIRECTORY},
	[CONDITION_CGROUP] = {"cgroup", FACT_CGROUP},
	[CONDITION_CONTAINER] = {"container", FACT_CGROUP},
	[CONDITION_USER] = {"user", FACT_USER},
	[CONDITION_VARIABLE] = {"environment", 0},
};

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

static int add_condition(struct yaml *y, yaml_node_t *value, struct job_rule *rule,
	enum rule_condition_kind kind, const char *variable, struct err *e)
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
			variable ? variable : conditions[kind].name, (const char *)why,
			(size_t)offset);
	}
	rule->condition[rule->n++] = (struct rule_condition){kind, variable, compiled};
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

/* Calls `each` for every name and value of a YAML mapping. */
static int each_pair(struct yaml *y, yaml_node_t *node, const char *subject,
	int (*each)(struct yaml *y, const char *name, yaml_node_t *value, struct job_rule *rule,
		struct err *e),
	struct job_rule *rule, struct err *e)
{
	if (node->type != YAML_MAPPING_NODE)
		return yaml_error(y, node, e, "%s must be keys with values (key: value)", subject);
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

static int read_variable(struct yaml *y, const char *name, yaml_node_t *value,
	struct job_rule *rule, struct err *e)
{
	return add_condition(y, value, rule, CONDITION_VARIABLE, name, e);
}

static int read_environment(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	return each_pair(y, value, "environment", read_variable, into, e);
}

static int read_label(struct yaml *y, const char *name, yaml_node_t *value, struct job_rule *rule,
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
	{"name", yaml_text, offsetof(struct job_rule, name)},
	{"command_line", read_command_line, 0},
	{"executable", read_executable, 0},
	{"working_directory", read_working_directory, 0},
	{"cgroup", read_cgroup, 0},
	{"container", read_container, 0},
	{"user", read_user, 0},
	{"environment", read_environment, 0},
	{"job_name", yaml_text, offsetof(struct job_rule, job_name)},
	{"run", yaml_text, offsetof(struct job_rule, run)},
	{"attempt", yaml_text, offsetof(struct job_rule, attempt)},
	{"cpu", yaml_text, offsetof(struct job_rule, cpu)},
	{"memory", yaml_text, offsetof(struct job_rule, memory)},
	{"input_bytes", yaml_text, offsetof(struct job_rule, input_bytes)},
	{"labels", read_labels, 0},
	{"ignore", yaml_flag, offsetof(struct job_rule, ignore)},
	{0},
};

/* ---- checks of a whole rule ---- */

static bool has_group(const struct job_rule *rule, struct slice name)
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

static void add_groups(const struct job_rule *rule, struct buf *out)
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

static int check_template(struct yaml *y, yaml_node_t *node, const struct job_rule *rule,
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

/* Checks a quantity of a rule, such as memory. If its text contains a {name}, the value becomes
 * known only when the rule matches a process, so only the {name} is checked. */
static int check_quantity(struct yaml *y, yaml_node_t *node, const struct job_rule *rule,
	const char *name, const char *text, enum quantity_of_run what, struct err *e)
{
	struct slice value = {text, text ? strlen(text) : 0};
	int code = check_template(y, node, rule, text, e);
	double v;

	if (code || !text || strchr(text, '{') ||
		quantity_of_run(what, value, QUANTITY_OF_PEOPLE, &v))
		return code;
	return yaml_error(y, node, e, "%s: \"%.64s\" is not accepted: give %s, from %g to %g", name,
		text,
		what == QUANTITY_RUN_CORES ? "cores such as " QUANTITY_CORES_EXAMPLES :
					     "bytes such as " QUANTITY_BYTES_EXAMPLES,
		quantity_bounds[what].least, quantity_bounds[what].most);
}

static int check_rule(struct yaml *y, yaml_node_t *node, const struct job_rule *rule, struct err *e)
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
	if (code == 0)
		code = check_quantity(y, node, rule, "cpu", rule->cpu, QUANTITY_RUN_CORES, e);
	if (code == 0)
		code = check_quantity(y, node, rule, "memory", rule->memory, QUANTITY_RUN_MEMORY,
			e);
	if (code == 0)
		code = check_quantity(y, node, rule, "input_bytes", rule->input_bytes,
			QUANTITY_RUN_INPUT, e);
	for (size_t i = 0; i < rule->n_labels && code == 0; i++)
		code = check_template(y, node, rule, rule->label[i].value, e);
	return code;
}

/* ---- the file ---- */

static int read_rule(struct yaml *y, yaml_node_t *node, struct job_rules *r, struct err *e)
{
	if (r->n == JOB_RULES_MAX)
		return yaml_error(y, node, e, "more than %d rules", JOB_RULES_MAX);
	/* Add the rule to the list before it is complete, so that job_rules_free also frees it
	 * after an error. */
	struct job_rule *rule = r->rule[r->n++] = arena_alloc(&r->arena, sizeof *rule);

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
			facts |= conditions[r->rule[i]->condition[k].kind].facts;
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

/* ---- matching ---- */

/* The named groups of the patterns of one rule, with the texts that they matched. */
struct rule_groups {
	size_t n;
	struct {
		const char *name;
		struct slice text;
	} group[GROUPS_MAX];
};

struct rule_matching {
	const struct process_facts *facts;
	char command_line[SUBJECT_MAX];
	size_t command_line_len;
	pcre2_match_context *context;
	struct rule_groups groups;
	unsigned gave_up;
};

/* ---- texts ---- */

static void join_arguments(struct rule_matching *m)
{
	struct slice s = m->facts->text.command_line;
	size_t n = s.len < SUBJECT_MAX ? s.len : SUBJECT_MAX;

	for (size_t i = 0; i < n; i++)
		m->command_line[i] = s.data[i] ? s.data[i] : ' ';
	while (n && m->command_line[n - 1] == ' ')
		n--;
	m->command_line_len = n;
}

static struct slice variable(const struct process_facts *f, const char *name)
{
	struct scan s = scan_slice(f->text.environment);
	size_t n = strlen(name);
	struct slice piece;

	while (!scan_end(&s)) {
		if (!scan_until(&s, '\0', &piece)) {
			piece = (struct slice){s.at, (size_t)(s.end - s.at)};
			s.at = s.end;
		}
		if (slice_starts(piece, name) && piece.len > n && piece.data[n] == '=')
			return (struct slice){piece.data + n + 1, piece.len - n - 1};
	}
	return (struct slice){NULL, 0};
}

/* Returns the text that a condition checks. If it is unknown, `data` is NULL, and no pattern
 * matches. */
static struct slice subject(const struct rule_matching *m, const struct rule_condition *c)
{
	const struct process_facts *f = m->facts;

	switch (c->kind) {
	case CONDITION_COMMAND_LINE:
		return (struct slice){m->command_line, m->command_line_len};
	case CONDITION_EXECUTABLE:
		return f->executable;
	case CONDITION_WORKING_DIRECTORY:
		return f->working_directory;
	case CONDITION_CGROUP:
		return f->cgroup;
	case CONDITION_CONTAINER:
		return (struct slice){f->container, strlen(f->container)};
	case CONDITION_USER:
		return (struct slice){f->user, strlen(f->user)};
	case CONDITION_VARIABLE:
		return c->variable ? variable(f, c->variable) : (struct slice){NULL, 0};
	}
	return (struct slice){NULL, 0};
}

/* ---- patterns ---- */

static void take_groups(struct rule_matching *m, const pcre2_code *code, pcre2_match_data *data,
	struct slice text)
{
	uint32_t n = 0, size = 0;
	PCRE2_SPTR table = NULL;
	PCRE2_SIZE *at = pcre2_get_ovector_pointer(data);

	pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &n);
	pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &size);
	pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &table);
	for (uint32_t i = 0; i < n && m->groups.n < GROUPS_MAX; i++) {
		const unsigned char *row = table + i * size;
		size_t group = (size_t)(row[0] << 8 | row[1]);

		/* Skip a group that ends before it starts. A pattern with \K in a lookaround can
		 * cause this. */
		if (at[2 * group] == PCRE2_UNSET || at[2 * group + 1] < at[2 * group])
			continue;
		m->groups.group[m->groups.n].name = (const char *)row + 2;
		m->groups.group[m->groups.n++].text = (struct slice){
			text.data + at[2 * group], at[2 * group + 1] - at[2 * group]};
	}
}

static bool is_met(struct rule_matching *m, const struct rule_condition *c)
{
	struct slice text = subject(m, c);

	if (!text.data)
		return false;
	if (text.len > SUBJECT_MAX)
		text.len = SUBJECT_MAX;
	pcre2_match_data *data = pcre2_match_data_create_from_pattern(c->code, NULL);
	int found = pcre2_match(c->code, (PCRE2_SPTR)text.data, text.len, 0, 0, data, m->context);

	if (found > 0)
		take_groups(m, c->code, data, text);
	pcre2_match_data_free(data);
	m->gave_up += found < 0 && found != PCRE2_ERROR_NOMATCH;
	return found > 0;
}

/* Returns the index of the first condition that does not match, or rule->n when all match. */
static size_t try_rule(struct rule_matching *m, const struct job_rule *rule)
{
	size_t i = 0;

	m->groups.n = 0;
	while (i < rule->n && is_met(m, &rule->condition[i]))
		i++;
	return i;
}

/* ---- names ---- */

static struct slice group(const struct rule_groups *g, struct slice name)
{
	for (size_t i = 0; i < g->n; i++)
		if (slice_is(name, g->group[i].name) && g->group[i].text.len)
			return g->group[i].text;
	return (struct slice){"", 0};
}

/* Writes `template` to `out`, with each {name} replaced by the text that the group of this name
 * matched. `steady`: true = dates and ids at the end of these texts are dropped. Control characters
 * become "_". */
static void fill(const struct rule_groups *g, const char *template, bool steady, char *out,
	size_t size)
{
	struct buf text AUTO(buf_done) = BUF_MAX(JOB_NAME_MAX * 16);
	struct scan s = SCAN(template, strlen(template));
	struct slice before, name;

	while (scan_until(&s, '{', &before) && scan_until(&s, '}', &name)) {
		struct slice value = group(g, name);

		if (steady)
			value = stable_name(value);
		buf_add(&text, before.data, before.len);
		buf_add(&text, value.data, value.len);
	}
	buf_add(&text, s.at, (size_t)(s.end - s.at));
	utf8_clean_plain(buf_text(&text), text.len, '_', out, size);
}

static double number(const char *text)
{
	struct scan s = SCAN(text, strlen(text));
	uint64_t v;

	return scan_u64(&s, &v) && scan_end(&s) ? (double)v : (double)NAN;
}

/* Replaces each {name} in a quantity and returns its value. Returns NaN when the rule does not give
 * the quantity, or when the text is not a quantity. */
static double quantity(const struct rule_groups *g, const char *template, enum quantity_of_run what)
{
	char text[64] = "";
	double ret = NAN;

	if (template)
		fill(g, template, false, text, sizeof text);
	quantity_of_run(what, (struct slice){text, strlen(text)}, QUANTITY_OF_PEOPLE, &ret);
	return ret;
}

static void name_run(const struct job_rule *rule, const struct rule_groups *g, struct recognised *r)
{
	char attempt[32] = "";

	*r = (struct recognised){
		.system = "rules",
		.attempt = NAN,
		.cpu_cores = quantity(g, rule->cpu, QUANTITY_RUN_CORES),
		.memory_bytes = quantity(g, rule->memory, QUANTITY_RUN_MEMORY),
		.input_bytes = quantity(g, rule->input_bytes, QUANTITY_RUN_INPUT),
	};
	fill(g, rule->job_name, true, r->job_name, sizeof r->job_name);
	if (rule->run)
		fill(g, rule->run, false, r->run, sizeof r->run);
	if (rule->attempt)
		fill(g, rule->attempt, false, attempt, sizeof attempt);
	r->attempt = number(attempt);
	for (size_t i = 0; i < rule->n_labels; i++) {
		text_copy(rule->label[i].name, r->label[i].name, LABEL_NAME_MAX);
		fill(g, rule->label[i].value, false, r->label[i].value, sizeof r->label[i].value);
	}
	r->n_labels = rule->n_labels;
}

static void explain_failure(const struct job_rules *r, size_t rule, size_t condition,
	struct rule_matching *m, struct buf *out)
{
	const struct rule_condition *c = &r->rule[rule]->condition[condition];

	if (!out)
		return;
	buf_addc(out, '\t');
	job_rules_name(r, rule, out);
	buf_addf(out, ": %s%s%s %s\n", conditions[c->kind].name, c->variable ? " " : "",
		c->variable ? c->variable : "",
		subject(m, c).len ? "does not match" : "is not known");
}

bool job_rules_match(const struct job_rules *r, const struct process_facts *facts,
	struct rule_finding *ret, struct buf *explain)
{
	struct rule_matching m = {.facts = facts, .context = pcre2_match_context_create(NULL)};
	size_t rule = 0, failed;

	pcre2_set_match_limit(m.context, MATCH_STEPS);
	pcre2_set_heap_limit(m.context, MATCH_HEAP);
	join_arguments(&m);
	for (; rule < r->n; rule++) {
		failed = try_rule(&m, r->rule[rule]);
		if (failed == r->rule[rule]->n)
			break;
		explain_failure(r, rule, failed, &m, explain);
	}
	*ret = (struct rule_finding){.rule = rule, .gave_up = m.gave_up};
	if (rule < r->n) {
		ret->ignored = r->rule[rule]->ignore;
		if (!ret->ignored)
			name_run(r->rule[rule], &m.groups, &ret->is);
	}
	pcre2_match_context_free(m.context);
	return rule < r->n && (ret->ignored || ret->is.job_name[0]);
}
