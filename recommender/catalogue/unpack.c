#include "recommender/catalogue/unpack.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "collectors/base/scan.h"
#include "recommender/catalogue/build.h"
#include "recommender/catalogue/fields.h"

#define COLUMNS_MAX 64
/* Prices are stored as multiples of 1e-7. */
#define UNITS 1e7

/* A column of a table. Its cells are stored one after another. Reading a row moves the cursor
 * `cells` of each column by one cell. */
struct column {
	const struct field *field;
	struct scan cells;
};

struct table {
	enum field_part part;
	const char *name;
	uint64_t rows;
	size_t n_columns;
	struct column column[COLUMNS_MAX];
};

/* State of reading the price table. A row has the prices of all servers of one vendor in one region
 * or zone, for one allocation. The first row with the same vendor and allocation is the reference
 * row, from which expected prices are computed (expected). price[i] and reference[i] are the prices
 * of server i in this row and in the reference row, in units of 1e-7; 0 = none. */
struct price_rows {
	struct scan at;
	const char *vendor_id; /* vendor of the reference row */
	enum allocation allocation;
	double *reference, *price;
};

/* The range of a vendor's servers, which are next to each other. */
struct server_range {
	size_t first, n;
};

struct unpacking {
	struct catalogue_builder *b;
	struct scan at;
	size_t n_ranges, ranges_room;
	struct vendor_range {
		const char *vendor_id;
		struct server_range servers;
	} * range;
	struct price_rows prices;
};

static int damaged(struct err *e, const char *where)
{
	return err_set(e, -EBADMSG, "%s: the packed catalogue is damaged", where);
}

/* Reads a text that ends with a NUL. */
static bool read_text(struct scan *s, const char **ret)
{
	struct slice text;

	if (!scan_until(s, '\0', &text))
		return false;
	*ret = text.data;
	return true;
}

/* Reads a number that has 7 bits in each byte, the lowest bits first. */
static bool read_number(struct scan *s, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 63 && s->at < s->end; shift += 7) {
		unsigned char byte = (unsigned char)*s->at++;

		v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* Reads the head of a table: its name, size and columns. Places the cursor of each column on its
 * first cell. */
static int open_table(struct scan *s, struct table *t, struct err *e)
{
	uint64_t n, len[COLUMNS_MAX];
	const char *name;

	if (!read_text(s, &name) || strcmp(name, t->name) != 0 || !read_number(s, &t->rows) ||
		!read_number(s, &n) || n > COLUMNS_MAX)
		return damaged(e, t->name);
	t->n_columns = (size_t)n;
	for (size_t i = 0; i < n; i++) {
		if (!read_text(s, &name) || !read_number(s, &len[i]))
			return damaged(e, t->name);
		t->column[i].field = field_of(t->part, name);
		if (!t->column[i].field)
			return err_set(e, -EBADMSG, "%s: no column is called \"%.40s\"", t->name,
				name);
	}
	for (size_t i = 0; i < n; i++) {
		if (len[i] > (uint64_t)(s->end - s->at))
			return damaged(e, t->name);
		t->column[i].cells = SCAN(s->at, (size_t)len[i]);
		s->at += len[i];
	}
	return 0;
}

/* Reads the next row into `object`, a struct of the table's part. */
static int read_row(struct table *t, void *object, struct err *e)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		struct column *c = &t->column[i];
		const char *text;

		if (!read_text(&c->cells, &text))
			return damaged(e, t->name);
		int code = field_set_text(c->field, object, text, e);

		if (code) {
			err_wrap(e, "%s: %s", t->name, c->field->name);
			return code;
		}
	}
	return 0;
}

static int add_row(struct unpacking *u, const struct field_row *row, enum field_part part,
	struct err *e)
{
	const char *vendor_id = row->server.vendor_id;

	if (part == PART_VENDOR)
		return catalogue_add_vendor(u->b, &row->vendor, e);
	if (part == PART_REGION)
		return catalogue_add_region(u->b, &row->region, e);
	if (!u->n_ranges || strcmp(u->range[u->n_ranges - 1].vendor_id, vendor_id) != 0) {
		GROW(u->range, u->n_ranges, u->ranges_room);
		u->range[u->n_ranges++] =
			(struct vendor_range){vendor_id, {catalogue_builder_servers(u->b), 0}};
	}
	u->range[u->n_ranges - 1].servers.n++;
	return catalogue_add_server(u->b, &row->server, e);
}

static int read_table(struct unpacking *u, enum field_part part, const char *name, struct err *e)
{
	struct table t = {.part = part, .name = name};
	int code = open_table(&u->at, &t, e);
	struct field_row nothing;

	field_row_clear(&nothing);
	for (uint64_t i = 0; code == 0 && i < t.rows; i++) {
		struct field_row row = nothing;

		code = read_row(&t, field_row_part(&row, part), e);
		if (code == 0)
			code = add_row(u, &row, part, e);
	}
	return code;
}

/* Returns the range of a vendor's servers. NULL = the vendor has no server. */
static const struct server_range *servers_of(const struct unpacking *u, const char *vendor_id)
{
	for (size_t i = 0; i < u->n_ranges; i++)
		if (strcmp(u->range[i].vendor_id, vendor_id) == 0)
			return &u->range[i].servers;
	return NULL;
}

/* Returns the expected price of a server in this row. A pack stores only the difference between the
 * real and the expected price.
 * - before: price of the previous server in this row
 * - reference_before, reference: prices of the previous server and of this server in the reference
 *   row; 0 = none
 *
 * The result is before x reference / reference_before, or `before` if the reference row lacks a
 * price. */
