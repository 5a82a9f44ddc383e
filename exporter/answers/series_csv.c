#include "exporter/answers/series_csv.h"

#include <math.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/answers/series_view.h"

/* Writes the names without quotes, because column names have only letters, digits and "_". */
void series_csv_header(struct buf *out, const struct series *s)
{
	buf_adds(out, "at,duration");
	for (size_t i = 0; i < s->n_columns; i++)
		buf_addf(out, ",%s", s->columns[i]);
	buf_addc(out, '\n');
}

/* Writes a time, seconds since 1970 UTC, as printf does with %.3f, but faster. */
static void add_time(struct buf *out, double at)
{
	double ms = nearbyint(at * 1e3);
	uint64_t whole = ms >= 0 && ms < 0x1p53 ? (uint64_t)ms : 0;

	if (!(ms >= 0 && ms < 0x1p53)) {
		buf_addf(out, "%.3f", at);
		return;
	}
	buf_add_u64(out, whole / 1000);
	buf_add(out,
		(const char[]){'.', (char)('0' + whole / 100 % 10), (char)('0' + whole / 10 % 10),
			(char)('0' + whole % 10)},
		4);
}

static void add_field(struct buf *out, double v)
{
	buf_addc(out, ',');
	if (isfinite(v))
		buf_add_double(out, v);
}

void series_csv_rows(struct buf *out, const struct series *s)
{
	for (size_t i = 0; i < s->n && !out->full; i++) {
		add_time(out, s->at[i]);
		add_field(out, s->duration[i]);
		for (size_t c = 0; c < s->n_columns; c++)
			add_field(out, s->values[c][i]);
		buf_addc(out, '\n');
	}
}

/* ---- the format of resource-tracker ---- */

enum tracker_kind {
	PEER_UNKNOWN,  /* the history has no such column */
	PEER_VALUE,    /* value at the end of the interval */
	PEER_CHILDREN, /* number of processes minus one */
	PEER_GROWTH,   /* growth during the interval */
	PEER_RATE,     /* growth divided by the length of the interval */
};

/* clang-format off */
static const struct tracker_column {
	const char *name;
	enum tracker_kind kind;
	int decimals;
	double scale;
	const char *column, *plus; /* history columns; the values of `plus` are added */
} peers[] = {
	{"system_processes", PEER_VALUE, 0, 1, "system_processes", NULL},
	{"system_utime", PEER_GROWTH, 6, 1, "system_cpu_user_seconds", NULL},
	{"system_stime", PEER_GROWTH, 6, 1, "system_cpu_system_seconds", NULL},
	{"system_cpu_usage", PEER_RATE, 4, 1, "system_cpu_user_seconds", "system_cpu_system_seconds"},
	{"system_memory_free_mib", PEER_VALUE, 4, MIB, "system_memory_free_bytes", NULL},
	{"system_memory_used_mib", PEER_VALUE, 4, MIB, "system_memory_used_bytes", NULL},
	{"system_memory_buffers_mib", PEER_VALUE, 4, MIB, "system_memory_buffers_bytes", NULL},
	{"system_memory_cached_mib", PEER_VALUE, 4, MIB, "system_memory_cached_bytes", NULL},
	{"system_memory_active_mib", PEER_VALUE, 4, MIB, "system_memory_active_bytes", NULL},
	{"system_memory_inactive_mib", PEER_VALUE, 4, MIB, "system_memory_inactive_bytes", NULL},
	{"system_disk_read_bytes", PEER_GROWTH, 0, 1, "system_disk_read_bytes", NULL},
	{"system_disk_write_bytes", PEER_GROWTH, 0, 1, "system_disk_written_bytes", NULL},
	{"system_disk_space_total_gb", PEER_VALUE, 2, GB, "system_disk_space_total_bytes", NULL},
	{"system_disk_space_used_gb", PEER_VALUE, 2, GB, "system_disk_space_used_bytes", NULL},
	{"system_disk_space_free_gb", PEER_VALUE, 2, GB, "system_disk_space_free_bytes", NULL},
	{"system_net_recv_bytes", PEER_GROWTH, 0, 1, "system_network_received_bytes", NULL},
	{"system_net_sent_bytes", PEER_GROWTH, 0, 1, "system_network_sent_bytes", NULL},
	{"system_gpu_usage", PEER_VALUE, 4, 1, "system_gpu_usage", NULL},
	{"system_gpu_vram_mib", PEER_VALUE, 4, MIB, "system_gpu_vram_bytes", NULL},
	{"system_gpu_utilized", PEER_VALUE, 0, 1, "system_gpus_used", NULL},
	{"process_pid", PEER_UNKNOWN, 0, 1, NULL, NULL},
	{"process_children", PEER_CHILDREN, 0, 1, "processes", NULL},
	{"process_utime", PEER_GROWTH, 6, 1, "cpu_user_seconds", NULL},
	{"process_stime", PEER_GROWTH, 6, 1, "cpu_system_seconds", NULL},
	{"process_cpu_usage", PEER_RATE, 4, 1, "cpu_seconds", NULL},
	{"process_memory_mib", PEER_VALUE, 4, MIB, "memory_bytes", NULL},
	{"process_disk_read_bytes", PEER_GROWTH, 0, 1, "disk_read_bytes", NULL},
	{"process_disk_write_bytes", PEER_GROWTH, 0, 1, "disk_written_bytes", NULL},
	{"process_gpu_usage", PEER_VALUE, 4, 1, "gpu_usage", NULL},
	{"process_gpu_vram_mib", PEER_VALUE, 4, MIB, "vram_bytes", NULL},
	{"process_gpu_utilized", PEER_VALUE, 0, 1, "gpus_used", NULL},
};
/* clang-format on */

