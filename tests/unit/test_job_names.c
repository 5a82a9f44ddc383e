/* exporter/discovery/name_quota.c: the number of jobs is limited, and one user's names leave room
 * for other users' names. */
#include "tests/unit/test_main.h"

#include <stdio.h>
#include <string.h>

#include "exporter/discovery/name_quota.h"

#define MALLORY 1000
#define ROOT    0
#define OTHER   7

static const struct mono start = {NS_PER_S};

/* Begins a run and ends it at once. Returns true if the name was admitted. */
static bool short_run(struct name_quota *j, const char *name, uint64_t user, struct mono now)
{
	bool admitted = name_quota_admit(j, name, user, now);

	if (admitted)
		name_quota_ended(j, name);
	return admitted;
}

/* Makes short runs of the jobs NAME0, NAME1, ..., each a moment after the last. Returns how many
 * were admitted. */
static size_t short_runs(struct name_quota *j, const char *name, size_t n, uint64_t user,
	struct mono *now)
{
	char numbered[JOB_NAME_MAX];
	size_t admitted = 0;

	for (size_t i = 0; i < n; i++) {
		snprintf(numbered, sizeof numbered, "%s%zu", name, i);
		now->ns++;
		admitted += short_run(j, numbered, user, *now);
	}
	return admitted;
}

static size_t with_place(const struct name_quota *j)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += j->name[i].held > 0;
	return n;
}

static void only_so_many_jobs_are_let_in(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 2};
	struct mono now = start, next_day = {NS_PER_S * (JOB_NAME_REST_SECONDS + 10)};

	assert_true(name_quota_admit(&j, "a", ROOT, now));
	assert_true(name_quota_admit(&j, "b", ROOT, (struct mono){now.ns + 1}));
	assert_false(name_quota_admit(&j, "c", ROOT, now));
	assert_true(name_quota_admit(&j, "a", ROOT, now));
	/* A name with an active run keeps its place. A name that had no run for a day loses its
	 * place. */
	assert_true(name_quota_admit(&j, "b", ROOT, next_day));
	assert_true(name_quota_admit(&j, "c", ROOT, next_day));
	assert_true(name_quota_admit(&j, "b", ROOT, next_day));
	assert_false(name_quota_admit(&j, "a", ROOT, next_day));
}

/* A single user may use all places. */
static void a_user_alone_takes_no_place_from_himself(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 500};
	struct mono now = start;

	assert_int_equal(short_runs(&j, "mine", 520, MALLORY, &now), 500);
	assert_int_equal(short_runs(&j, "mine", 520, MALLORY, &now), 500);
	assert_false(short_run(&j, "another", MALLORY, now));
}

static void one_user_with_many_names_keeps_nobody_s_new_name_out(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 500};
	struct mono now = start;

	assert_int_equal(short_runs(&j, "evil", 520, MALLORY, &now), 500);
	assert_true(short_run(&j, "payroll", ROOT, now));
	assert_int_equal(with_place(&j), 500);
	/* No further name of MALLORY is admitted. */
	assert_false(short_run(&j, "evil", MALLORY, now));
	/* Two users may have half of the places each, three users a third each. */
	assert_int_equal(short_runs(&j, "report", 520, ROOT, &now), 249);
	assert_int_equal(short_runs(&j, "etl", 520, OTHER, &now), 166);
	assert_int_equal(with_place(&j), 500);
}

/* The name evil0 ran again, so the last run of evil1 is the oldest, and evil1 loses its place. */
static void of_the_user_with_most_places_gives_way_who_rested_for_longest(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 4};
	struct mono now = start;

	assert_true(short_run(&j, "small", OTHER, now));
	assert_int_equal(short_runs(&j, "evil", 3, MALLORY, &now), 3);
	now.ns++;
	assert_true(short_run(&j, "evil0", MALLORY, now));
	assert_true(short_run(&j, "payroll", ROOT, now));
	for (size_t i = 0; i < j.n; i++)
		assert_int_equal(j.name[i].held > 0, strcmp(j.name[i].name, "evil1") != 0);
}

static void a_name_with_a_run_keeps_its_place(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 3};

	assert_true(name_quota_admit(&j, "a", MALLORY, start));
	assert_true(name_quota_admit(&j, "b", MALLORY, start));
	assert_true(name_quota_admit(&j, "c", MALLORY, start));
	assert_true(name_quota_admit(&j, "b", MALLORY, start));
	name_quota_ended(&j, "b");
	assert_false(name_quota_admit(&j, "payroll", ROOT, start));
	name_quota_ended(&j, "b");
	assert_true(name_quota_admit(&j, "payroll", ROOT, start));
	for (size_t i = 0; i < j.n; i++)
		assert_int_equal(j.name[i].held > 0, strcmp(j.name[i].name, "b") != 0);
	/* The end of a name that has no place, or that was never admitted, changes nothing. */
	name_quota_ended(&j, "b");
	name_quota_ended(&j, "unknown");
}

