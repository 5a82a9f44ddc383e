#include "recommender/catalogue/fields.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"

const char *const architecture_name[ARCHITECTURE_COUNT] = {
	[ARCHITECTURE_UNKNOWN] = "",
	[ARCHITECTURE_X86_64] = "x86_64",
	[ARCHITECTURE_ARM64] = "arm64",
	[ARCHITECTURE_I386] = "i386",
	[ARCHITECTURE_X86_64_MAC] = "x86_64_mac",
	[ARCHITECTURE_ARM64_MAC] = "arm64_mac",
};
const char *const catalogue_cpu_allocation_name[CPU_ALLOCATION_COUNT] = {
	[CPU_ALLOCATION_UNKNOWN] = "",
	[CPU_SHARED] = "Shared",
	[CPU_BURSTABLE] = "Burstable",
	[CPU_DEDICATED] = "Dedicated",
};
const char *const catalogue_allocation_name[ALLOCATION_COUNT] = {
	[ALLOCATION_ONDEMAND] = "ondemand",
	[ALLOCATION_SPOT] = "spot",
	[ALLOCATION_RESERVED] = "reserved",
	[ALLOCATION_ANY] = "any",
};
static const char *const status_name[] = {"inactive", "active"};
static const char *const flag_name[] = {"false", "true"};

/* Accepted texts of each field kind: value i has the name name[i]. `empty` is the value of the
 * empty text. */
static const struct {
	const char *const *name;
	unsigned n, empty;
} kinds[] = {
	[FIELD_ARCHITECTURE] = {architecture_name, ARCHITECTURE_COUNT, ARCHITECTURE_UNKNOWN},
	[FIELD_CPU_ALLOCATION] = {catalogue_cpu_allocation_name, CPU_ALLOCATION_COUNT,
		CPU_ALLOCATION_UNKNOWN},
	[FIELD_ALLOCATION] = {catalogue_allocation_name, ALLOCATION_COUNT, ALLOCATION_ONDEMAND},
	[FIELD_STATUS] = {status_name, ARRAY_LEN(status_name), true},
	[FIELD_FLAG] = {flag_name, ARRAY_LEN(flag_name), false},
};
/* Returns true if the field is a bool. The fields of all other `kinds` are enums, which are read
 * and written as unsigned. */
static bool is_bool(const struct field *f)
{
	return f->kind == FIELD_STATUS || f->kind == FIELD_FLAG;
}
static_assert(sizeof(enum architecture) == sizeof(unsigned), "an enum is an unsigned");

/* clang-format off */
#define SERVER(member) .part = PART_SERVER, .offset = offsetof(struct server, member)
#define VENDOR(member) .part = PART_VENDOR, .offset = offsetof(struct vendor, member)
#define REGION(member) .part = PART_REGION, .offset = offsetof(struct region, member)
#define PRICE(member)  .part = PART_PRICE, .offset = offsetof(struct price_row, member)

/* Fields of different parts can have the same name. A CSV column with such a name means the first
 * one in this table. */
