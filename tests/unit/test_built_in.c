/* recommender/catalogue/unpack.c, and the facts of the built-in catalogue. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "recommender/catalogue/regions.h"
#include "recommender/catalogue/unpack.h"

extern const unsigned char built_in_pack[];
extern const size_t built_in_pack_size;

static struct catalogue *built_in;

static int load(void **state)
{
	struct err e = {0};

	return catalogue_built_in(&built_in, &e);
}

static int unload(void **state)
{
	catalogue_free(built_in);
	return 0;
}

/* The figures are those that built_in.py computes from the tables: `built_in.py digest
 * built_in.pack` prints them. The checksum covers each price with its server, allocation, region
 * and currency. */
static void every_price_of_the_tables_is_there(void **state)
{
	const struct catalogue *c = built_in;
	uLong checksum = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct server *s = &c->server[i];

		for (uint32_t k = 0; k < s->n_prices; k++) {
			const struct price *p = &c->price[s->first_price + k];
			char line[256];
			int n = snprintf(line, sizeof line, "%s %s %d %d %s %d %lld\n",
				s->vendor_id, s->server_id, p->allocation, p->region,
				c->currency[p->currency].code, p->estimated,
				llround(p->price * 1e7));

			checksum = crc32(checksum, (const Bytef *)line, (uInt)n);
		}
	}
	assert_int_equal(c->n, 5724);
	assert_int_equal(c->n_prices, 86233);
	assert_int_equal(c->n_regions - 1, 221);
	assert_int_equal(checksum, 0x97ad801b);
}

/* Returns the price of a server in a region by the name that people type; NaN = none. */
static double price_in(const char *vendor, const char *name, const char *region,
	enum allocation allocation)
{
	const struct server *s = catalogue_find(built_in, vendor, name);

	assert_non_null(s);
	for (uint32_t k = 0; k < s->n_prices; k++) {
		const struct price *p = &built_in->price[s->first_price + k];

		if (p->allocation == allocation &&
			(*region ? region_is(&built_in->region[p->region], region) :
				   p->region == 0))
			return p->price;
	}
	return NAN;
}

static void prices_are_those_of_the_tables(void **state)
{
	static const struct {
		const char *vendor, *name, *region;
		enum allocation allocation;
		double price;
	} table[] = {
		{"aws", "m5.xlarge", "us-east-1", ALLOCATION_ONDEMAND, 0.192},
		{"aws", "c5.large", "us-east-1", ALLOCATION_ONDEMAND, 0.085},
		{"aws", "m5.xlarge", "eu-west-1", ALLOCATION_ONDEMAND, NAN},
		{"aws", "hpc7a.96xlarge", "", ALLOCATION_ONDEMAND, 7.2},
		{"azure", "Standard_D2s_v5", "eastus", ALLOCATION_ONDEMAND, 0.096},
		{"azure", "Standard_D4s_v3", "westeurope", ALLOCATION_ONDEMAND, 0.24},
		/* The table has the price with Windows in eastus: 0.195. */
		{"azure", "Standard_D2ads_v5", "eastus", ALLOCATION_ONDEMAND, NAN},
		{"azure", "Standard_D2ads_v5", "eastus2", ALLOCATION_ONDEMAND, 0.103},
		{"azure", "Standard_B2pls_v2", "westeurope", ALLOCATION_ONDEMAND, NAN},
		{"azure", "Standard_B2pls_v2", "eastus", ALLOCATION_ONDEMAND, 0.0336},
		{"azure", "Standard_E112ias_v5", "mexicocentral", ALLOCATION_ONDEMAND, NAN},
		/* The table has the price of dedicated tenancy for the first two: 2.3066, 5.8784. */
		{"aws", "c6g.metal", "us-east-1", ALLOCATION_ONDEMAND, 2.176},
		{"aws", "x2gd.metal", "us-east-1", ALLOCATION_ONDEMAND, 5.344},
		{"aws", "m7g.metal", "us-east-1", ALLOCATION_ONDEMAND, 2.6112},
		{"gcp", "n1-standard-1", "us-central1", ALLOCATION_ONDEMAND, 0.04749975},
		{"gcp", "e2-medium", "us-central1", ALLOCATION_ONDEMAND, 0.03350571},
		{"gcp", "e2-medium", "1000", ALLOCATION_ONDEMAND, 0.03350571},
		{"gcp", "c2-standard-4", "us-central1", ALLOCATION_ONDEMAND, 0.208808},
		{"hcloud", "cx33", "", ALLOCATION_ONDEMAND, 0.0136},
		{"vultr", "vc2-2c-4gb", "", ALLOCATION_ONDEMAND, 0.027},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		double found = price_in(table[i].vendor, table[i].name, table[i].region,
			table[i].allocation);

		/* The pack rounds prices to 1e-7, so a price may differ by half of that. */
		if (isnan(found) != isnan(table[i].price) ||
			fabs(found - table[i].price) > 5.0001e-8)
			fail_msg("%s in %s: %.9g, not %.9g", table[i].name, table[i].region, found,
				table[i].price);
	}
	assert_true(price_in("gcp", "n1-standard-1", "us-central1", ALLOCATION_SPOT) <
		    price_in("gcp", "n1-standard-1", "us-central1", ALLOCATION_ONDEMAND));
}