void series_csv_peer_header(struct buf *out)
{
	buf_adds(out, "\"timestamp\"");
	for (size_t i = 0; i < ARRAY_LEN(peers); i++)
		buf_addf(out, ",\"%s\"", peers[i].name);
	buf_addc(out, '\n');
}

/* Returns the growth in sample `i`, plus the growth in the samples of duration 0 that directly
 * follow it: these only correct sample `i`. */
static double growth(const struct series *s, const double *v, size_t i)
{
	double sum = v[i];

	for (size_t k = i + 1; k < s->n && s->duration[k] <= 0; k++)
		sum += isnan(v[k]) ? 0 : v[k];
	return sum;
}

static double peer_value(const struct series *s, const struct tracker_column *p, size_t i)
{
	const double *v = series_column(s, p->column), *plus = series_column(s, p->plus);

	if (!v || (p->plus && !plus))
		return NAN;
	switch (p->kind) {
	case PEER_UNKNOWN:
		break;
	case PEER_VALUE:
		return v[i] / p->scale;
	case PEER_CHILDREN:
		/* Children are all processes except one, the parent. Without any process, the run
		 * has ended, and the number of children is unknown. */
		return v[i] > 0 ? fmax(v[i] - 1, 0) : (double)NAN;
	case PEER_GROWTH:
		return growth(s, v, i);
	case PEER_RATE:
		return (growth(s, v, i) + (plus ? growth(s, plus, i) : 0)) / s->duration[i];
	}
	return NAN;
}

double series_csv_rounded(double v, int decimals)
{
	double scale = pow(10, decimals);

	return nearbyint(v * scale) / scale;
}

void series_csv_peer_rows(struct buf *out, const struct series *s)
{
	for (size_t i = 0; i < s->n && !out->full; i++) {
		if (i > 0 && s->duration[i] <= 0)
			continue;
		add_time(out, s->at[i]);
		for (size_t k = 0; k < ARRAY_LEN(peers); k++)
			add_field(out,
				series_csv_rounded(peer_value(s, &peers[k], i), peers[k].decimals));
		buf_addc(out, '\n');
	}
}

static bool has(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

const char *const *series_csv_peer_sources(struct arena *arena)
{
	const char **names = arena_alloc(arena, (2 * ARRAY_LEN(peers) + 1) * sizeof *names);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
		const char *const both[] = {peers[i].column, peers[i].plus};

		for (size_t k = 0; k < ARRAY_LEN(both); k++)
			if (both[k] && !has(names, n, both[k]))
				names[n++] = both[k];
	}
	return names;
}

bool series_csv_peer_find(struct slice name, struct peer_column *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(peers); i++) {
		const struct tracker_column *p = &peers[i];

		if (!p->column || p->kind == PEER_RATE || !slice_is(name, p->name))
			continue;
		*ret = (struct peer_column){p->column, p->scale, p->kind == PEER_CHILDREN ? 1 : 0};
		return true;
	}
	return false;
}
