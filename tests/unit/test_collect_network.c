/* The network collector. */
#include "tests/unit/test_main.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "tests/support/test_host.h"

extern const struct collector collector_network;

#define RECEIVED "rightsize_network_received_bytes"
#define LEFT_OUT "rightsize_network_left_out_interfaces"

static void open_fixture(struct test_host *t, struct test_run *r, const char *name)
{
	test_host_init(t);
	test_host_fixture(t, name);
	assert_int_equal(test_run_start(r, &collector_network, &t->host), 0);
	assert_int_equal(test_run_collect(r, &t->host), 0);
	assert_null(block_fault(r->block));
}

static void a_container_host_counts_its_cards_only(void **state)
{
	AUTO(test_host_done) struct test_host t;
	AUTO(test_run_done) struct test_run r;

	open_fixture(&t, &r, "node");
	/* bond0 consists of eno1 and eno2. The traffic of the bond, VLAN, bridges, veth and tunnels
	 * goes through these two cards, so only the cards are counted. */
	assert_value(test_run_value(&r, RECEIVED, "eno1"), 2e6);
	assert_value(test_run_value(&r, RECEIVED, "eno2"), 3e6);
	assert_int_equal(test_run_points(&r, RECEIVED), 2);
	assert_value(test_run_value(&r, "rightsize_network_sent_bytes", "eno2"), 1.5e6);
	assert_value(test_run_value(&r, "rightsize_network_received_packets", "eno2"), 3000);
	assert_value(test_run_value(&r, "rightsize_network_sent_packets", "eno2"), 1500);
	assert_value(test_run_value(&r, "rightsize_network_receive_errors", "eno2"), 3);
	assert_value(test_run_value(&r, "rightsize_network_receive_drops", "eno2"), 6);
	assert_value(test_run_value(&r, "rightsize_network_send_errors", "eno2"), 9);
	assert_value(test_run_value(&r, "rightsize_network_send_drops", "eno2"), 12);
	assert_value(test_run_value(&r, LEFT_OUT, ""), 7);
}

static void a_pod_counts_its_end_of_the_veth(void **state)
{
	AUTO(test_host_done) struct test_host t;
	AUTO(test_run_done) struct test_run r;

	open_fixture(&t, &r, "pod");
	assert_value(test_run_value(&r, RECEIVED, "eth0"), 5e6);
	assert_int_equal(test_run_points(&r, RECEIVED), 1);
	assert_value(test_run_value(&r, LEFT_OUT, ""), 1);
}

static void a_virtual_machine_counts_its_card(void **state)
{
	AUTO(test_host_done) struct test_host t;
	AUTO(test_run_done) struct test_run r;

	open_fixture(&t, &r, "vm");
	assert_value(test_run_value(&r, RECEIVED, "eth0"), 181410943);
	assert_int_equal(test_run_points(&r, RECEIVED), 1);
}

/* One interface: what sysfs shows, and whether it is reported. */
struct interface {
	const char *name;
	const char *link;   /* "virtual" or "pci"; NULL = not in sysfs */
	const char *master; /* NULL = none */
	const char *type;   /* DEVTYPE; NULL = none; "tun" = a tun_flags file */
	bool reported;
};

static void add_interface(struct test_host *t, const struct interface *i, char *dev, size_t size)
{
	char path[128], text[128];
	size_t n = strlen(dev);

	snprintf(dev + n, size - n, "%s: 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n", i->name);
	if (!i->link)
		return;
	snprintf(path, sizeof path, "/sys/class/net/%s", i->name);
	snprintf(text, sizeof text, "../../devices/%s/net/%s", i->link, i->name);
	test_host_link(t, path, text);
	if (i->master) {
		snprintf(path, sizeof path, "/sys/class/net/%s/master", i->name);
		snprintf(text, sizeof text, "../%s", i->master);
		test_host_link(t, path, text);
	}
	bool tun = i->type && strcmp(i->type, "tun") == 0;

	snprintf(path, sizeof path, "/sys/class/net/%s/%s", i->name, tun ? "tun_flags" : "uevent");
	snprintf(text, sizeof text, i->type ? "IFINDEX=2\nDEVTYPE=%s\n" : "IFINDEX=2\n", i->type);
	test_host_file(t, path, text);
}

