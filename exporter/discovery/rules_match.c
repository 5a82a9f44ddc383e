/* Matching rules against a process. */
#include "exporter/discovery/rules_private.h"

#include <math.h>
#include <string.h>

#include "collectors/base/utf8.h"
#include "collectors/naming/stable_name.h"

/*
 * Steps of PCRE2 at one place of the text, and KiB of its heap. A pattern that backtracks without end is given up
 * after the first such place: some 0.1 ms. Texts are cut, as names stand at their beginning.
 */
#define MATCH_STEPS 5000
#define MATCH_HEAP  256
#define SUBJECT_MAX 4096
#define GROUPS_MAX  32

/* What the named groups of the rule at hand found. */
struct groups {
	size_t n;
	struct {
		const char *name;
		struct slice text;
	} group[GROUPS_MAX];
};

struct matching {
	const struct process_facts *facts;
	char command_line[SUBJECT_MAX];
	size_t command_line_len;
	pcre2_match_context *context;
	struct groups groups;
	unsigned gave_up;
};

/* ---- texts ---- */

static void join_arguments(struct matching *m)
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

/* data NULL: not known, which matches nothing. */
static struct slice subject(const struct matching *m, const struct condition *c)
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

static void take_groups(struct matching *m, const pcre2_code *code, pcre2_match_data *data,
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

		/* \K in a lookaround may put the end before the start. */
		if (at[2 * group] == PCRE2_UNSET || at[2 * group + 1] < at[2 * group])
			continue;
		m->groups.group[m->groups.n].name = (const char *)row + 2;
		m->groups.group[m->groups.n++].text = (struct slice){
			text.data + at[2 * group], at[2 * group + 1] - at[2 * group]};
	}
}

static bool is_met(struct matching *m, const struct condition *c)
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

/* The first condition that is not met; n when all are. */
static size_t try_rule(struct matching *m, const struct rule *rule)
{
	size_t i = 0;

	m->groups.n = 0;
	while (i < rule->n && is_met(m, &rule->condition[i]))
		i++;
	return i;
}

/* ---- names ---- */

static struct slice group(const struct groups *g, struct slice name)
{
	for (size_t i = 0; i < g->n; i++)
		if (slice_is(name, g->group[i].name) && g->group[i].text.len)
			return g->group[i].text;
	return (struct slice){"", 0};
}

/* Fills the braces, and makes the result fit to show. */
static void fill(const struct groups *g, const char *template, bool steady, char *out, size_t size)
{
	struct buf text AUTO(buf_done) = BUF_MAX(JOB_NAME_MAX * 16);
	struct scan s = SCAN(template, strlen(template));
	struct slice before, name;

	while (scan_until(&s, '{', &before) && scan_until(&s, '}', &name)) {
		struct slice value = group(g, name);

		if (steady)
			value = steady_name(value);
		buf_add(&text, before.data, before.len);
		buf_add(&text, value.data, value.len);
	}
	buf_add(&text, s.at, (size_t)(s.end - s.at));
	utf8_clean(buf_text(&text), text.len, out, size);
	for (char *c = out; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '_';
}

static double number(const char *text)
{
	struct scan s = SCAN(text, strlen(text));
	uint64_t v;

	return scan_u64(&s, &v) && scan_end(&s) ? (double)v : (double)NAN;
}

static void name_run(const struct rule *rule, const struct groups *g, struct recognised *r)
{
	char attempt[32] = "";

	*r = (struct recognised){
		.system = "rules",
		.attempt = NAN,
		.cpu_cores = NAN,
		.memory_bytes = NAN,
		.input_bytes = NAN,
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
	struct matching *m, struct buf *out)
{
	const struct condition *c = &r->rule[rule]->condition[condition];

	if (!out)
		return;
	buf_addc(out, '\t');
	job_rules_name(r, rule, out);
	buf_addf(out, ": %s%s%s %s\n", condition_name(c->kind), c->variable ? " " : "",
		c->variable ? c->variable : "",
		subject(m, c).len ? "does not match" : "is not known");
}

bool job_rules_match(const struct job_rules *r, const struct process_facts *facts,
	struct rule_finding *ret, struct buf *explain)
{
	struct matching m = {.facts = facts, .context = pcre2_match_context_create(NULL)};
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
	/* A name without any letter is none. */
	return rule < r->n && (ret->ignored || ret->is.job_name[0]);
}
