#include "collectors/base/quantity.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"

/* The number of bytes that a suffix stands for: `base` to the power of `exponent`. If `base` is 0,
 * the writer does not use this suffix. */
struct power {
	int base, exponent;
};

#define NONE                                                                                       \
	{                                                                                          \
		0, 0                                                                               \
	}
#define TEN(exponent_)                                                                             \
	{                                                                                          \
		10, (exponent_)                                                                    \
	}
#define TWO(exponent_)                                                                             \
	{                                                                                          \
		2, (exponent_)                                                                     \
	}

/* Suffixes may be written in upper or lower case. One exception: for the writer QUANTITY_OF_PEOPLE,
 * the only lower-case suffixes of one letter are "k", "g", "t" and "p", because "m" means
 * thousandths (milli_bytes). */
static const struct {
	const char *suffix;
	struct power of[QUANTITY_WRITERS];
} suffixes[] = {
	{"", {TWO(0), TWO(20), TWO(0)}},
	{"B", {TWO(0), NONE, TWO(0)}},
	{"K", {TEN(3), TWO(10), TWO(10)}},
	{"M", {TEN(6), TWO(20), TWO(20)}},
	{"G", {TEN(9), TWO(30), TWO(30)}},
	{"T", {TEN(12), TWO(40), TWO(40)}},
	{"P", {TEN(15), TWO(50), TWO(50)}},
	{"E", {TEN(18), NONE, NONE}},
	{"KB", {TEN(3), NONE, TWO(10)}},
	{"MB", {TEN(6), NONE, TWO(20)}},
	{"GB", {TEN(9), NONE, TWO(30)}},
	{"TB", {TEN(12), NONE, TWO(40)}},
	{"PB", {TEN(15), NONE, TWO(50)}},
	{"Ki", {TWO(10), NONE, NONE}},
	{"Mi", {TWO(20), NONE, NONE}},
	{"Gi", {TWO(30), NONE, NONE}},
	{"Ti", {TWO(40), NONE, NONE}},
	{"Pi", {TWO(50), NONE, NONE}},
	{"Ei", {TWO(60), NONE, NONE}},
	{"KiB", {TWO(10), NONE, NONE}},
	{"MiB", {TWO(20), NONE, NONE}},
	{"GiB", {TWO(30), NONE, NONE}},
	{"TiB", {TWO(40), NONE, NONE}},
	{"PiB", {TWO(50), NONE, NONE}},
};

#define SUFFIX_MAX 4

/* Reads digits, a fraction and an exponent. The E of "1E6" begins an exponent. The E of "1E" is a
 * suffix (exa, 10^18). */
static bool scan_amount(struct scan *s, double *ret)
{
	const char *at = s->at;
	double v;

	while (at < s->end && (isdigit((unsigned char)*at) || *at == '.'))
		at++;
	if (at > s->at && at < s->end && (*at == 'e' || *at == 'E')) {
		const char *digit = at + 1;

		if (digit < s->end && (*digit == '+' || *digit == '-'))
			digit++;
		if (digit < s->end && isdigit((unsigned char)*digit))
			at = digit;
	}
	while (at < s->end && isdigit((unsigned char)*at))
		at++;
	struct scan amount = {s->at, at};

	if (!scan_double(&amount, &v) || !scan_end(&amount))
		return false;
	s->at = at;
	*ret = v;
	return true;
}

static bool split(struct slice text, double *amount, char suffix[SUFFIX_MAX])
{
	struct scan s = scan_slice(text);

	if (!scan_amount(&s, amount))
		return false;
	scan_blanks(&s);
	if (s.end - s.at >= SUFFIX_MAX || memchr(s.at, '\0', (size_t)(s.end - s.at)))
		return false;
	slice_copy(scan_rest(&s), suffix, SUFFIX_MAX);
	return true;
}

static bool is_suffix(const char *suffix, const char *given, enum quantity_writer writer)
{
	bool letter = writer == QUANTITY_OF_PEOPLE && strlen(given) == 1 && !strchr("kgtp", *given);

	return letter ? strcmp(suffix, given) == 0 : strcasecmp(suffix, given) == 0;
}