static void each_byte_counts_once(void **state)
{
	static const struct interface machines[][6] = {
		/* lo is never reported, not even when it is the only interface */
		{{"lo", "virtual", NULL, NULL, false}},
		{{"lo", NULL, NULL, NULL, false}},
		/* a card in a bridge is counted, but the bridge is not */
		{{"eth0", "pci", "br0", NULL, true}, {"br0", "virtual", NULL, "bridge", false},
			{"vnet0", "virtual", "br0", "tun", false}},
		/* accelerated networking: a physical card below a synthetic card */
		{{"eth0", "vmbus", NULL, NULL, true}, {"enP1s1", "pci", "eth0", NULL, false}},
		/* a container in which containers run */
		{{"eth0", "virtual", NULL, NULL, true},
			{"docker0", "virtual", NULL, "bridge", false},
			{"veth1", "virtual", "docker0", NULL, false},
			{"eth0.7", "virtual", NULL, "vlan", false},
			{"lo", "virtual", NULL, NULL, false}},
		/* a pod with two networks, bonded */
		{{"bond0", "virtual", NULL, "bond", true},
			{"net1", "virtual", "bond0", NULL, false},
			{"net2", "virtual", "bond0", NULL, false}},
		/* a pod with a VPN */
		{{"eth0", "virtual", NULL, NULL, true},
			{"vpn", "virtual", NULL, "wireguard", false},
			{"tailscale0", "virtual", NULL, "tun", false},
			{"ifb0", "virtual", NULL, NULL, false}},
		/* a rootless container: its only interface is a tap device, whose traffic a program
		 * forwards */
		{{"tap0", "virtual", NULL, "tun", true}, {"lo", "virtual", NULL, NULL, false},
			{"br-1", "virtual", NULL, "bridge", false}},
		/* a machine without sysfs */
		{{"eth0", NULL, NULL, NULL, true}, {"docker0", NULL, NULL, NULL, false},
			{"veth12", NULL, NULL, NULL, false}, {"eth0.100", NULL, NULL, NULL, false},
			{"bond0", NULL, NULL, NULL, false}, {"tun0", NULL, NULL, NULL, false}},
		{{"tap0", NULL, NULL, NULL, true}, {"lo", NULL, NULL, NULL, false}},
		{{"tunl0", NULL, NULL, NULL, false}, {"wlp3s0", NULL, NULL, NULL, true}},
	};

	for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r;
		char dev[1024] = "Inter-| Receive\n face |bytes\n";

		for (size_t j = 0; j < 6 && machines[i][j].name; j++)
			add_interface(&t, &machines[i][j], dev, sizeof dev);
		test_host_file(&t, "/proc/net/dev", dev);
		assert_int_equal(test_run_start(&r, &collector_network, &t.host), 0);
		assert_int_equal(test_run_collect(&r, &t.host), 0);
		for (size_t j = 0; j < 6 && machines[i][j].name; j++) {
			const struct interface *f = &machines[i][j];

			if (f->reported == !isnan(test_run_value(&r, RECEIVED, f->name)))
				continue;
			fail_msg("machine %zu: %s is %sreported", i, f->name,
				f->reported ? "not " : "");
		}
	}
}

