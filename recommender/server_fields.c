/* The fields of a server, and how each is read and written. */
#include "recommender/server_fields.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

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
const char *const cpu_allocation_name[CPU_ALLOCATION_COUNT] = {
	[CPU_ALLOCATION_UNKNOWN] = "",
	[CPU_SHARED] = "Shared",
	[CPU_BURSTABLE] = "Burstable",
	[CPU_DEDICATED] = "Dedicated",
};
const char *const allocation_name[ALLOCATION_COUNT] = {
	[ALLOCATION_ONDEMAND] = "ondemand",
	[ALLOCATION_SPOT] = "spot",
	[ALLOCATION_RESERVED] = "reserved",
};
static const char *const status_name[] = {"inactive", "active"};

/* clang-format off */
#define AT(member) .offset = offsetof(struct server, member)

const struct server_field server_fields[] = {
	{.name = "vendor_id", .kind = FIELD_TEXT, .required = true, AT(vendor_id),
		.help = "Who rents it out: aws, gcp, azure, hcloud, upcloud, ovh, alicloud, vultr, or a name of your own"},
	{.name = "server_id", .kind = FIELD_TEXT, .required = true, AT(server_id),
		.help = "The vendor's identifier of the type; unique within the vendor"},
	{.name = "api_reference", .kind = FIELD_TEXT, AT(api_reference),
		.help = "What the vendor's API calls the type; server_id when empty"},
	{.name = "display_name", .kind = FIELD_TEXT, AT(display_name),
		.help = "What people call the type; api_reference when empty"},
	{.name = "family", .kind = FIELD_TEXT, AT(family), .help = "Name of the group of types"},
	{.name = "cpu_architecture", .kind = FIELD_ARCHITECTURE, AT(cpu_architecture),
		.help = "x86_64, arm64, i386, x86_64_mac or arm64_mac"},
	{.name = "cpu_allocation", .kind = FIELD_CPU_ALLOCATION, AT(cpu_allocation),
		.help = "Dedicated, Shared (with other customers) or Burstable (full speed only for a while)"},
	{.name = "cpu_manufacturer", .kind = FIELD_TEXT, AT(cpu_manufacturer),
		.help = "Who makes the processor"},
	{.name = "vcpus", .kind = FIELD_NUMBER, .required = true, AT(vcpus), .help = "CPUs as the system sees them"},
	{.name = "cpu_cores", .kind = FIELD_NUMBER, AT(cpu_cores), .help = "Physical cores"},
	{.name = "memory_amount", .unit = "MiB", .kind = FIELD_NUMBER, .required = true, AT(memory_amount),
		.help = "Memory as sold"},
	{.name = "memory_amount_actual", .unit = "MiB", .kind = FIELD_NUMBER, AT(memory_amount_actual),
		.help = "Memory as the system sees it"},
	{.name = "gpu_count", .kind = FIELD_NUMBER, AT(gpu_count),
		.help = "GPUs; may be a fraction, as 0.5 of a divided one"},
	{.name = "gpu_manufacturer", .kind = FIELD_TEXT, AT(gpu_manufacturer), .help = "Who makes the GPU"},
	{.name = "gpu_family", .kind = FIELD_TEXT, AT(gpu_family), .help = "Architecture of the GPU"},
	{.name = "gpu_model", .kind = FIELD_TEXT, AT(gpu_model), .help = "Model of the GPU"},
	{.name = "gpu_memory_min", .unit = "MiB", .kind = FIELD_NUMBER, AT(gpu_memory_min),
		.help = "Memory of the smallest GPU"},
	{.name = "gpu_memory_total", .unit = "MiB", .kind = FIELD_NUMBER, AT(gpu_memory_total),
		.help = "Memory of all GPUs together"},
	{.name = "storage_size", .unit = "GB", .kind = FIELD_NUMBER, AT(storage_size), .help = "Local storage"},
	{.name = "storage_type", .kind = FIELD_TEXT, AT(storage_type),
		.help = "hdd, ssd, nvme ssd or network"},
	{.name = "network_speed_baseline", .unit = "Gbps", .kind = FIELD_NUMBER, AT(network_speed_baseline),
		.help = "Network speed that lasts"},
	{.name = "status", .kind = FIELD_STATUS, AT(active),
		.help = "active or inactive (no longer rented out); active when empty"},
	{.name = "score", .kind = FIELD_NUMBER, AT(score),
		.help = "SCore: speed of all CPUs together (stress-ng div16)"},
	{.name = "score1", .kind = FIELD_NUMBER, AT(score1), .help = "SCore of a single CPU"},
	{.name = "region_id", .kind = FIELD_TEXT, AT(region_id),
		.help = "Where the prices hold; empty = the vendor's lowest anywhere"},
	{.name = "min_price_ondemand", .unit = "currency/hour", .kind = FIELD_NUMBER, AT(min_price_ondemand),
		.help = "Price on demand"},
	{.name = "min_price_spot", .unit = "currency/hour", .kind = FIELD_NUMBER, AT(min_price_spot),
		.help = "Price as a spot or preemptible machine"},
	{.name = "currency", .kind = FIELD_TEXT, AT(currency), .help = "ISO 4217 code of the prices; USD when empty"},
	{0},
};
/* clang-format on */

