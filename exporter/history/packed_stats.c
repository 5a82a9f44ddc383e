#include "exporter/history/packed_stats.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/scan.h"

#define COLUMN_MAX 64 /* bytes of a column's name, with the NUL */

/* Encoding of one number in the blob. */
enum packed_code {
	PACKED_UNKNOWN, /* no bytes: NaN */
	PACKED_ZERO,    /* no bytes: 0 */
	/* no bytes: the value equals the previous statistic of the column. For the first statistic
	 * of a column, the value equals `n` of the last earlier column that has values. */
	PACKED_SAME,
	PACKED_FLOAT,  /* 4 bytes */
	PACKED_DOUBLE, /* 8 bytes */
	PACKED_WHOLE,  /* 1 to 7 bytes: a whole number; one code for each length */
	/* 1 to 4 bytes: a whole number of pages of 4096 bytes; one code for each length */
	PACKED_PAGES = PACKED_WHOLE + 7,
	PACKED_CODES = PACKED_PAGES + 4,
};
_Static_assert(PACKED_CODES == 16, "a code has 4 bits");

#define PAGE         4096
#define LARGEST      0x1p53 /* whole numbers up to this are exact in a double */
#define LARGEST_PAGE 4      /* maximum number of bytes that store a number of pages */

/* ---- forms ---- */

/* Reads one column of a form from `text`. `before` is the column before this one; NULL = none.
 * Returns -EBADMSG if the two are not in order. */
static int form_column(struct kept_column *ret, const struct kept_column *before, struct slice text,
	struct arena *arena)
{
	struct scan s = scan_slice(text);
	struct slice name;
	uint64_t set = 0;

	if (!scan_until(&s, ':', &name) || name.len == 0 || name.len >= COLUMN_MAX ||
		!scan_u64(&s, &set) || !scan_end(&s) || set == 0 || set > STATISTICS_ALL)
		return -EBADMSG;
	*ret = (struct kept_column){arena_text(arena, name.data, name.len), (unsigned)set};
	return before && strcmp(before->column, ret->column) >= 0 ? -EBADMSG : 0;
}

int stats_form_read(struct stats_form *ret, const char *text, struct arena *arena)
{
	struct scan s = SCAN(text, strlen(text));
	struct slice piece;
	size_t n = 0, room = 1;

	for (const char *p = text; *p; p++)
		room += *p == ';';
	struct kept_column *column = arena_alloc(arena, room * sizeof *column);

	for (; scan_piece(&s, ';', &piece); n++)
		if (form_column(&column[n], n ? &column[n - 1] : NULL, piece, arena))
			return -EBADMSG;
	*ret = (struct stats_form){n, column};
	return 0;
}

void stats_form_write(struct buf *out, const struct stats_form *f)
{
	for (size_t i = 0; i < f->n; i++)
		buf_addf(out, "%s%s:%u", i ? ";" : "", f->column[i].column,
			f->column[i].statistics);
}

struct stats_form stats_form_of_all(const struct column_stats *stats, size_t n, struct arena *arena)
{
	struct kept_column *column = arena_alloc(arena, n * sizeof *column);

	for (size_t i = 0; i < n; i++)
		column[i] = (struct kept_column){stats[i].column, STATISTICS_ALL};
	return (struct stats_form){n, column};
}

struct stats_form stats_form_of_kept(void)
{
	return (struct stats_form){kept_columns_n, kept_columns};
}

/* ---- writing ---- */

struct packing {
	struct buf numbers;
	uint8_t *codes;
	size_t n; /* number of codes */
	bool exact;
};

static bool is_whole(double v)
{
	return v >= 0 && v <= LARGEST && v == floor(v);
}

static unsigned bytes_of(uint64_t v)
{
	unsigned n = 1;

	while (v >>= 8)
		n++;
	return n;
}

static void put_code(struct packing *p, unsigned code)
{
	p->codes[p->n / 2] |= (uint8_t)(code << (p->n % 2 * 4));
	p->n++;
}

/* Appends the `n` lowest bytes of `v`, the lowest first. */
static void put_bytes(struct packing *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++, v >>= 8)
		buf_addc(&p->numbers, (char)(v & 0xff));
}

static void put_whole(struct packing *p, unsigned first_code, uint64_t v)
{
	unsigned n = bytes_of(v);

	put_code(p, first_code + n - 1);
	put_bytes(p, v, n);
}

static void put_float(struct packing *p, float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	put_code(p, PACKED_FLOAT);
	put_bytes(p, bits, sizeof bits);
}

static void put_double(struct packing *p, double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	put_code(p, PACKED_DOUBLE);
	put_bytes(p, bits, sizeof bits);
}

/* Rounds towards zero. */
static float float_below(double v)
{
	float f = (float)v;

	return fabs((double)f) > fabs(v) ? nextafterf(f, 0) : f;
}

static void put_number(struct packing *p, double v)
{
	uint64_t whole = is_whole(v) ? (uint64_t)v : 0;
	float f = (float)v;

	if (isnan(v))
		put_code(p, PACKED_UNKNOWN);
	else if (v == 0)
		put_code(p, PACKED_ZERO);
	else if (whole && whole % PAGE == 0 && bytes_of(whole / PAGE) <= LARGEST_PAGE)
		put_whole(p, PACKED_PAGES, whole / PAGE);
	else if (whole && (bytes_of(whole) < sizeof f || (double)f != v))
		put_whole(p, PACKED_WHOLE, whole);
	else if ((double)f == v)
		put_float(p, f);
	else
		put_double(p, v);
}