const struct field fields[] = {
	{.name = "vendor_id", .kind = FIELD_TEXT, .required = true, SERVER(vendor_id),
		.help = "Vendor that rents it out: aws, gcp, azure, hcloud, upcloud, ovh, alicloud, vultr, or a name of your own"},
	{.name = "server_id", .kind = FIELD_TEXT, .required = true, SERVER(server_id),
		.help = "The vendor's identifier of the type; unique within the vendor"},
	{.name = "api_reference", .kind = FIELD_TEXT, SERVER(api_reference),
		.help = "Name of the type in the vendor's API; server_id when empty"},
	{.name = "display_name", .kind = FIELD_TEXT, SERVER(display_name),
		.help = "Usual name of the type; api_reference when empty"},
	{.name = "family", .kind = FIELD_TEXT, SERVER(family), .help = "Name of the group of types"},
	{.name = "cpu_architecture", .kind = FIELD_ARCHITECTURE, SERVER(cpu_architecture),
		.help = "x86_64, arm64, i386, x86_64_mac or arm64_mac"},
	{.name = "cpu_allocation", .kind = FIELD_CPU_ALLOCATION, SERVER(cpu_allocation),
		.help = "Dedicated, Shared (with other customers) or Burstable (full speed only for a while)"},
	{.name = "cpu_manufacturer", .kind = FIELD_TEXT, SERVER(cpu_manufacturer), .help = "Maker of the processor"},
	{.name = "vcpus", .kind = FIELD_NUMBER, .required = true, SERVER(vcpus), .help = "CPUs as the system sees them"},
	{.name = "cpu_cores", .kind = FIELD_NUMBER, SERVER(cpu_cores), .help = "Physical cores"},
	{.name = "memory_amount", .unit = "MiB", .kind = FIELD_NUMBER, .required = true, SERVER(memory_amount),
		.help = "Memory as sold"},
	{.name = "memory_amount_actual", .unit = "MiB", .kind = FIELD_NUMBER, SERVER(memory_amount_actual),
		.help = "Memory as the system sees it"},
	{.name = "gpu_count", .kind = FIELD_NUMBER, SERVER(gpu_count),
		.help = "GPUs; may be a fraction, as 0.5 of a divided one"},
	{.name = "gpu_manufacturer", .kind = FIELD_TEXT, SERVER(gpu_manufacturer), .help = "Maker of the GPU"},
	{.name = "gpu_family", .kind = FIELD_TEXT, SERVER(gpu_family), .help = "Architecture of the GPU"},
	{.name = "gpu_model", .kind = FIELD_TEXT, SERVER(gpu_model), .help = "Model of the GPU"},
	{.name = "gpu_memory_min", .unit = "MiB", .kind = FIELD_NUMBER, SERVER(gpu_memory_min),
		.help = "Memory of the smallest GPU"},
	{.name = "gpu_memory_total", .unit = "MiB", .kind = FIELD_NUMBER, SERVER(gpu_memory_total),
		.help = "Memory of all GPUs together"},
	{.name = "storage_size", .unit = "GB", .kind = FIELD_NUMBER, SERVER(storage_size), .help = "Local storage"},
	{.name = "storage_type", .kind = FIELD_TEXT, SERVER(storage_type), .help = "hdd, ssd, nvme ssd or network"},
	{.name = "network_speed_baseline", .unit = "Gbps", .kind = FIELD_NUMBER, SERVER(network_speed_baseline),
		.help = "Network speed that lasts"},
	{.name = "average_time_to_start", .unit = "seconds", .kind = FIELD_NUMBER, SERVER(average_time_to_start),
		.help = "Time from asking for it to a running system"},
	{.name = "status", .kind = FIELD_STATUS, SERVER(active),
		.help = "active or inactive (no longer rented out); active when empty"},
	{.name = "score", .kind = FIELD_NUMBER, SERVER(score),
		.help = "SCore: speed of all CPUs together (stress-ng div16)"},
	{.name = "score1", .kind = FIELD_NUMBER, SERVER(score1), .help = "SCore of a single CPU"},
	{.name = "region_id", .kind = FIELD_TEXT, SERVER(region_id),
		.help = "Region of the prices; empty = the vendor's lowest anywhere"},
	{.name = "min_price_ondemand", .unit = "currency/hour", .kind = FIELD_NUMBER, SERVER(min_price_ondemand),
		.help = "Price on demand"},
	{.name = "min_price_spot", .unit = "currency/hour", .kind = FIELD_NUMBER, SERVER(min_price_spot),
		.help = "Price as a spot or preemptible machine"},
	{.name = "currency", .kind = FIELD_TEXT, SERVER(currency), .help = "ISO 4217 code of the prices; USD when empty"},
	{.name = "zone_id", .kind = FIELD_TEXT, PRICE(zone_id), .help = "Zone of the region where price holds"},
	{.name = "allocation", .kind = FIELD_ALLOCATION, PRICE(allocation),
		.help = "Kind of price: ondemand (also when empty), spot, reserved or any (the lowest of all)"},
	{.name = "price", .unit = "currency/hour", .kind = FIELD_NUMBER, PRICE(price),
		.help = "One price; more lines of the same server may give more. In a file that has min_price_ondemand or min_price_spot and no allocation, it is the lowest of all allocations"},
	{.name = "estimated", .kind = FIELD_FLAG, PRICE(estimated),
		.help = "true or false (also when empty): price is an estimate that nobody pays exactly"},
	{.name = "country_id", .kind = FIELD_TEXT, REGION(country_id),
		.help = "Country of the region: two letters, ISO 3166-1"},
	{.name = "continent", .kind = FIELD_TEXT, REGION(continent), .help = "Continent of the region"},
	{.name = "aliases", .kind = FIELD_TEXT, REGION(aliases), .help = "Other names of the region, with | between"},
	{.name = "storage_price_gb_month", .unit = "extras_currency", .kind = FIELD_NUMBER, REGION(storage_price_gb_month),
		.help = "A month of a GB of network storage in the region"},
	{.name = "outbound_price_gb", .unit = "extras_currency", .kind = FIELD_NUMBER, REGION(outbound_price_gb),
		.help = "A GB that leaves the region"},
	{.name = "ipv4_price_hour", .unit = "extras_currency", .kind = FIELD_NUMBER, REGION(ipv4_price_hour),
		.help = "An hour of a public IPv4 address in the region"},
	{.name = "extras_currency", .kind = FIELD_TEXT, REGION(extras_currency),
		.help = "ISO 4217 code of storage, outbound and ipv4 prices; USD when empty"},
	{.name = "billing_increment_seconds", .unit = "seconds", .kind = FIELD_NUMBER, VENDOR(billing_increment_seconds),
		.help = "The vendor bills whole multiples of this"},
	{.name = "minimum_billing_seconds", .unit = "seconds", .kind = FIELD_NUMBER, VENDOR(minimum_billing_seconds),
		.help = "The vendor bills at least this"},
	{.name = "compliance", .kind = FIELD_TEXT, VENDOR(compliance),
		.help = "Frameworks that the vendor complies with, with a blank between: hipaa, iso27001, soc2t2"},
	/* Fields whose name is already used above. Only a lookup in one part finds them (field_of):
	 * for an SQLite table or a JSON object of that part. */
	{.name = "vendor_id", .kind = FIELD_TEXT, VENDOR(vendor_id), .help = "Identifier"},
	{.name = "name", .kind = FIELD_TEXT, VENDOR(name), .help = "Name"},
	{.name = "country_id", .kind = FIELD_TEXT, VENDOR(country_id), .help = "Country of the vendor"},
	{.name = "vendor_id", .kind = FIELD_TEXT, REGION(vendor_id), .help = "Vendor"},
	{.name = "region_id", .kind = FIELD_TEXT, REGION(region_id), .help = "Identifier"},
	{.name = "api_reference", .kind = FIELD_TEXT, REGION(api_reference), .help = "Name in the vendor's API"},
	{.name = "display_name", .kind = FIELD_TEXT, REGION(display_name), .help = "Usual name"},
	{.name = "vendor_id", .kind = FIELD_TEXT, PRICE(vendor_id), .help = "Vendor"},
	{.name = "server_id", .kind = FIELD_TEXT, PRICE(server_id), .help = "Server"},
	{.name = "region_id", .kind = FIELD_TEXT, PRICE(region_id), .help = "Region"},
	{.name = "currency", .kind = FIELD_TEXT, PRICE(currency), .help = "Currency"},
	{0},
};
/* clang-format on */

