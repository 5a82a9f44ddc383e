/* CPUs and memory that remain for jobs on a plain machine and on a Kubernetes node. */
#include "recommender/servers/system_reserve.h"

#include <math.h>
#include <string.h>

#define KERNEL_SHARE     64.0  /* the kernel's struct page takes 64 of each 4,096 bytes */
#define SYSTEM_MIB       100.0 /* a small idle Linux with its services */
#define KUBERNETES_EVICT 100.0 /* kubelet's default memory.available threshold */

/* Returns the memory in MiB that the operating system sees, as Spare Cores measured it. If that is
 * unknown, returns the memory as sold, minus the kernel's page descriptors (struct page). */
static double visible_memory(const struct server *s)
{
	if (!isnan(s->memory_amount_actual))
		return s->memory_amount_actual;
	return s->memory_amount * (1 - 1 / KERNEL_SHARE);
}

static double sold_memory(const struct server *s)
{
	return isnan(s->memory_amount_actual) ? s->memory_amount : s->memory_amount_actual;
}

static double all_cpus(const struct server *s)
{
	return s->vcpus;
}

/* Returns 0 for a negative amount: a server can have less memory than the system needs. NaN stays
 * NaN. */
static double not_negative(double mib)
{
	return mib < 0 ? 0 : mib;
}

static double system_memory(const struct server *s)
{
	return not_negative(visible_memory(s) - SYSTEM_MIB);
}

/* One step of a reserve, as in a tax table. The step covers the part of the amount from the
 * previous step's `up_to` to its own `up_to`, and reserves `share` of that part. */
struct reserve_step {
	double up_to, share;
};

static double stepwise(double amount, const struct reserve_step *steps, size_t n)
{
	double from = 0, sum = 0;

	for (size_t i = 0; i < n && amount > from; i++) {
		sum += (fmin(amount, steps[i].up_to) - from) * steps[i].share;
		from = steps[i].up_to;
	}
	return sum;
}

/* Returns the memory of a Kubernetes node that remains for jobs, in MiB. The node reserves memory
 * for itself, by the table that Google publishes for GKE. Other vendors use this table, too. A node
 * with less than 1 GiB reserves 255 MiB. */
static double kubernetes_memory(const struct server *s)
{
	static const struct reserve_step steps[] = {
		{4096, 0.25}, {8192, 0.20}, {16384, 0.10}, {131072, 0.06}, {INFINITY, 0.02}};
	double visible = visible_memory(s);
	double kept = visible < 1024 ? 255 : stepwise(visible, steps, ARRAY_LEN(steps));

	return not_negative(visible - kept - KUBERNETES_EVICT);
}

static double kubernetes_cpus(const struct server *s)
{
	static const struct reserve_step steps[] = {
		{1, 0.06}, {2, 0.01}, {4, 0.005}, {INFINITY, 0.0025}};

	return s->vcpus - stepwise(s->vcpus, steps, ARRAY_LEN(steps));
}

const struct system_reserve system_reserves[] = {
	{"system",
		"the kernel's page table (1/64, unless the visible memory was measured) and 100 "
		"MiB for services",
		system_memory, all_cpus},
	{"none", "the memory as sold, or as measured where it was", sold_memory, all_cpus},
	{"kubernetes",
		"what a Kubernetes node keeps by the steps that GKE publishes: 25 % of the first 4 "
		"GiB, 20 % of the next 4, 10 % of the next 8, 6 % to 128 GiB, 2 % above, 100 MiB "
		"for eviction; CPU 6, 1, 0.5, 0.25 %",
		kubernetes_memory, kubernetes_cpus},
	{0},
};

const struct system_reserve *system_reserve_find(const char *name)
{
	for (const struct system_reserve *r = system_reserves; r->name; r++)
		if (strcmp(r->name, name) == 0)
			return r;
	return NULL;
}
