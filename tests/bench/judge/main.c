/* bench_judge: options, traces, tables. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"
#include "tests/bench/judge/judge.h"

static int usage(void)
{
	fputs("usage: bench_judge [--cap=RUNS] [--input=announced|proxy|none] "
	      "[--sources=NAME,...] [--csv] TRACE.csv...\n"
	      "  proxy: the announced input size, else the bytes read, which nobody knows before a "
	      "run\n",
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

static bool parse_options(int argc, char **argv, struct judge_options *o)
{
	static const struct option flags[] = {
		{"cap", required_argument, NULL, 'c'},
		{"input", required_argument, NULL, 'i'},
		{"sources", required_argument, NULL, 's'},
		{"csv", no_argument, NULL, 'v'},
		{0},
	};

	for (int flag; (flag = getopt_long(argc, argv, "", flags, NULL)) != -1;) {
		struct scan s = SCAN(optarg ? optarg : "", optarg ? strlen(optarg) : 0);
		uint64_t n;

		switch (flag) {
		case 'c':
			if (!scan_u64(&s, &n) || !scan_end(&s))
				return false;
			o->cap = n;
			break;
		case 'i':
			if (!parse_input(optarg, &o->input))
				return false;
			break;
		case 's':
			o->sources = optarg;
			break;
		case 'v':
			o->csv = true;
			break;
		default:
			return false;
		}
	}
	return optind < argc;
}

int main(int argc, char **argv)
{
	struct judge_options o = {.cap = 200, .input = INPUT_ANNOUNCED};
	struct trace t = {0};
	struct sources sources = {0};
	struct err e;

	if (!parse_options(argc, argv, &o))
		return usage();
	for (int i = optind; i < argc; i++)
		if (trace_read(&t, argv[i], &e) < 0) {
			fprintf(stderr, "%s\n", e.text);
			return 1;
		}
	trace_sort(&t);
	sources_of(&t, &o, &sources);
	judge_scores(&sources, &o);
	judge_chances(&sources, &o);
	sources_done(&sources);
	trace_done(&t);
	return 0;
}
