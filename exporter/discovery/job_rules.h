/*
 * Rules of the site for which process is a run of which job: a YAML file (--jobs.rules), of which the first rule that
 * matches wins.
 *
 *	rules:
 *	  - name: nightly                       # for the log and for rules test
 *	    command_line: 'run\.py (?<flow>\w+) --step (?<step>\w+)'
 *	    user: '^batch$'
 *	    environment: {STAGE: '^production$'}
 *	    job_name: '{flow}/{step}'
 *	    labels: {flow: '{flow}'}
 *	  - executable: '/(bash|sshd)$'
 *	    ignore: true                        # no job, whatever its environment says
 *
 * Conditions are regular expressions (PCRE2) that must all be found: command_line (arguments with a blank in between),
 * executable, working_directory, cgroup, container (its id), user (name, else number), and variables of the
 * environment. Their named groups fill the names in braces; dates and ids at the end of what they found are taken off.
 *
 * A pattern that takes too many steps on a text does not match it, and is counted (struct rule_finding.gave_up).
 * Immutable after it was read; for several threads.
 */
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

/* What is wrong with it: "FILE:LINE: ", and what is accepted. */
int job_rules_parse(struct job_rules **ret, const char *file, const char *text, size_t len,
	struct err *e);
int job_rules_read(struct job_rules **ret, const char *file, struct err *e);
void job_rules_free(struct job_rules *r); /* NULL does nothing */

/* Bits of enum fact that its conditions look at. */
unsigned job_rules_facts(const struct job_rules *r);
size_t job_rules_count(const struct job_rules *r);

struct rule_finding {
	size_t rule;          /* from 0 */
	bool ignored;         /* the rule says that it is no job */
	struct recognised is; /* else */
	unsigned gave_up;     /* patterns that took too long, of all that were tried */
};

/* False when no rule matches; gave_up is filled in then, too. explain: a line for each rule that was tried, or NULL. */
bool job_rules_match(const struct job_rules *r, const struct process_facts *facts,
	struct rule_finding *ret, struct buf *explain);

/* Is this variable looked at by a rule? */
bool job_rules_reads(const struct job_rules *r, struct slice variable);

/* "rule 2 (line 9, nightly)". */
void job_rules_name(const struct job_rules *r, size_t rule, struct buf *out);

#endif
