#include "collectors/followed/run_network.h"

#include <errno.h>
#include <string.h>

#include "collectors/machine/interfaces.h"
#include "collectors/process/process.h"

/* A process rarely changes its network namespace. Check it at the first ticks (1, 2, 3, 5, 9, 17,
 * 33, 65), then at every 64th tick, and whenever another process is read. */
#define LOOKS_MAX 64

struct traffic {
	enum interface_kind best;
	uint64_t received, sent;
};

/* Adds up the traffic of the interfaces that lead out of the namespace. Guesses the kind of each
 * interface from its name, because sysfs shows only our own namespace. */
static int read_traffic(const struct host *h, pid_t pid, struct traffic *ret)
{
	struct traffic t = {.best = INTERFACE_INNER};
	char path[PROCESS_PATH_MAX], name[NAMESPACE_NAME_MAX];
	struct scan text, line;

	int code =
		kernel_file_read_once(h, h->proc, process_path(path, pid, "net/dev"), &text, NULL);

	while (code == 0 && scan_line(&text, &line)) {
		uint64_t field[INTERFACE_FIELDS];
		struct slice word;

		if (!interface_parse(line, &word, field) || slice_is(word, "lo"))
			continue;
		slice_copy(word, name, sizeof name);
		enum interface_kind kind = interface_kind_by_name(name);

		if (kind < t.best)
			t = (struct traffic){.best = kind};
		if (kind == t.best && kind != INTERFACE_INNER) {
			t.received += field[INTERFACE_RECEIVED_BYTES];
			t.sent += field[INTERFACE_SENT_BYTES];
		}
	}
	if (code == 0)
		*ret = t;
	return code;
}

struct cards {
	const struct host *host;
	bool machine, outward;
};

static int look_at_interface(void *context, const char *name)
{
	struct cards *c = context;

	c->machine = interface_is_card(c->host, name) > 0;
	c->outward = c->outward ||
		     (strcmp(name, "lo") != 0 && interface_kind_by_name(name) == INTERFACE_OUTWARD);
	return c->machine;
}

/* Returns true when our network namespace belongs to a container. A machine has a network card. A
 * container has no card, but it has another interface that leads out. */
static bool ours_is_a_containers(const struct host *h)
{
	struct cards c = {.host = h};

	return tree_list(h->sys, "class/net", look_at_interface, &c) == 0 && c.outward;
}

/* Finds the network namespace of the process, and the source. If the namespace has changed, the
 * bytes that were counted in the earlier namespace stay in the sum of the run. */
static void find_namespace(struct run_network *n, const struct host *h, pid_t pid)
{
	char path[PROCESS_PATH_MAX], theirs[NAMESPACE_NAME_MAX], ours[NAMESPACE_NAME_MAX];
	char machine[NAMESPACE_NAME_MAX];
	int reported = machine_network_space(h, machine);

	process_path(path, pid, "ns/net");
	if (reported == -ETIMEDOUT || tree_link(h->proc, path, theirs, sizeof theirs) < 0 ||
		tree_link(h->proc, "self/ns/net", ours, sizeof ours) < 0)
		return;
	n->pid = pid;
	if (strcmp(theirs, n->space) == 0)
		return;
	text_copy(theirs, n->space, sizeof n->space);
	n->followed = false;
	n->received = n->sent = (struct counter){0};
	if (reported == 0 && strcmp(theirs, machine) == 0)
		n->source = NULL;
	else if (strcmp(theirs, ours) != 0)
		n->source = "own";
	else
		n->source = ours_is_a_containers(h) ? "shared" : NULL;
}

static bool is_due(struct run_network *n, pid_t pid)
{
	unsigned looks = n->looks++;

	return pid != n->pid || (looks & (looks - 1)) == 0 || looks % LOOKS_MAX == 0;
}

static void follow_traffic(struct run_network *n, const struct traffic *t)
{
	double received = n->received.value, sent = n->sent.value;

	counter_follow(&n->received, t->received);
	counter_follow(&n->sent, t->sent);
	if (n->followed) {
		n->received_bytes += n->received.value - received;
		n->sent_bytes += n->sent.value - sent;
	}
	n->followed = true;
}

void run_network_look(struct run_network *n, const struct host *h, pid_t pid, double *ret_received,
	double *ret_sent)
{
	struct traffic t;

	if (pid && is_due(n, pid))
		find_namespace(n, h, pid);
	if (!n->source)
		return;
	if (pid && read_traffic(h, pid, &t) == 0)
		follow_traffic(n, &t);
	*ret_received = n->received_bytes;
	*ret_sent = n->sent_bytes;
}
