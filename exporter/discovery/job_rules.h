/* The site's rules: a YAML file (--jobs.rules) that maps processes to jobs. The first rule that
 * matches a process is used. Example:
 *
 * rules:
 * - name: nightly  # shown in the log and by "rules test"
 *   command_line: 'run\.py (?<flow>\w+) --step (?<step>\w+) --mem (?<mem>\w+)'
 *   user: '^batch$'
 *   environment: {STAGE: '^production$'}
 *   job_name: '{flow}/{step}'
 *   memory: '{mem}'  # cpu and input_bytes, too (quantity.h)
 *   labels: {flow: '{flow}'}
 * - executable: '/(bash|sshd)$'
 *   ignore: true  # no job, even if the environment names one
 *
 * Conditions are regular expressions (PCRE2): command_line (arguments joined by spaces),
 * executable, working_directory, cgroup, container (its id), user (the user's name, or the number
 * of a user without a name) and environment (one expression for each variable). A rule matches when
 * all its conditions match.
 *
 * A name in braces, such as {flow}, stands for the text that the named group (?<flow>...) matched.
 * In job_name, dates and ids at the end of this text are dropped.
 *
 * If a pattern needs too many steps or too much memory for a text, it is given up and counts as not
 * matching (rule_finding.gave_up). The rules never change after they were read, so several threads
 * may use them. */
#ifndef EXPORTER_DISCOVERY_JOB_RULES_H
#define EXPORTER_DISCOVERY_JOB_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "collectors/base/buf.h"
#include "collectors/base/err.h"
#include "collectors/process/facts.h"

#define JOB_RULES_MAX       256
#define RULE_CONDITIONS_MAX 16
#define RULE_PATTERN_MAX    1000

struct job_rules;

/* job_rules_parse reads the rules from `text`, and job_rules_read from the file `file`. Both return
 * -EINVAL if the rules have a mistake. `e` then names the file, the line, the mistake and the
 * accepted values. The caller frees `*ret` with job_rules_free. */
int job_rules_parse(struct job_rules **ret, const char *file, const char *text, size_t len,
	struct err *e);
int job_rules_read(struct job_rules **ret, const char *file, struct err *e);
void job_rules_free(struct job_rules *r); /* NULL does nothing */

/* Returns which facts about a process the conditions of the rules need, as bits of `enum fact`. */
unsigned job_rules_facts(const struct job_rules *r);
size_t job_rules_count(const struct job_rules *r);

struct rule_finding {
	size_t rule;          /* index of the rule that matched, from 0 */
	bool ignored;         /* the rule has ignore: true */
	struct recognised is; /* name and properties of the run; empty if `ignored` */
	/* number of patterns whose match was given up, mostly because it took too many steps */
	unsigned gave_up;
};

/* Matches a process against the rules. Returns false when no rule matches, or when the job name is
 * empty. Even then sets ret->gave_up. If `explain` is not NULL, appends to it why each rule before
 * the matching one does not match, a line for each. */
bool job_rules_match(const struct job_rules *r, const struct process_facts *facts,
	struct rule_finding *ret, struct buf *explain);

/* Returns true when a rule has a condition on this environment variable. */
bool job_rules_reads(const struct job_rules *r, struct slice variable);

/* Appends the name of a rule, such as "rule 2 (line 9, nightly)". */
void job_rules_name(const struct job_rules *r, size_t rule, struct buf *out);

#endif