bool catalogue_name_find(const char *const *names, size_t n, const char *text, unsigned *ret)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(names[i], text) == 0) {
			*ret = (unsigned)i;
			return true;
		}
	return false;
}

const struct field *field_find(const char *name, size_t len)
{
	for (const struct field *f = fields; f->name; f++)
		if (strlen(f->name) == len && memcmp(f->name, name, len) == 0)
			return f;
	return NULL;
}

const struct field *field_of(enum field_part part, const char *name)
{
	for (const struct field *f = fields; f->name; f++)
		if (f->part == part && strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

static void *field_at(const struct field *f, void *object)
{
	return (char *)object + f->offset;
}

static const void *field_in(const struct field *f, const void *object)
{
	return (const char *)object + f->offset;
}

void *field_row_part(struct field_row *r, enum field_part part)
{
	switch (part) {
	case PART_SERVER:
		return &r->server;
	case PART_VENDOR:
		return &r->vendor;
	case PART_REGION:
		return &r->region;
	case PART_PRICE:
		return &r->price;
	case PART_COUNT:
		break;
	}
	return NULL;
}

void field_row_clear(struct field_row *r)
{
	*r = (struct field_row){.server.active = true};
	for (const struct field *f = fields; f->name; f++) {
		void *at = field_at(f, field_row_part(r, f->part));

		if (f->kind == FIELD_TEXT)
			*(const char **)at = "";
		else if (f->kind == FIELD_NUMBER)
			*(double *)at = NAN;
	}
}

void field_row_price_is_lowest(struct field_row *r)
{
	const struct server *s = &r->server;

	r->price.allocation = ALLOCATION_ANY;
	if (s->min_price_ondemand > 0 ||
		(s->min_price_spot > 0 && s->min_price_spot <= r->price.price))
		r->price.price = NAN;
}

static int check_text(const char *text, struct err *e)
{
	size_t len = strlen(text);

	if (len >= FIELD_TEXT_MAX)
		return err_set(e, -EINVAL, "a text of %zu bytes; at most %d are allowed", len,
			FIELD_TEXT_MAX - 1);
	if (!utf8_valid(text, len))
		return err_set(e, -EINVAL, "not valid UTF-8");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '\x7f')
			return err_set(e, -EINVAL, "has a control character");
	return 0;
}

static int number_from_text(const char *text, double *ret, struct err *e)
{
	struct scan number = SCAN(text, strlen(text));
	double v = NAN;

	if (*text && (!scan_double(&number, &v) || !scan_end(&number)))
		return err_set(e, -EINVAL, "\"%.40s\" is not a number", text);
	if (v < 0)
		return err_set(e, -EINVAL, "%.40s is negative", text);
	*ret = v;
	return 0;
}

static int set_enum(const struct field *f, void *at, const char *text, struct err *e)
{
	unsigned found = kinds[f->kind].empty;

	if (*text && !catalogue_name_find(kinds[f->kind].name, kinds[f->kind].n, text, &found))
		return err_set(e, -EINVAL, "\"%.40s\" is unknown; accepted: %s", text, f->help);
	if (is_bool(f))
		*(bool *)at = found;
	else
		*(unsigned *)at = found;
	return 0;
}

int field_set_text(const struct field *f, void *object, const char *text, struct err *e)
{
	void *at = field_at(f, object);
	int code;

	if (f->kind == FIELD_NUMBER)
		return number_from_text(text, at, e);
	if (f->kind != FIELD_TEXT)
		return set_enum(f, at, text, e);
	code = check_text(text, e);
	if (code == 0)
		*(const char **)at = text;
	return code;
}

int field_set_number(const struct field *f, void *object, double v, struct err *e)
{
	if (f->kind != FIELD_NUMBER)
		return err_set(e, -EINVAL, "must be a text, not a number");
	if (v < 0)
		return err_set(e, -EINVAL, "%g is negative", v);
	*(double *)field_at(f, object) = v;
	return 0;
}

double field_number(const struct field *f, const void *object)
{
	return f->kind == FIELD_NUMBER ? *(const double *)field_in(f, object) : (double)NAN;
}

const char *field_text(const struct field *f, const void *object)
{
	const void *at = field_in(f, object);

	if (f->kind == FIELD_TEXT)
		return *(const char *const *)at;
	if (f->kind == FIELD_NUMBER)
		return "";
	return kinds[f->kind].name[is_bool(f) ? *(const bool *)at : *(const unsigned *)at];
}

void fields_markdown(struct buf *out)
{
	buf_adds(out, "| column | unit | meaning |\n|---|---|---|\n");
	for (const struct field *f = fields; f->name; f++)
		if (field_find(f->name, strlen(f->name)) == f)
			buf_addf(out, "| `%s`%s | %s | %s |\n", f->name,
				f->required ? " (required)" : "", f->unit ? f->unit : "", f->help);
}