bool name_find(const char *const *names, size_t n, const char *text, unsigned *ret)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(names[i], text) == 0) {
			*ret = (unsigned)i;
			return true;
		}
	return false;
}

const struct server_field *server_field_find(const char *name, size_t len)
{
	for (const struct server_field *f = server_fields; f->name; f++)
		if (strlen(f->name) == len && memcmp(f->name, name, len) == 0)
			return f;
	return NULL;
}

static void *field_at(const struct server_field *f, struct server *s)
{
	return (char *)s + f->offset;
}

static const void *field_in(const struct server_field *f, const struct server *s)
{
	return (const char *)s + f->offset;
}

void server_clear(struct server *s)
{
	*s = (struct server){.active = true};
	for (const struct server_field *f = server_fields; f->name; f++) {
		if (f->kind == FIELD_TEXT)
			*(const char **)field_at(f, s) = "";
		else if (f->kind == FIELD_NUMBER)
			*(double *)field_at(f, s) = NAN;
	}
}

static int set_enum(const struct server_field *f, const char *text, const char *const *names,
	size_t n, unsigned *ret, struct err *e)
{
	if (name_find(names, n, text, ret))
		return 0;
	return err_set(e, -EINVAL, "\"%.40s\" is not known; accepted: %s", text, f->help);
}

static int set_plain_text(
	const struct server_field *f, struct server *s, const char *text, struct err *e)
{
	size_t len = strlen(text);

	if (len >= SERVER_TEXT_MAX)
		return err_set(e, -EINVAL, "a text of %zu bytes; at most %d are allowed", len,
			SERVER_TEXT_MAX - 1);
	if (!utf8_valid(text, len))
		return err_set(e, -EINVAL, "not valid UTF-8");
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '\x7f')
			return err_set(e, -EINVAL, "has a control character");
	*(const char **)field_at(f, s) = text;
	return 0;
}

int server_field_set_text(
	const struct server_field *f, struct server *s, const char *text, struct err *e)
{
	unsigned found = 0;
	int code;

	switch (f->kind) {
	case FIELD_TEXT:
		return set_plain_text(f, s, text, e);
	case FIELD_NUMBER: {
		struct scan number = SCAN(text, strlen(text));
		double v = NAN;

		if (*text && (!scan_double(&number, &v) || !scan_end(&number)))
			return err_set(e, -EINVAL, "\"%.40s\" is not a number", text);
		if (v < 0)
			return err_set(e, -EINVAL, "%.40s is negative", text);
		*(double *)field_at(f, s) = v;
		return 0;
	}
	case FIELD_ARCHITECTURE:
		code = set_enum(f, text, architecture_name, ARCHITECTURE_COUNT, &found, e);
		if (code == 0)
			*(enum architecture *)field_at(f, s) = (enum architecture)found;
		return code;
	case FIELD_CPU_ALLOCATION:
		code = set_enum(f, text, cpu_allocation_name, CPU_ALLOCATION_COUNT, &found, e);
		if (code == 0)
			*(enum cpu_allocation *)field_at(f, s) = (enum cpu_allocation)found;
		return code;
	case FIELD_STATUS:
		if (!*text)
			return 0;
		code = set_enum(f, text, status_name, ARRAY_LEN(status_name), &found, e);
		if (code == 0)
			*(bool *)field_at(f, s) = found == 1;
		return code;
	}
	return -EINVAL;
}

int server_field_set_number(const struct server_field *f, struct server *s, double v, struct err *e)
{
	if (f->kind != FIELD_NUMBER)
		return err_set(e, -EINVAL, "a number where a text belongs");
	if (v < 0)
		return err_set(e, -EINVAL, "%g is negative", v);
	*(double *)field_at(f, s) = v;
	return 0;
}

double server_field_number(const struct server_field *f, const struct server *s)
{
	return f->kind == FIELD_NUMBER ? *(const double *)field_in(f, s) : (double)NAN;
}

const char *server_field_text(const struct server_field *f, const struct server *s)
{
	switch (f->kind) {
	case FIELD_TEXT:
		return *(const char *const *)field_in(f, s);
	case FIELD_ARCHITECTURE:
		return architecture_name[*(const enum architecture *)field_in(f, s)];
	case FIELD_CPU_ALLOCATION:
		return cpu_allocation_name[*(const enum cpu_allocation *)field_in(f, s)];
	case FIELD_STATUS:
		return status_name[*(const bool *)field_in(f, s)];
	case FIELD_NUMBER:
		break;
	}
	return "";
}
