/* exporter/site/exposition.c: one snapshot in all formats, byte by byte. */
#include "tests/unit/test_main.h"

#include <string.h>

#include "collectors/base/mem.h"
#include "exporter/site/exposition.h"
#include "tests/support/golden.h"
#include "tests/support/sample_snapshot.h"

#define BODY_MAX (1u << 20)

static struct buf render(enum exposition_format format, const struct exposition_filter *filter)
{
	struct snapshot_pool *pool = sample_pool();
	struct snapshot *s = sample_snapshot(pool);
	struct buf out = BUF_MAX(BODY_MAX);
	struct exposition_heads heads = {0};

	exposition_write(&out, s, format, filter, &heads);
	exposition_heads_done(&heads);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
	return out;
}

static void text_is_as_recorded(void **state)
{
	AUTO(buf_done) struct buf text = render(EXPOSITION_TEXT_0_0_4, NULL);
	AUTO(buf_done) struct buf newer = render(EXPOSITION_TEXT_1_0_0, NULL);

	golden_check("exposition.txt", buf_text(&text), text.len);
	/* Our metric names have only characters that both formats allow, so the formats differ only
	 * in their Content-Type. */
	assert_string_equal(buf_text(&newer), buf_text(&text));
}

static void openmetrics_is_as_recorded(void **state)
{
	AUTO(buf_done) struct buf text = render(EXPOSITION_OPENMETRICS_1_0_0, NULL);
	AUTO(buf_done) struct buf older = render(EXPOSITION_OPENMETRICS_0_0_1, NULL);

	golden_check("exposition.openmetrics", buf_text(&text), text.len);
	assert_string_equal(buf_text(&older), buf_text(&text));
}

/* Writes the names of the metric families in `body` as one line: "a b c". */
static void families(const char *body, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (const char *p = body; (p = strstr(p, "# TYPE ")); p++) {
		const char *name = p + strlen("# TYPE ");

		n += (size_t)snprintf(out + n, size - n, "%s%.*s", n ? " " : "",
			(int)strcspn(name, " "), name);
	}
}

#define HEALTH "rightsize_collector_success rightsize_collector_duration_seconds"

