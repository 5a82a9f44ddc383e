/* bench_judge: options, traces, and the table of what can be judged. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "tests/bench/judge/judge.h"

static const struct subject {
	const char *flag; /* NULL = without a flag */
	void (*judge)(const struct sources *s, const struct judge_options *o);
} subjects[] = {
	{NULL, judge_rules},
	{"wide", judge_wide},
	{"falls", judge_falls},
	{"rises", judge_rises},
	{"false", judge_false_resets},
	{"censor", judge_censored},
	{"extrapolate", judge_extrapolation},
	{"rounding", judge_rounding},
};
#define SUBJECT      256 /* flags of subjects are SUBJECT + index */
#define COMMON_FLAGS 8

static int usage(void)
{
	fputs("usage: bench_judge [--wide] [--falls] [--rises] [--false] [--censor] "
	      "[--extrapolate] [--rounding]\n"
	      "                   [--input=announced|proxy|none] [--cap=RUNS] [--sources=NAME,...] "
	      "[--rules=PART]\n"
	      "                   [--alone | --late | --turns] [--csv] TRACE.csv...\n"
	      "  without one of the first seven: waste, failures, chances, ranges, levels of risk\n"
	      "  proxy: the announced input size, else the bytes read, which nobody knows before a "
	      "run\n"
	      "  alone: jobs do not learn from their neighbours; late: neighbours have had all their "
	      "runs before;\n"
	      "  turns: jobs ask one eighth after the other, and each eighth knows the runs of those "
	      "before it\n",
		stderr);
	return 2;
}

static bool parse_input(const char *name, enum input_mode *ret)
{
	static const char *const modes[] = {
		[INPUT_PROXY] = "proxy",
		[INPUT_ANNOUNCED] = "announced",
		[INPUT_NONE] = "none",
	};

	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (strcmp(modes[i], name) == 0) {
			*ret = (enum input_mode)i;
			return true;
		}
	return false;
}

static bool parse_option(int flag, const char *value, struct judge_options *o, unsigned *subject)
{
	struct scan s = SCAN(value ? value : "", value ? strlen(value) : 0);
	uint64_t n;

	switch (flag) {
	case 'c':
		if (!scan_u64(&s, &n) || !scan_end(&s))
			return false;
		o->cap = n;
		return true;
	case 'i':
		return parse_input(value, &o->input);
	case 's':
		o->sources = value;
		return true;
	case 'r':
		o->rules = value;
		return true;
	case 'v':
		return o->csv = true;
	case 'a':
		return o->alone = true;
	case 'l':
		return o->late = true;
	case 't':
		return o->turns = true;
	default:
		*subject |= 1u << (flag - SUBJECT);
		return flag >= SUBJECT;
	}
}

static bool parse_options(int argc, char **argv, struct judge_options *o, unsigned *subject)
{
	struct option flags[COMMON_FLAGS + ARRAY_LEN(subjects) + 1] = {
		{"cap", required_argument, NULL, 'c'},
		{"input", required_argument, NULL, 'i'},
		{"sources", required_argument, NULL, 's'},
		{"rules", required_argument, NULL, 'r'},
		{"csv", no_argument, NULL, 'v'},
		{"alone", no_argument, NULL, 'a'},
		{"late", no_argument, NULL, 'l'},
		{"turns", no_argument, NULL, 't'},
	};
	size_t n = COMMON_FLAGS;

	for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
		if (subjects[i].flag)
			flags[n++] = (struct option){
				subjects[i].flag, no_argument, NULL, SUBJECT + (int)i};
	for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;)
		if (flag == '?' || !parse_option(flag, optarg, o, subject))
			return false;
	if (!*subject)
		*subject = 1;
	return optind < argc;
}

int main(int argc, char **argv)
{
	struct judge_options o = {.cap = 200, .input = INPUT_ANNOUNCED};
	struct trace t = {0};
	struct sources sources = {0};
	unsigned subject = 0;

	if (!parse_options(argc, argv, &o, &subject))
		return usage();
	if (!trace_read_all(&t, argv + optind))
		return 1;
	sources_of(&t, &o, &sources);
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
		if (subject & 1u << i)
			subjects[i].judge(&sources, &o);
	sources_done(&sources);
	trace_done(&t);
	return 0;
}