static double expected(double before, double reference_before, double reference)
{
	return reference > 0 && reference_before > 0 ?
		       floor(before * reference / reference_before + 0.5) :
		       before;
}

/* Reads the prices of one row, and adds them. They are integers below 2^53, so doubles hold them
 * exactly. */
static int read_prices(struct unpacking *u, const struct server_range *servers,
	const struct price *place, struct err *e)
{
	struct price_rows *p = &u->prices;
	double before = 0, reference_before = 0;

	for (size_t i = servers->first; i < servers->first + servers->n; i++) {
		struct price price = *place;
		uint64_t code;

		p->price[i] = 0;
		if (!read_number(&u->at, &code))
			return damaged(e, "price");
		if (code == 0)
			continue;
		code--;
		uint64_t half = code / 2;
		double difference = (double)half;

		before = expected(before, reference_before, p->reference[i]) +
			 (code % 2 ? -difference - 1 : difference);
		if (!(before >= 0 && before < 0x1p53))
			return damaged(e, "price");
		reference_before = p->reference[i];
		p->price[i] = before;
		price.price = before / UNITS;
		int refused = catalogue_add_placed(u->b, i, &price, e);

		if (refused)
			return refused;
	}
	return 0;
}

static int read_price_row(struct unpacking *u, const struct price_row *row, struct err *e)
{
	struct price_rows *p = &u->prices;
	const struct server_range *servers = servers_of(u, row->vendor_id);
	bool first = !p->vendor_id || strcmp(p->vendor_id, row->vendor_id) != 0 ||
		     p->allocation != row->allocation;
	size_t n = catalogue_builder_servers(u->b);
	struct price place;
	int code;

	if (!servers)
		return err_set(e, -EBADMSG, "price: no server is of the vendor \"%.40s\"",
			row->vendor_id);
	if (first)
		memset(p->reference, 0, n * sizeof *p->reference);
	code = catalogue_place_price(u->b, row, &place, e);
	if (code == 0)
		code = read_prices(u, servers, &place, e);
	if (first) {
		memcpy(p->reference, p->price, n * sizeof *p->reference);
		p->vendor_id = row->vendor_id;
		p->allocation = row->allocation;
	}
	return code;
}

static int read_price_table(struct unpacking *u, struct err *e)
{
	struct table t = {.part = PART_PRICE, .name = "price"};
	size_t n = catalogue_builder_servers(u->b);
	int code = open_table(&u->at, &t, e);

	u->prices.reference = xcalloc(n + 1, sizeof *u->prices.reference);
	u->prices.price = xcalloc(n + 1, sizeof *u->prices.price);
	for (uint64_t i = 0; code == 0 && i < t.rows; i++) {
		struct field_row row;

		field_row_clear(&row);
		code = read_row(&t, &row.price, e);
		if (code == 0)
			code = read_price_row(u, &row.price, e);
	}
	return code;
}

static int read_all(struct unpacking *u, struct err *e)
{
	const char *note, *as_of;
	int code;

	if (!read_text(&u->at, &note) || !read_text(&u->at, &as_of))
		return damaged(e, "head");
	catalogue_set_note(u->b, note);
	catalogue_set_as_of(u->b, as_of);
	if ((code = read_table(u, PART_VENDOR, "vendor", e)) ||
		(code = read_table(u, PART_REGION, "region", e)) ||
		(code = read_table(u, PART_SERVER, "server", e)) || (code = read_price_table(u, e)))
		return code;
	return scan_end(&u->at) ? 0 : damaged(e, "end");
}

int catalogue_from_unpacked(struct catalogue **ret, const char *text, size_t len,
	const char *source, struct err *e)
{
	struct unpacking u = {.b = catalogue_builder_new(), .at = SCAN(text, len)};
	int code = read_all(&u, e);

	if (code)
		err_wrap(e, "%s", source);
	else
		catalogue_finish(u.b, source, ret);
	catalogue_builder_free(u.b);
	free(u.range);
	free(u.prices.reference);
	free(u.prices.price);
	return code;
}

/* Decompresses into `*ret`, which grows as needed. The caller frees it, even after an error. */
static int inflate_all(z_stream *z, unsigned char **ret, size_t *size)
{
	int code = Z_OK;

	for (size_t room = 1u << 20; code == Z_OK && room <= UNPACKED_MAX; room *= 2) {
		*ret = xrealloc(*ret, room);
		z->next_out = *ret + z->total_out;
		z->avail_out = (uInt)(room - z->total_out);
		code = inflate(z, Z_NO_FLUSH);
	}
	*size = z->total_out;
	return code;
}

int catalogue_from_pack(struct catalogue **ret, const unsigned char *data, size_t len,
	const char *source, struct err *e)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len};
	unsigned char *text = NULL;
	size_t size = 0;

	if (len > UNPACKED_MAX)
		return err_set(e, -EBADMSG, "%s: a pack of %zu bytes", source, len);
	if (inflateInit(&z) != Z_OK)
		return err_set(e, -ENOMEM, "%s: no memory to unpack", source);
	int code = inflate_all(&z, &text, &size);

	inflateEnd(&z);
	code = code == Z_STREAM_END ?
		       catalogue_from_unpacked(ret, (const char *)text, size, source, e) :
		       err_set(e, -EBADMSG, "%s: the packed catalogue does not decompress", source);
	free(text);
	return code;
}