static void hostile_lines(void **state)
{
	static const struct {
		const char *text, *name;
		double received;
		size_t points;
	} table[] = {
		{"", "eth0", NAN, 0},
		{"eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n", "eth0", NAN, 0},
		{"eth0:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "eth0", 1, 1},
		{"eth0: 18446744073709551615 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "eth0",
			18446744073709551615.0, 1},
		{"eth0: 18446744073709551616 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "eth0", NAN,
			0},
		{"eth0: -1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", "eth0", NAN, 0},
		{"a:b: 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", "a:b", 5, 1},
		{": 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", "", NAN, 0},
		{"e\xff: 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", "e\xef\xbf\xbd", 5, 1},
		{"a\"b\\: 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", "a\"b\\", 5, 1},
		{"../../x: 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", "../../x", NAN, 0},
		{"e: 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\ne: 6 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n", "e", 5,
			1},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r;

		test_host_file(&t, "/proc/net/dev", table[i].text);
		assert_int_equal(test_run_start(&r, &collector_network, &t.host), 0);
		assert_int_equal(test_run_collect(&r, &t.host), 0);
		assert_value(test_run_value(&r, RECEIVED, table[i].name), table[i].received);
		assert_int_equal(test_run_points(&r, RECEIVED), table[i].points);
		assert_null(block_fault(r.block));
	}
}

static void a_card_that_comes_back_counts_on(void **state)
{
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r = test_run_started(&collector_network, &t.host);

	test_host_file(&t, "/proc/net/dev", "eth0: 900 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	test_host_file(&t, "/proc/net/dev", "eth0: 50 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	assert_int_equal(test_run_collect(&r, &t.host), 0);
	assert_value(test_run_value(&r, RECEIVED, "eth0"), 950);
	assert_value(test_run_value(&r, "rightsize_network_receive_drops", "eth0"), 4);
}

/* ---- a pod that sees the processes of the machine ---- */

#define CARD(name) name ": 7 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n"
#define OF_POD     1 /* device numbers of the two file systems that may be on /sys */
#define OF_MACHINE 2
#define MOUNTED    "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n21 20 0:2 / /sys rw - sysfs sysfs rw\n"
#define OVER       "22 21 0:3 / /sys rw - sysfs sysfs rw\n"

/* The pod's only card is named "fabric", like one of the machine's bridges. The machine's card is
 * named "ens5", and the pod has no interface of that name. */
static void put_pod(struct test_host *t, struct tree *machine_sys)
{
	const struct tree_space space = {0};

	test_host_link(t, "/proc/self/ns/net", "net:[1]");
	test_host_link(t, "/proc/1/ns/net", "net:[9]");
	test_host_file(t, "/proc/net/dev", CARD("fabric"));
	test_host_file(t, "/proc/1/net/dev", CARD("ens5") CARD("fabric") CARD("vethx"));
	test_host_link(t, "/sys/class/net/fabric", "../../devices/pci/net/fabric");
	memory_tree_space(t->sys, "", space, OF_POD);
	memory_tree_link(machine_sys, "class/net/ens5", "../../devices/pci/net/ens5");
	memory_tree_link(machine_sys, "class/net/fabric", "../../devices/virtual/net/fabric");
	memory_tree_text(machine_sys, "class/net/fabric/uevent", "DEVTYPE=bridge\n");
	memory_tree_space(machine_sys, "", space, OF_MACHINE);
	test_host_file(t, "/proc/1/mountinfo", MOUNTED);
	t->host.root_sys = machine_sys;
}

static void check_reported(struct test_run *r, const struct test_host *t, const char *names)
{
	static const char *const all[] = {"ens5", "fabric", "vethx"};

	assert_int_equal(test_run_collect(r, &t->host), 0);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (!isnan(test_run_value(r, RECEIVED, all[i])) != !!strstr(names, all[i]))
			fail_msg("%s is %sreported", all[i], strstr(names, all[i]) ? "not " : "");
}

static void a_pod_that_sees_process_1_tells_of_its_network(void **state)
{
	static const struct {
		const char *reported, *mounted; /* interfaces; mount table of process 1 */
		int refused; /* error of reading the network namespace of process 1 */
	} table[] = {
		{"ens5", MOUNTED, 0}, /* ens5 is known from the sysfs below the machine's root */
		{"ens5", MOUNTED MOUNTED, 0},
		/* The kind of each interface is guessed from its name, because the sysfs may be of
		 * another namespace. */
		{"ens5 fabric", MOUNTED OVER, 0}, {"ens5 fabric", "", 0},
		{"fabric", MOUNTED, -EACCES}, /* the pod's own network is counted */
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(tree_freep) struct tree *machine_sys = memory_tree();
		AUTO(test_host_done) struct test_host t = test_host_made();
		AUTO(test_run_done) struct test_run r;

		put_pod(&t, machine_sys);
		test_host_file(&t, "/proc/1/mountinfo", table[i].mounted);
		memory_tree_refuse(t.proc, "1/ns/net", table[i].refused);
		assert_int_equal(test_run_start(&r, &collector_network, &t.host), 0);
		check_reported(&r, &t, table[i].reported);
	}
}

/* As long as the kind of an interface is unknown, it is not reported, because it might be counted
 * twice. When the kind is known once, the interface stays reported. */
static void interfaces_that_nobody_knows_are_not_told_until_somebody_does(void **state)
{
	AUTO(tree_freep) struct tree *machine_sys = memory_tree();
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	put_pod(&t, machine_sys);
	memory_tree_refuse(t.proc, "1/mountinfo", -EIO);
	assert_int_equal(test_run_start(&r, &collector_network, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), -EIO);
	memory_tree_refuse(t.proc, "1/mountinfo", 0);
	check_reported(&r, &t, "ens5");
	memory_tree_refuse(t.proc, "1/mountinfo", -EIO);
	test_host_advance(&t, 61);
	check_reported(&r, &t, "ens5");
}

/* After `unshare -n`, /sys still shows the interfaces of the machine. */
static void sysfs_that_is_the_machines_tells_of_its_interfaces(void **state)
{
	AUTO(tree_freep) struct tree *machine_sys = memory_tree();
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	put_pod(&t, machine_sys);
	t.host.sys = machine_sys;
	t.host.root_sys = NULL;
	assert_int_equal(test_run_start(&r, &collector_network, &t.host), 0);
	check_reported(&r, &t, "ens5");
}

static void whose_network_it_is_is_asked_until_there_is_an_answer(void **state)
{
	AUTO(tree_freep) struct tree *machine_sys = memory_tree();
	AUTO(test_host_done) struct test_host t = test_host_made();
	AUTO(test_run_done) struct test_run r;

	put_pod(&t, machine_sys);
	memory_tree_refuse(t.proc, "1/ns/net", -ETIMEDOUT);
	assert_int_equal(test_run_start(&r, &collector_network, &t.host), 0);
	assert_int_equal(test_run_collect(&r, &t.host), -ETIMEDOUT);
	memory_tree_refuse(t.proc, "1/ns/net", 0);
	check_reported(&r, &t, "ens5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container_host_counts_its_cards_only),
		cmocka_unit_test(a_pod_counts_its_end_of_the_veth),
		cmocka_unit_test(a_virtual_machine_counts_its_card),
		cmocka_unit_test(each_byte_counts_once),
		cmocka_unit_test(hostile_lines),
		cmocka_unit_test(a_card_that_comes_back_counts_on),
		cmocka_unit_test(a_pod_that_sees_process_1_tells_of_its_network),
		cmocka_unit_test(interfaces_that_nobody_knows_are_not_told_until_somebody_does),
		cmocka_unit_test(sysfs_that_is_the_machines_tells_of_its_interfaces),
		cmocka_unit_test(whose_network_it_is_is_asked_until_there_is_an_answer),
	};

	return cmocka_run_group_tests_name("collect_network", tests, NULL, NULL);
}
