/* Rules of the site: a YAML file (--jobs.rules) that maps processes to jobs. The first rule that
 * matches wins.
 *
 * 	rules:
 * 	  - name: nightly                       # for the log and for rules test
 * 	    command_line: 'run\.py (?<flow>\w+) --step (?<step>\w+) --mem (?<mem>\w+)'
 * 	    user: '^batch$'
 * 	    environment: {STAGE: '^production$'}
 * 	    job_name: '{flow}/{step}'
 * 	    memory: '{mem}'                     # also cpu and input_bytes: collectors/base/quantity.h
 * 	    labels: {flow: '{flow}'}
 * 	  - executable: '/(bash|sshd)$'
 * 	    ignore: true                        # no job, even when its environment names one
 *
 * Conditions are regular expressions (PCRE2), and all must match: command_line (arguments joined by
 * spaces), executable, working_directory, cgroup, container (its id), user (name, else number), and
 * variables of the environment. Named groups fill the names in braces. In job_name, dates and ids
 * at the end of a group's text are dropped.
 *
 * A pattern that takes too many steps on a text does not match it (struct rule_finding.gave_up).
 * Immutable after reading; several threads may use it. */
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

/* -EINVAL: `e` names the file, line, mistake and accepted values. The caller frees *ret. */
int job_rules_parse(struct job_rules **ret, const char *file, const char *text, size_t len,
	struct err *e);
int job_rules_read(struct job_rules **ret, const char *file, struct err *e);
void job_rules_free(struct job_rules *r); /* NULL does nothing */

/* Returns the bits of enum fact that the conditions need. */
unsigned job_rules_facts(const struct job_rules *r);
size_t job_rules_count(const struct job_rules *r);

struct rule_finding {
	size_t rule;          /* index, from 0 */
	bool ignored;         /* the rule has ignore: true */
	struct recognised is; /* empty when ignored */
	unsigned gave_up;     /* number of patterns that exceeded the step limit */
};

/* Matches a process against the rules. Returns false when no rule matches or the job name is empty;
 * `gave_up` is set in both cases. `explain` may be NULL; it receives a line for each rule that does
 * not match. */
bool job_rules_match(const struct job_rules *r, const struct process_facts *facts,
	struct rule_finding *ret, struct buf *explain);

/* Returns true when a condition of any rule reads this variable. */
bool job_rules_reads(const struct job_rules *r, struct slice variable);

/* Appends the name of a rule, such as "rule 2 (line 9, nightly)". */
void job_rules_name(const struct job_rules *r, size_t rule, struct buf *out);

#endif
