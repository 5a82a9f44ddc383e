/* recommender/catalogue/regions.c: regions are found by each of their names. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/buf.h"
#include "recommender/catalogue/build.h"
#include "recommender/catalogue/regions.h"

static struct catalogue *catalogue(void)
{
	static const struct region regions[] = {
		{"gcp", "1000", "us-central1", "Iowa", "central|us-c1", "US", "North America", 0, 0,
			0, ""},
		{"gcp", "1100", "europe-west4", "Netherlands", "", "NL", "Europe", 0, 0, 0, ""},
		{"hcloud", "2", "nbg1-dc3", "Nuremberg", "nbg1", "DE", "Europe", 0, 0, 0, ""},
		{"azure", "westeurope", "westeurope", "West Europe", "", "NL", "Europe", 0, 0, 0,
			""},
		{"ovh", "1000", "GRA", "", "", "", "", 0, 0, 0, ""},
	};
	struct catalogue_builder *b = catalogue_builder_new();
	struct catalogue *c = NULL;
	struct err e = {0};

	for (size_t i = 0; i < ARRAY_LEN(regions); i++)
		assert_int_equal(catalogue_add_region(b, &regions[i], &e), 0);
	catalogue_finish(b, "test", &c);
	catalogue_builder_free(b);
	return c;
}

/* Expects exactly these regions: their api_references, each followed by a blank. */
static void assert_found(const struct catalogue *c, struct region_filter p, const char *expected)
{
	AUTO(arena_done) struct arena arena = {0};
	AUTO(buf_done) struct buf found = BUF_MAX(1024);
	const bool *allowed = NULL;

	assert_true(regions_find(c, &p, &arena, &allowed, NULL));
	if (!allowed) {
		assert_string_equal("all", expected);
	} else {
		assert_false(allowed[0]);
		for (size_t i = 1; i < c->n_regions; i++)
			if (allowed[i])
				buf_addf(&found, "%s ", c->region[i].api_reference);
		assert_string_equal(buf_text(&found), expected);
	}
}

#define WORDS(...)                                                                                 \
	{                                                                                          \
		ARRAY_LEN(((const char *[]){__VA_ARGS__})), (const char *[])                       \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}

static void regions_are_found_by_any_name(void **state)
{
	struct catalogue *c = catalogue();

	assert_found(c, (struct region_filter){0}, "all");
	assert_found(c, (struct region_filter){.regions = WORDS("us-central1")}, "us-central1 ");
	assert_found(c, (struct region_filter){.regions = WORDS("1000")}, "us-central1 GRA ");
	assert_found(c, (struct region_filter){.regions = WORDS("gcp~1000")}, "us-central1 ");
	assert_found(c, (struct region_filter){.regions = WORDS("GCP~US-Central1")},
		"us-central1 ");
	assert_found(c, (struct region_filter){.regions = WORDS("iowa")}, "us-central1 ");
	assert_found(c, (struct region_filter){.regions = WORDS("US-C1", "nbg1")},
		"us-central1 nbg1 ");
	/* Hetzner's data centre is a name of its location. */
	assert_found(c, (struct region_filter){.regions = WORDS("nbg1-dc3")}, "nbg1 ");
	assert_found(c, (struct region_filter){.countries = WORDS("nl")},
		"europe-west4 westeurope ");
	assert_found(c, (struct region_filter){.continents = WORDS("europe")},
		"europe-west4 nbg1 westeurope ");
	assert_found(c,
		(struct region_filter){
			.continents = WORDS("Europe"), .countries = WORDS("DE", "US")},
		"nbg1 ");
	catalogue_free(c);
}

/* Expects that the search fails because of this word of this list. */
static void assert_unknown(const struct catalogue *c, struct region_filter p, enum region_kind kind,
	const char *word)
{
	AUTO(arena_done) struct arena arena = {0};
	struct region_unknown unknown = {REGION_KINDS, NULL};
	const bool *allowed = NULL;

	assert_false(regions_find(c, &p, &arena, &allowed, &unknown));
	assert_null(allowed);
	assert_int_equal(unknown.kind, kind);
	assert_string_equal(unknown.word, word);
	assert_false(regions_find(c, &p, &arena, &allowed, NULL));
}

static void what_is_not_there_is_named(void **state)
{
	struct catalogue *c = catalogue();

	assert_unknown(c, (struct region_filter){.regions = WORDS("us-central1", "mars")},
		REGION_NAME, "mars");
	assert_unknown(c, (struct region_filter){.regions = WORDS("gcp~nbg1")}, REGION_NAME,
		"gcp~nbg1");
	assert_unknown(c, (struct region_filter){.regions = WORDS("central|us-c1")}, REGION_NAME,
		"central|us-c1");
	assert_unknown(c, (struct region_filter){.regions = WORDS("")}, REGION_NAME, "");
	assert_unknown(c, (struct region_filter){.countries = WORDS("DE", "FI")}, REGION_COUNTRY,
		"FI");
	assert_unknown(c, (struct region_filter){.continents = WORDS("Atlantis")}, REGION_CONTINENT,
		"Atlantis");
	/* The first list that has such a word is named. */
	assert_unknown(c,
		(struct region_filter){.regions = WORDS("nbg1"),
			.countries = WORDS("XX"),
			.continents = WORDS("Atlantis")},
		REGION_COUNTRY, "XX");
	catalogue_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_are_found_by_any_name),
		cmocka_unit_test(what_is_not_there_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