/* All jobs of the first user are admitted again on each day. Otherwise a newcomer with many names
 * would take their places, and the runs of these jobs would never be recorded again. */
static void no_job_is_lost_when_its_place_went_to_another_user(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 500};
	struct mono now = start;

	assert_int_equal(short_runs(&j, "nightly", 480, OTHER, &now), 480);
	assert_int_equal(short_runs(&j, "evil", 520, MALLORY, &now), 250);
	for (int day = 0; day < 3; day++) {
		now.ns += (JOB_NAME_REST_SECONDS - 60) * NS_PER_S;
		assert_int_equal(short_runs(&j, "nightly", 480, OTHER, &now), 480);
		assert_int_equal(short_runs(&j, "evil", 520, MALLORY, &now), 250);
		assert_int_equal(with_place(&j), 500);
	}
}

/* All other names of ROOT have a run, so none of them can lose its place. The names of MALLORY have
 * no run. */
static void a_job_gets_a_place_back_while_the_others_of_its_user_run(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 4};

	for (int i = 1; i <= 4; i++)
		assert_true(short_run(&j, (char[]){'b', (char)('0' + i), '\0'}, MALLORY, start));
	assert_true(short_run(&j, "a1", ROOT, start));
	assert_true(short_run(&j, "a2", ROOT, start));
	assert_true(name_quota_admit(&j, "b3", MALLORY, start));
	assert_true(name_quota_admit(&j, "b4", MALLORY, start));
	assert_true(name_quota_admit(&j, "b1", MALLORY, start));
	assert_true(name_quota_admit(&j, "b2", MALLORY, start));
	assert_int_equal(with_place(&j), 4);
	/* All names have a run now. */
	assert_false(name_quota_admit(&j, "a1", ROOT, start));
}

/* Several users may run one job. If the job has a place, a run by another user takes no second
 * place. If the job has lost its place, it gets a place of the user who runs it. */
static void a_name_without_a_place_is_anybody_s(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 4};
	struct mono now = start;

	assert_int_equal(short_runs(&j, "evil", 4, MALLORY, &now), 4);
	assert_true(short_run(&j, "evil3", ROOT, now));
	assert_true(short_run(&j, "payroll", ROOT, now));
	assert_true(short_run(&j, "evil0", ROOT, now));
	assert_int_equal(with_place(&j), 4);
	assert_false(short_run(&j, "report", ROOT, now));
	assert_true(short_run(&j, "evil1", MALLORY, now));
}

/* Users who take places from each other all the time must not bring an endless number of names into
 * Prometheus. */
static void places_that_go_to_and_fro_bring_no_names_without_end(void **state)
{
	AUTO(name_quota_done) struct name_quota j = {.max = 50};
	struct mono now = start;
	char name[32];
	size_t admitted = 0;

	for (unsigned users = 2; users <= 1024; users *= 2)
		for (unsigned i = 0; i < 2048; i++) {
			now.ns++;
			snprintf(name, sizeof name, "evil-%u-%u", users, i);
			admitted += short_run(&j, name, i % users, now);
		}
	assert_in_range(admitted, 50, 100);
	assert_in_range(j.n, 50, 100);
	assert_int_equal(with_place(&j), 50);
	/* The next day there is room for 50 more names. */
	now.ns += JOB_NAME_REST_SECONDS * NS_PER_S;
	assert_int_equal(short_runs(&j, "good", 60, ROOT, &now), 50);
	assert_in_range(j.n, 50, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_so_many_jobs_are_let_in),
		cmocka_unit_test(a_user_alone_takes_no_place_from_himself),
		cmocka_unit_test(one_user_with_many_names_keeps_nobody_s_new_name_out),
		cmocka_unit_test(of_the_user_with_most_places_gives_way_who_rested_for_longest),
		cmocka_unit_test(a_name_with_a_run_keeps_its_place),
		cmocka_unit_test(no_job_is_lost_when_its_place_went_to_another_user),
		cmocka_unit_test(a_job_gets_a_place_back_while_the_others_of_its_user_run),
		cmocka_unit_test(a_name_without_a_place_is_anybody_s),
		cmocka_unit_test(places_that_go_to_and_fro_bring_no_names_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
