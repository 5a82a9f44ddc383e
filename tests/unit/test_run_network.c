/* The network namespace of a run. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/followed/run_place.h"
#include "tests/support/jobs_world.h"

static void put_root(struct world *w)
{
	PUT(w, .pid = 10, .ppid = 1, .start = 5, .rss_pages = 10, .children = "");
}

/* Puts the run's root into `namespace`. The exporter is in namespace 1. */
static struct world *root_in(const char *namespace)
{
	struct world *w = world_new();

	put_root(w);
	memory_tree_link(w->proc, "self/ns/net", "net:[1]");
	memory_tree_link(w->proc, "10/ns/net", namespace);
	return w;
}

static void put_traffic(struct world *w, const char *interface, unsigned long received,
	unsigned long sent)
{
	char text[400];

	snprintf(text, sizeof text,
		"Inter-|   Receive |  Transmit\n face |bytes packets\n"
		"    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0\n"
		"%6s: %lu 1 0 0 0 0 0 0 %lu 1 0 0 0 0 0 0\n",
		interface, received, sent);
	memory_tree_text(w->proc, "10/net/dev", text);
}

static double value(struct world *w, enum run_metric id)
{
	return look(w)->value[id];
}

static const char *network_source(struct world *w)
{
	struct account_note note;

	assert_true(jobs_note(w->host.jobs, &w->host, "r1", &note));
	return note.network_source;
}

static void a_namespace_of_its_own_is_counted_from_the_first_look(void **state)
{
	AUTO(world_freep) struct world *w = root_in("net:[2]");

	put_traffic(w, "eth0", 5000, 100);
	follow(w, 10, 0);
	assert_double_equal(value(w, RUN_NETWORK_RECEIVED_BYTES), 0, 0);
	put_traffic(w, "eth0", 7000, 400);
	assert_double_equal(value(w, RUN_NETWORK_RECEIVED_BYTES), 2000, 0);
	assert_double_equal(value(w, RUN_NETWORK_SENT_BYTES), 300, 0);
	assert_string_equal(network_source(w), "own");
}

static void bytes_stay_when_the_last_process_is_gone(void **state)
{
	AUTO(world_freep) struct world *w = root_in("net:[2]");

	put_traffic(w, "eth0", 1, 1);
	follow(w, 10, 0);
	look(w);
	put_traffic(w, "eth0", 31, 21);
	look(w);
	gone(w, 10);
	assert_double_equal(value(w, RUN_NETWORK_RECEIVED_BYTES), 30, 0);
}

static void the_machines_namespace_is_nobodys(void **state)
{
	AUTO(world_freep) struct world *w = root_in("net:[1]");

	memory_tree_link(w->sys, "class/net/eth0", "../../devices/pci0000:00/net/eth0");
	put_traffic(w, "eth0", 5000, 100);
	follow(w, 10, 0);
	assert_true(isnan(value(w, RUN_NETWORK_RECEIVED_BYTES)));
	assert_null(network_source(w));
}

/* The exporter is in a pod that sees all processes of the machine (hostPID) but has its own
 * network. The network of process 1 is the machine's network. */
static void whoever_is_in_the_namespace_of_process_1_is_in_the_machines(void **state)
{
	static const struct {
		/* Network namespaces of process 1 and of the run. The exporter's is net:[1]. */
		const char *first, *theirs, *source;
		int refused; /* error of reading process 1's namespace */
	} table[] = {
		{"net:[9]", "net:[9]", NULL, 0},
		{"net:[9]", "net:[2]", "own", 0},
		{"net:[9]", "net:[1]", "shared", 0},
		{"net:[1]", "net:[1]", "shared", 0},
		{"net:[1]", "net:[2]", "own", 0},
		{"net:[9]", "net:[9]", "own", -EACCES}, /* the owner of the network is unknown */
		{"net:[9]", "net:[2]", NULL, -ETIMEDOUT},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(world_freep) struct world *w = world_new();

		put_root(w);
		memory_tree_link(w->proc, "self/ns/net", "net:[1]");
		memory_tree_link(w->proc, "1/ns/net", table[i].first);
		memory_tree_refuse(w->proc, "1/ns/net", table[i].refused);
		memory_tree_link(w->proc, "10/ns/net", table[i].theirs);
		memory_tree_link(w->sys, "class/net/eth0", "../../devices/virtual/net/eth0");
		put_traffic(w, "eth0", 5000, 100);
		follow(w, 10, 0);
		look(w);
		put_traffic(w, "eth0", 6000, 100);
		if (isnan(value(w, RUN_NETWORK_RECEIVED_BYTES)) != !table[i].source)
			fail_msg("row %zu", i);
		if (table[i].source)
			assert_string_equal(network_source(w), table[i].source);
		else
			assert_null(network_source(w));
		/* A file that timed out is read again. */
		memory_tree_refuse(w->proc, "1/ns/net", 0);
		look(w);
		if (table[i].refused == -ETIMEDOUT)
			assert_string_equal(network_source(w), "own");
	}
}

static void a_pods_namespace_is_shared_with_us(void **state)
{
	AUTO(world_freep) struct world *w = root_in("net:[1]");

	memory_tree_link(w->sys, "class/net/lo", "../../devices/virtual/net/lo");
	memory_tree_link(w->sys, "class/net/eth0", "../../devices/virtual/net/eth0");
	put_traffic(w, "eth0", 5000, 100);
	follow(w, 10, 0);
	look(w);
	put_traffic(w, "eth0", 6000, 100);
	assert_double_equal(value(w, RUN_NETWORK_RECEIVED_BYTES), 1000, 0);
	assert_string_equal(network_source(w), "shared");
}

static void a_namespace_that_may_not_be_read_is_unknown(void **state)
{
	AUTO(world_freep) struct world *w = world_new();

	put_root(w);
	memory_tree_link(w->proc, "self/ns/net", "net:[1]");
	memory_tree_refuse(w->proc, "10/ns/net", -EACCES);
	put_traffic(w, "eth0", 5000, 100);
	follow(w, 10, 0);
	assert_true(isnan(value(w, RUN_NETWORK_RECEIVED_BYTES)));
}

static void whoever_enters_a_namespace_late_keeps_what_was_counted(void **state)
{
	AUTO(world_freep) struct world *w = root_in("net:[2]");

	put_traffic(w, "eth0", 100, 0);
	follow(w, 10, 0);
	look(w);
	put_traffic(w, "eth0", 150, 0);
	look(w);
	memory_tree_link(w->proc, "10/ns/net", "net:[3]");
	put_traffic(w, "eth0", 7, 0);
	look(w);
	look(w);
	put_traffic(w, "eth0", 9, 0);
	assert_double_equal(value(w, RUN_NETWORK_RECEIVED_BYTES), 52, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_namespace_of_its_own_is_counted_from_the_first_look),
		cmocka_unit_test(bytes_stay_when_the_last_process_is_gone),
		cmocka_unit_test(the_machines_namespace_is_nobodys),
		cmocka_unit_test(whoever_is_in_the_namespace_of_process_1_is_in_the_machines),
		cmocka_unit_test(a_pods_namespace_is_shared_with_us),
		cmocka_unit_test(a_namespace_that_may_not_be_read_is_unknown),
		cmocka_unit_test(whoever_enters_a_namespace_late_keeps_what_was_counted),
	};

	return cmocka_run_group_tests_name("run_network", tests, NULL, NULL);
}
