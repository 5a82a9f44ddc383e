/* What reading rules and matching them share. */
#ifndef EXPORTER_JOB_RULES_PRIVATE_H
#define EXPORTER_JOB_RULES_PRIVATE_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "collectors/base/mem.h"
#include "exporter/discovery/rules.h"

enum condition_kind {
	CONDITION_COMMAND_LINE,
	CONDITION_EXECUTABLE,
	CONDITION_WORKING_DIRECTORY,
	CONDITION_CGROUP,
	CONDITION_CONTAINER,
	CONDITION_USER,
	CONDITION_VARIABLE,
};

struct condition {
	enum condition_kind kind;
	const char *variable;
	pcre2_code *code;
};

struct rule_label {
	const char *name, *value;
};

struct rule {
	size_t line;
	const char *name, *job_name, *run, *attempt; /* NULL when not given */
	bool ignore;
	size_t n;
	struct condition condition[RULE_CONDITIONS_MAX];
	size_t n_labels;
	struct rule_label label[JOB_LABELS_MAX];
};

struct job_rules {
	struct arena arena;
	size_t n;
	struct rule *rule[JOB_RULES_MAX];
};

/* The key of a condition in the file. */
const char *condition_name(enum condition_kind kind);

#endif