static void filters_keep_and_drop(void **state)
{
	static const struct {
		const char *collect[3], *exclude[3], *name[3];
		const char *families;
	} table[] = {
		{.collect = {"dogs"},
			.families = "rightsize_dog_info rightsize_dog_weight_ratio " HEALTH},
		{.collect = {"dogs", "cats"},
			.families = "rightsize_cats rightsize_cat_food_bytes_total "
				    "rightsize_cat_sleep_seconds_total rightsize_dog_info "
				    "rightsize_dog_weight_ratio " HEALTH},
		{.exclude = {"cats"},
			.families = "rightsize_dog_info rightsize_dog_weight_ratio " HEALTH},
		{.collect = {"fish"}, .families = ""},
		{.collect = {"birds"}, .families = HEALTH},
		{.name = {"rightsize_dog"}, .families = "rightsize_dog_info"},
		{.name = {"rightsize_dog_info"}, .families = "rightsize_dog_info"},
		{.name = {"rightsize_cat_food_bytes"},
			.families = "rightsize_cat_food_bytes_total"},
		{.name = {"rightsize_cat_food_bytes_total", "rightsize_cats"},
			.families = "rightsize_cats rightsize_cat_food_bytes_total"},
		{.name = {"rightsize_cat_food_bytes_info"}, .families = ""},
		{.name = {"rightsize_cat"}, .families = ""},
		{.name = {"rightsize_.*"}, .families = ""},
		{.name = {"rightsize_collector_success"},
			.families = "rightsize_collector_success"},
		{.collect = {"dogs"}, .name = {"rightsize_cats"}, .families = ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct exposition_filter f = {.collect = table[i].collect,
			.exclude = table[i].exclude,
			.name = table[i].name};
		char found[1024];

		for (; f.n_collect < 3 && table[i].collect[f.n_collect]; f.n_collect++)
			;
		for (; f.n_exclude < 3 && table[i].exclude[f.n_exclude]; f.n_exclude++)
			;
		for (; f.n_name < 3 && table[i].name[f.n_name]; f.n_name++)
			;
		AUTO(buf_done) struct buf b = render(EXPOSITION_TEXT_0_0_4, &f);

		families(buf_text(&b), found, sizeof found);
		assert_string_equal(found, table[i].families);
	}
}

static void health_is_that_of_the_chosen_collectors(void **state)
{
	static const char *const only[] = {"birds"};
	struct exposition_filter f = {.n_collect = 1, .collect = only};
	AUTO(buf_done) struct buf b = render(EXPOSITION_TEXT_0_0_4, &f);

	assert_non_null(strstr(buf_text(&b),
		"\nrightsize_collector_success{collector=\"birds\"} 0\n"));
	assert_null(strstr(buf_text(&b), "cats"));
}

static void openmetrics_without_families_still_ends(void **state)
{
	static const char *const none[] = {"nothing"};
	struct exposition_filter f = {.n_name = 1, .name = none};
	AUTO(buf_done) struct buf b = render(EXPOSITION_OPENMETRICS_1_0_0, &f);

	assert_string_equal(buf_text(&b), "# EOF\n");
}

static void assert_writes(const struct snapshot *s, struct exposition_heads *heads,
	const struct exposition_filter *filter)
{
	struct exposition_heads none = {0};
	struct buf fresh = BUF_MAX(BODY_MAX), out = BUF_MAX(BODY_MAX);

	buf_expect(&out, 7);
	exposition_write(&fresh, s, EXPOSITION_OPENMETRICS_1_0_0, filter, &none);
	exposition_write(&out, s, EXPOSITION_OPENMETRICS_1_0_0, filter, heads);
	assert_string_equal(buf_text(&out), buf_text(&fresh));
	buf_done(&fresh);
	buf_done(&out);
	exposition_heads_done(&none);
}

static void what_was_made_for_earlier_answers_fits_the_next(void **state)
{
	static const char *const dogs[] = {"dogs"};
	const struct exposition_filter only = {.n_collect = 1, .collect = dogs};
	struct snapshot_pool *pool = sample_pool();
	struct snapshot *s = sample_snapshot(pool);
	const struct collector *const last[] = {
		s->blocks[s->n_blocks - 1].collector, s->blocks[0].collector, NULL};
	struct snapshot_pool *others = snapshot_pool_new(last);
	struct snapshot *other = snapshot_take(others);
	struct exposition_heads heads = {0};

	for (int i = 0; i < 2; i++) {
		assert_writes(s, &heads, &only);
		assert_writes(s, &heads, NULL);
		assert_writes(other, &heads, NULL);
	}
	exposition_heads_done(&heads);
	shared_drop(&s->shared);
	shared_drop(&other->shared);
	snapshot_pool_free(pool);
	snapshot_pool_free(others);
}

static void a_body_that_is_too_large_is_seen(void **state)
{
	struct snapshot_pool *pool = sample_pool();
	struct snapshot *s = sample_snapshot(pool);
	struct buf out = BUF_MAX(500);
	struct exposition_heads heads = {0};

	exposition_write(&out, s, EXPOSITION_TEXT_0_0_4, NULL, &heads);
	assert_true(out.full);
	exposition_heads_done(&heads);
	buf_done(&out);
	shared_drop(&s->shared);
	snapshot_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_as_recorded),
		cmocka_unit_test(openmetrics_is_as_recorded),
		cmocka_unit_test(filters_keep_and_drop),
		cmocka_unit_test(health_is_that_of_the_chosen_collectors),
		cmocka_unit_test(openmetrics_without_families_still_ends),
		cmocka_unit_test(what_was_made_for_earlier_answers_fits_the_next),
		cmocka_unit_test(a_body_that_is_too_large_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
