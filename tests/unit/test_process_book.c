/* collectors/process/process_book.c: which processes are read, and at which times. /proc is
 * simulated in memory. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/process/process_book.h"
#include "tests/support/jobs_world.h"

struct watch {
	struct world *w;
	struct process_book *book;
	char looked[200], gone[200];
};

static struct watch *watch_new(void)
{
	struct watch *t = xcalloc(1, sizeof *t);

	t->w = world_new();
	t->w->host.own_pid_namespace = true;
	t->w->host.now.mono.ns = 1000 * NS_PER_S;
	t->book = process_book_new();
	return t;
}

static void watch_freep(struct watch **owner)
{
	struct watch *t = *owner;

	process_book_free(t->book);
	world_freep(&t->w);
	free(t);
}

static void start(struct watch *t, int pid, int ppid, unsigned long second)
{
	char path[64], text[64];

	PUT(t->w, .pid = pid, .ppid = ppid, .start = (unsigned)second * 100);
	snprintf(path, sizeof path, "%d/status", pid);
	snprintf(text, sizeof text, "Name:\tx\nTgid:\t%d\nPid:\t%d\n", pid, pid);
	memory_tree_text(t->w->proc, path, text);
}

static void last_pid_is(struct watch *t, int pid)
{
	char text[64];

	snprintf(text, sizeof text, "0.00 0.01 0.05 1/200 %d\n", pid);
	memory_tree_text(t->w->proc, "loadavg", text);
}

static void note(char *out, size_t size, const struct booked_process *p)
{
	size_t n = strlen(out);

	snprintf(out + n, size - n, "%d ", (int)p->pid);
}

static void looked(void *context, struct booked_process *p)
{
	struct watch *t = context;

	note(t->looked, sizeof t->looked, p);
}

static void forgot(void *context, struct booked_process *p)
{
	struct watch *t = context;

	note(t->gone, sizeof t->gone, p);
}

/* Returns the processes that are read after `seconds`. */
static const char *after(struct watch *t, double seconds)
{
	t->w->host.now.mono.ns += (int64_t)(seconds * 1e9);
	t->looked[0] = t->gone[0] = '\0';
	process_book_look(t->book, &t->w->host, looked, forgot, t);
	return t->looked;
}

static void parents_come_before_children(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();

	start(t, 50, 1, 10);
	start(t, 20, 50, 11);
	start(t, 30, 20, 11);
	last_pid_is(t, 50);
	assert_string_equal(after(t, 0), "50 20 30 ");
	assert_int_equal(process_book_find(t->book, 30)->ppid, 20);
	assert_null(process_book_find(t->book, 31));
}

static void old_process_is_looked_at_again_only_when_twice_as_old(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();

	start(t, 20, 1, 990);
	last_pid_is(t, 20);
	assert_string_equal(after(t, 0), "20 ");
	assert_string_equal(after(t, 9), "");
	assert_string_equal(after(t, 2), "20 ");
	assert_string_equal(after(t, 19), "");
	assert_string_equal(after(t, 3), "20 ");
}

static void nothing_is_read_of_those_that_are_known(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();
	int calls;
	struct tree *inner = t->w->host.proc;

	for (int pid = 100; pid < 1100; pid++)
		start(t, pid, 1, 10);
	last_pid_is(t, 2000);
	after(t, 0);
	calls = 1000000;
	t->w->host.proc = failing_tree(inner, &calls, -EIO);
	after(t, 1);
	tree_free(t->w->host.proc);
	t->w->host.proc = inner;
	assert_int_equal(1000000 - calls, 1);
}