/* Reads "m" as thousandths of a byte: Kubernetes writes "128974848000m" for 128974848 bytes, and
 * rounds up. Other programs write "512m" for 512 MiB. No job needs less than 1 MiB, so a result
 * below 1 MiB is refused. */
static bool milli_bytes(double amount, double *ret)
{
	double bytes = ceil(amount / 1000);

	if (bytes < 1 << 20)
		return false;
	*ret = bytes;
	return true;
}

bool quantity_bytes(struct slice text, enum quantity_writer writer, double unit, double *ret)
{
	char given[SUFFIX_MAX];
	double amount;

	if (!split(text, &amount, given))
		return false;
	if (writer == QUANTITY_OF_PEOPLE && strcmp(given, "m") == 0)
		return milli_bytes(amount, ret);
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		const struct power *p = &suffixes[i].of[writer];

		if (!p->base || !is_suffix(suffixes[i].suffix, given, writer))
			continue;
		*ret = round(amount * (unit > 0 && !*given ? unit : pow(p->base, p->exponent)));
		return true;
	}
	return false;
}

/* Suffixes of CPU numbers in Kubernetes. Kubernetes also has "M" and larger suffixes, but they are
 * refused here, because "M" is more likely a wrong "m" than a million CPUs. */
static const struct {
	const char *suffix;
	double parts; /* number of these units that make one CPU */
} core_suffixes[] = {{"", 1}, {"n", 1e9}, {"u", 1e6}, {"m", 1e3}, {"k", 1e-3}};

bool quantity_cores(struct slice text, double *ret)
{
	char given[SUFFIX_MAX];
	double amount;

	if (!split(text, &amount, given))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(core_suffixes); i++)
		if (strcmp(core_suffixes[i].suffix, given) == 0) {
			*ret = amount / core_suffixes[i].parts;
			return true;
		}
	return false;
}

const struct quantity_bounds quantity_bounds[] = {
	[QUANTITY_RUN_CORES] = {QUANTITY_CORES_LEAST, QUANTITY_CORES_MOST},
	[QUANTITY_RUN_MEMORY] = {1, QUANTITY_BYTES_MOST},
	[QUANTITY_RUN_INPUT] = {0, QUANTITY_BYTES_MOST},
};

bool quantity_of_run(enum quantity_of_run what, struct slice text, enum quantity_writer writer,
	double *ret)
{
	const struct quantity_bounds *b = &quantity_bounds[what];
	double v;
	bool ok = what == QUANTITY_RUN_CORES ? quantity_cores(text, &v) :
					       quantity_bytes(text, writer, 0, &v);

	if (!ok || !(v >= b->least && v <= b->most))
		return false;
	*ret = v;
	return true;
}

bool quantity_was_binary(struct slice text, double *ret)
{
	return text.len && memchr("KMGT", text.data[text.len - 1], 4) &&
	       quantity_bytes(text, QUANTITY_OF_SLURM, 0, ret);
}

static void add_power(struct buf *out, const struct power *p, const char *unit)
{
	if (unit)
		buf_addf(out, " %s |", unit);
	else if (!p->base)
		buf_adds(out, " |");
	else if (p->exponent)
		buf_addf(out, " %d^%d |", p->base, p->exponent);
	else
		buf_adds(out, " 1 |");
}

void quantity_markdown(struct buf *out)
{
	static const char *const units[QUANTITY_WRITERS] = {
		"bytes, or the unit that is named", "2^20", "1"};

	buf_adds(out, "| suffix | people, Kubernetes | Slurm | PBS |\n|---|---|---|---|\n");
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		const char *suffix = suffixes[i].suffix;

		buf_addf(out, *suffix ? "| `%s` |" : "| none%s |", suffix);
		for (size_t k = 0; k < QUANTITY_WRITERS; k++)
			add_power(out, &suffixes[i].of[k], *suffix ? NULL : units[k]);
		buf_addc(out, '\n');
	}
	buf_adds(out, "| `n`, `u` | 10^-9 and 10^-6, of CPUs only | | |\n"
		      "| `m` | 1/1000; of bytes only from 1 MiB on | | |\n");
}