/* The lowest price of a server is a real price, not an estimate. */
static void estimates_are_marked_and_never_the_lowest_price(void **state)
{
	size_t aws = 0, others = 0;

	for (size_t i = 0; i < built_in->n; i++) {
		const struct server *s = &built_in->server[i];
		bool is_aws = strcmp(s->vendor_id, "aws") == 0;

		for (uint32_t k = 0; k < s->n_prices; k++) {
			const struct price *p = &built_in->price[s->first_price + k];

			assert_int_equal(p->estimated, is_aws && p->allocation == ALLOCATION_SPOT);
			aws += p->estimated;
			others += !p->estimated && p->allocation == ALLOCATION_SPOT;
		}
		if (is_aws)
			assert_true(isnan(s->min_price_spot));
	}
	assert_true(aws > 800 && others > 10000);
}

static void regions_can_be_typed_and_have_a_place(void **state)
{
	static const char *const names[][4] = {{"gcp", "us-central1", "US", "North America"},
		{"hcloud", "fsn1", "DE", "Europe"}, {"hcloud", "fsn1-dc14", "DE", "Europe"},
		{"azure", "mexicocentral", "MX", "North America"},
		{"aws", "N. Virginia", "US", "North America"}, {"ovh", "GRA11", "FR", "Europe"}};

	for (size_t i = 1; i < built_in->n_regions; i++) {
		const struct region *r = &built_in->region[i];

		assert_true(*r->vendor_id && *r->region_id && *r->api_reference &&
			    *r->display_name && strlen(r->country_id) == 2 && *r->continent);
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t found = 0;

		for (size_t k = 1; k < built_in->n_regions; k++)
			found += strcmp(built_in->region[k].vendor_id, names[i][0]) == 0 &&
				 region_is(&built_in->region[k], names[i][1]) &&
				 strcmp(built_in->region[k].country_id, names[i][2]) == 0 &&
				 strcmp(built_in->region[k].continent, names[i][3]) == 0;
		assert_int_equal(found, 1);
	}
}

/* The table of Spare Cores wrongly lists these servers as x86_64 or i386. */
static void architectures_are_corrected(void **state)
{
	assert_int_equal(catalogue_find(built_in, "gcp", "c4a-standard-4")->cpu_architecture,
		ARCHITECTURE_ARM64);
	assert_int_equal(catalogue_find(built_in, "aws", "t2.micro")->cpu_architecture,
		ARCHITECTURE_X86_64);
	assert_null(catalogue_find(built_in, "aws", "mac2.metal"));
}

/* The table of Spare Cores has 1 or 0 GPUs for these servers. */
static void a_part_of_a_gpu_is_not_a_gpu(void **state)
{
	static const struct {
		const char *vendor, *name;
		double gpus, memory; /* memory in MiB */
	} table[] = {
		{"azure", "Standard_NV4as_v4", 0.125, 2048},
		{"azure", "Standard_NV6ads_A10_v5", 0.1667, 4096},
		{"azure", "Standard_NV18ads_A10_v5", 0.5, 12288},
		{"azure", "Standard_NV24ads_V710_v5", 1, 24576},
		{"azure", "Standard_NV72ads_A10_v5", 2, NAN},
		{"alicloud", "ecs.vgn6i-m4-vws.xlarge", 0.25, 4096},
		{"alicloud", "ecs.vgn6i-m16-vws.5xlarge", 1, 16384},
		{"alicloud", "ecs.sgn8ga-wy-256g-x2.16xlarge", 2, 98304},
		{"aws", "g6f.large", 0.125, 2861},
		{"aws", "g6.xlarge", 1, 22888},
		{"gcp", "g4-standard-6", 0.125, 12288},
		{"gcp", "g4-standard-48", 1, NAN},
		{"aws", "m5.xlarge", 0, NAN},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct server *s = catalogue_find(built_in, table[i].vendor, table[i].name);

		assert_true(s->gpu_count == table[i].gpus);
		assert_int_equal(isnan(s->gpu_memory_total), isnan(table[i].memory));
		assert_true(isnan(table[i].memory) || s->gpu_memory_total == table[i].memory);
	}
}