static void new_number_is_found_and_thread_is_not(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();

	start(t, 20, 1, 10);
	last_pid_is(t, 20);
	after(t, 0);
	start(t, 21, 20, 1000);
	start(t, 22, 20, 1000);
	memory_tree_text(t->w->proc, "22/status", "Name:\tx\nTgid:\t20\nPid:\t22\n");
	last_pid_is(t, 23);
	assert_string_equal(after(t, 1), "21 ");
	/* If there are many new pids at once, new processes are found in the list of /proc. */
	start(t, 300, 20, 1001);
	memory_tree_remove(t->w->proc, "22");
	last_pid_is(t, 300);
	assert_string_equal(after(t, 0.05), "300 ");
}

static void number_that_changed_hands_is_a_new_process(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();

	start(t, 20, 1, 10);
	start(t, 900, 1, 10);
	last_pid_is(t, 900);
	after(t, 0);
	process_book_find(t->book, 20)->program = 7;
	/* The pids wrapped around, and 20 is used again. */
	start(t, 20, 900, 1000);
	last_pid_is(t, 20);
	after(t, 1);
	assert_string_equal(t->gone, "20 ");
	assert_int_equal(process_book_find(t->book, 20)->program, 0);
	assert_int_equal(process_book_find(t->book, 20)->ppid, 900);
}

static void process_that_is_gone_is_forgotten(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();

	start(t, 20, 1, 10);
	start(t, 21, 1, 10);
	last_pid_is(t, 21);
	after(t, 0);
	gone(t->w, 21);
	for (int i = 0; i < 70 && !t->gone[0]; i++)
		after(t, 1);
	assert_string_equal(t->gone, "21 ");
}

/* Returns the result of after() when call number `n` (from 0) times out. */
static const char *after_unanswered(struct watch *t, double seconds, int n)
{
	struct tree *inner = t->w->host.proc;

	t->w->host.proc = failing_tree(inner, &n, -ETIMEDOUT);
	const char *ret = after(t, seconds);

	tree_free(t->w->host.proc);
	t->w->host.proc = inner;
	assert_true(n < 0);
	return ret;
}

/* A process that does not answer is not forgotten. Otherwise its run would begin again. */
static void one_that_does_not_answer_is_looked_at_as_soon_as_it_does(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();

	start(t, 20, 1, 990);
	last_pid_is(t, 20);
	after(t, 0);
	/* Call 0 reads the last pid. Call 1 reads the process that is due. */
	assert_string_equal(after_unanswered(t, 10, 1), "");
	assert_string_equal(t->gone, "");
	assert_string_equal(after(t, 1), "20 ");
	/* Now call 2, which reads the new process, times out. */
	start(t, 21, 1, 1011);
	last_pid_is(t, 21);
	assert_string_equal(after_unanswered(t, 0.01, 2), "");
	assert_string_equal(after(t, 0.01), "21 ");
}

static void all_are_listed_where_the_last_number_is_unknown(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();

	t->w->host.own_pid_namespace = false;
	start(t, 20, 1, 10);
	last_pid_is(t, 20);
	assert_string_equal(after(t, 0), "20 ");
	start(t, 21, 1, 1000);
	assert_string_equal(after(t, 1), "21 ");
}

static void all_are_due_when_asked_to_look_again(void **state)
{
	AUTO(watch_freep) struct watch *t = watch_new();

	start(t, 20, 1, 10);
	last_pid_is(t, 20);
	after(t, 0);
	process_book_again(t->book);
	assert_string_equal(after(t, 0.01), "20 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents_come_before_children),
		cmocka_unit_test(old_process_is_looked_at_again_only_when_twice_as_old),
		cmocka_unit_test(nothing_is_read_of_those_that_are_known),
		cmocka_unit_test(new_number_is_found_and_thread_is_not),
		cmocka_unit_test(number_that_changed_hands_is_a_new_process),
		cmocka_unit_test(process_that_is_gone_is_forgotten),
		cmocka_unit_test(one_that_does_not_answer_is_looked_at_as_soon_as_it_does),
		cmocka_unit_test(all_are_listed_where_the_last_number_is_unknown),
		cmocka_unit_test(all_are_due_when_asked_to_look_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