static bool stays_exact(enum statistic s)
{
	return s == STATISTIC_N || s == STATISTIC_SUM || s == STATISTIC_MAX;
}

/* Appends the statistics of a column that are in the set `statistics` (bits). `n_before` is the
 * statistic `n` of the last column before it that has values; NaN = no such column. */
static void put_column(struct packing *p, const struct distribution *d, unsigned statistics,
	double n_before)
{
	double before = n_before, stored = n_before;

	for (unsigned s = 0; s < STATISTIC_COUNT; s++) {
		if (!(statistics & STATISTIC_BIT(s)))
			continue;
		double v = d ? statistic_get(d, s) : s == STATISTIC_N ? 0 : (double)NAN;

		bool same = v != 0 && v == before;

		/* Two equal numbers in a row must stay equal, even if only the first may be
		 * rounded: store the rounded first number twice. */
		before = v;
		if (same)
			v = stored;
		else if (!p->exact && !stays_exact(s) && fabs(v) <= (double)FLT_MAX)
			v = (double)float_below(v);
		if (v != 0 && v == stored)
			put_code(p, PACKED_SAME);
		else
			put_number(p, v);
		stored = v;
	}
}

void packed_stats_write(struct buf *out, const struct stats_form *f,
	const struct column_stats *stats, size_t n, bool exact)
{
	AUTO(freep) uint8_t *codes = xcalloc(f->n * STATISTIC_COUNT / 2 + 1, 1);
	struct packing p = {.numbers = BUF_MAX(PACKED_STATS_MAX), .codes = codes, .exact = exact};
	double n_before = NAN;

	for (size_t i = 0, k = 0; i < f->n; i++) {
		while (k < n && strcmp(stats[k].column, f->column[i].column) < 0)
			k++;
		bool has = k < n && strcmp(stats[k].column, f->column[i].column) == 0;

		put_column(&p, has ? &stats[k].d : NULL, f->column[i].statistics, n_before);
		if (has)
			n_before = (double)stats[k].d.n;
	}
	buf_add(out, codes, (p.n + 1) / 2);
	buf_add(out, p.numbers.data, p.numbers.len);
	buf_done(&p.numbers);
}

/* ---- reading ---- */

struct packed_reading {
	const uint8_t *codes, *number, *end;
	size_t n; /* number of codes already read */
};

static size_t statistics_of(const struct stats_form *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += (size_t)__builtin_popcount(f->column[i].statistics);
	return n;
}

/* Reads a number of `n` bytes, the lowest byte first. */
static int take_bytes(struct packed_reading *u, unsigned n, uint64_t *ret)
{
	*ret = 0;
	if ((size_t)(u->end - u->number) < n)
		return -EBADMSG;
	for (unsigned i = 0; i < n; i++)
		*ret |= (uint64_t)*u->number++ << (8 * i);
	return 0;
}

static double float_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float f;

	memcpy(&f, &low, sizeof f);
	return (double)f;
}

static double double_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof d);
	return d;
}

static int take_number(struct packed_reading *u, double before, double *ret)
{
	unsigned code = u->codes[u->n / 2] >> (u->n % 2 * 4) & 0xf;
	uint64_t bits = 0;
	int failed = 0;

	u->n++;
	if (code == PACKED_UNKNOWN || code == PACKED_ZERO || code == PACKED_SAME) {
		*ret = code == PACKED_SAME ? before : code == PACKED_ZERO ? 0 : (double)NAN;
	} else if (code == PACKED_FLOAT) {
		failed = take_bytes(u, sizeof(float), &bits);
		*ret = float_of(bits);
	} else if (code == PACKED_DOUBLE) {
		failed = take_bytes(u, sizeof(double), &bits);
		*ret = double_of(bits);
	} else if (code < PACKED_PAGES) {
		failed = take_bytes(u, code - PACKED_WHOLE + 1, &bits);
		*ret = (double)bits;
	} else {
		failed = take_bytes(u, code - PACKED_PAGES + 1, &bits);
		*ret = (double)bits * PAGE;
	}
	return failed;
}

static int take_column(struct packed_reading *u, unsigned statistics, double n_before,
	struct distribution *ret)
{
	double before = n_before;

	*ret = (struct distribution){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	for (unsigned s = 0; s < STATISTIC_COUNT; s++) {
		double v;

		if (!(statistics & STATISTIC_BIT(s)))
			continue;
		if (take_number(u, before, &v))
			return -EBADMSG;
		statistic_set(ret, s, v);
		before = v;
	}
	return 0;
}

int packed_stats_read(const struct stats_form *f, const void *blob, size_t size,
	struct arena *arena, struct column_stats **ret, size_t *ret_n)
{
	size_t n = 0, codes = (statistics_of(f) + 1) / 2;
	struct column_stats *stats = arena_alloc(arena, f->n * sizeof *stats);
	double n_before = NAN;

	const uint8_t *first =
		blob ? blob : (const void *)""; /* SQLite gives NULL for an empty blob */

	if (size < codes)
		return -EBADMSG;
	struct packed_reading u = {first, first + codes, first + size, 0};

	for (size_t i = 0; i < f->n; i++) {
		stats[n].column = f->column[i].column;
		if (take_column(&u, f->column[i].statistics, n_before, &stats[n].d))
			return -EBADMSG;
		if (stats[n].d.n == 0)
			continue;
		n_before = (double)stats[n++].d.n;
	}
	if (u.number != u.end)
		return -EBADMSG;
	*ret = stats;
	*ret_n = n;
	return 0;
}