static void a_damaged_pack_is_an_error(void **state)
{
	unsigned char *copy = xmalloc(built_in_pack_size);
	struct catalogue *c = NULL;
	struct err e = {0};

	memcpy(copy, built_in_pack, built_in_pack_size);
	assert_int_equal(catalogue_from_pack(&c, copy, built_in_pack_size, "pack", &e), 0);
	catalogue_free(c);
	for (size_t at = 0; at < built_in_pack_size; at += 9973) {
		copy[at] ^= 0x10;
		assert_int_equal(catalogue_from_pack(&c, copy, built_in_pack_size, "pack", &e),
			-EBADMSG);
		assert_non_null(strstr(e.text, "pack: "));
		copy[at] ^= 0x10;
		assert_int_equal(catalogue_from_pack(&c, copy, at, "pack", &e), -EBADMSG);
	}
	free(copy);
}

#define HEAD                                                                                       \
	"from here\0"                                                                              \
	"2026-08\0"
#define VENDOR "vendor\0\1\1vendor_id\0\2v\0"
#define REGION "region\0\1\2vendor_id\0\2region_id\0\2v\0r\0"
#define SERVER                                                                                     \
	"server\0\3\4vendor_id\0\6server_id\0\6vcpus\0\6memory_amount\0\6"                         \
	"v\0v\0v\0a\0b\0c\0001\0002\0004\0008\0008\0008\0"
#define PRICE                                                                                      \
	"price\0\2\5vendor_id\0\4region_id\0\3allocation\0\2currency\0\2estimated\0\6"             \
	"v\0v\0r\0\0\0\0\0\0\0true\0"
/* The first row has 200 for a, no price for b, and 400 for c. The second row has 100 for a, and one
 * more than twice that for c. */
#define PRICES                                                                                     \
	"\x91\3\0\x91\3"                                                                           \
	"\xc9\1\0\3"

#define BYTES(text) (text), sizeof(text) - 1

static void a_pack_is_read_as_described(void **state)
{
	static const char text[] = HEAD VENDOR REGION SERVER PRICE PRICES;
	struct catalogue *c = NULL;
	struct err e = {0};

	if (catalogue_from_unpacked(&c, BYTES(text), "small", &e))
		fail_msg("%s", e.text);
	assert_string_equal(c->note, "from here");
	assert_string_equal(c->as_of, "2026-08");
	assert_int_equal(c->n_prices, 4);
	assert_int_equal(c->server[1].n_prices, 0);
	const struct price *of_c = &c->price[c->server[2].first_price];

	/* The price without a region, which has the index 0, comes first. */
	assert_true(of_c[0].region == 0 && of_c[0].estimated && of_c[0].price == 201e-7);
	assert_true(of_c[1].region == 1 && !of_c[1].estimated && of_c[1].price == 400e-7);
	assert_true(c->server[2].min_price_ondemand == 400e-7);
	catalogue_free(c);
	c = NULL;
	for (size_t len = 0; len < sizeof text - 1; len++)
		assert_true(catalogue_from_unpacked(&c, text, len, "small", &e) < 0 && !c);
}

static void each_fault_of_a_pack_is_named(void **state)
{
	static const struct {
		const char *text;
		size_t len;
		const char *says;
	} table[] = {
		{BYTES(HEAD VENDOR REGION SERVER PRICE PRICES "x"), "end"},
		{BYTES(HEAD "vendor\0\1\1colour\0\2v\0"), "no column is called \"colour\""},
		{BYTES(HEAD "vendor\0\1\1vendor_id\0\x7fv\0"),
			"vendor: the packed catalogue is damaged"},
		{BYTES(HEAD "vendor\0\2\1vendor_id\0\2v\0"),
			"vendor: the packed catalogue is damaged"},
		{BYTES(HEAD "vendor\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"), "damaged"},
		{BYTES(HEAD VENDOR "region\0\0\0server\0\1\2vendor_id\0\2vcpus\0\2v\0x\0"),
			"server: vcpus: \"x\" is not a number"},
		{BYTES(HEAD VENDOR REGION "server\0\0\0" PRICE PRICES),
			"price: no server is of the vendor \"v\""},
		{BYTES(HEAD VENDOR REGION SERVER PRICE "\2\0\0"
						       "\0\0\0"),
			"price: the packed"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct catalogue *c = NULL;
		struct err e = {0};

		assert_true(catalogue_from_unpacked(&c, table[i].text, table[i].len, "p", &e) < 0);
		if (!strstr(e.text, table[i].says))
			fail_msg("no \"%s\" in %s", table[i].says, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_price_of_the_tables_is_there),
		cmocka_unit_test(prices_are_those_of_the_tables),
		cmocka_unit_test(estimates_are_marked_and_never_the_lowest_price),
		cmocka_unit_test(regions_can_be_typed_and_have_a_place),
		cmocka_unit_test(architectures_are_corrected),
		cmocka_unit_test(a_part_of_a_gpu_is_not_a_gpu),
		cmocka_unit_test(a_damaged_pack_is_an_error),
		cmocka_unit_test(a_pack_is_read_as_described),
		cmocka_unit_test(each_fault_of_a_pack_is_named),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
