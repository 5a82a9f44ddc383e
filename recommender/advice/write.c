/* Writes a sizing in one format. */
#include "recommender/advice/formats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "recommender/sizing/strategy.h"
#include "recommender/advice/sizes.h"

/* A disk request below this size is left out. It would replace the target's default disk of several
 * gigabytes, and might leave no room for logs, which the recorded disk use does not include. */
#define DISK_LEAST (1024 * MIB)

/* Disk of a Fargate task without a request. Source: EphemeralStorage in the Amazon ECS API
 * Reference. */
#define FARGATE_DISK_GIB 20

/* Memory of a step without a request, in decimal megabytes: `defaults` of the decorators
 * @resources, @kubernetes and @batch of Metaflow 2.19. If a step has two decorators, the larger
 * value counts. */
#define METAFLOW_MEMORY_MB 4096

/* Assumed memory of a GPU, in bytes, if the caller does not give it. Few data centre GPUs have
 * less. */
#define GPU_MEMORY_ASSUMED (16 * 1024 * MIB)

/* The numbers and the texts of an answer. */
struct written {
	uint64_t n[ADVICE_NUMBERS];
	const struct advice_target *target;
	const char *container, *series;
};

/* Returns thousandths of a core, rounded up; 1e-6 absorbs floating-point errors. 0 = unknown. */
static uint64_t millicores(double cores)
{
	return cores > 0 && cores < 1e6 ? (uint64_t)fmax(1, ceil(cores * 1000 - 1e-6)) : 0;
}

static uint64_t at_least(uint64_t limit, uint64_t request)
{
	return limit > request ? limit : request;
}

static uint64_t at_most(uint64_t limit, uint64_t bound)
{
	return limit < bound ? limit : bound;
}

static uint64_t divided_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static uint64_t advice_megabytes(uint64_t mib)
{
	return divided_up(mib * 1048576, 1000000);
}

static void cpu_numbers(const struct sizing *s, bool limit, uint64_t n[ADVICE_NUMBERS])
{
	n[CPUS] = s->resources.cpu;
	n[MILLICORES] = n[CORES] = millicores(s->demand.cpu_cores);
	if (s->cpu_cores_limit > 0)
		n[MILLICORES_LIMIT] = at_least(millicores(s->cpu_cores_limit), n[MILLICORES]);
	n[CORES_LIMIT] = n[MILLICORES_LIMIT];
	if (s->machine_cpus > 0)
		n[CORES_LIMIT] = at_most(n[CORES_LIMIT], millicores(s->machine_cpus));
	n[MILLICORES_LIMIT_ASKED] = limit ? n[MILLICORES_LIMIT] : 0;
	n[MILLICORES_MOST] = at_least(n[MILLICORES_LIMIT], n[MILLICORES]);
	n[CPU_PERCENT_LIMIT] = divided_up(n[MILLICORES_LIMIT], 10);
	n[IF_CPU_LIFTED] = n[MILLICORES] && !n[MILLICORES_LIMIT_ASKED];
}

/* Returns the memory in MiB of the attempt that follows an attempt with `mib`: the next larger
 * memory that the strategy advises. If the strategy advises none, returns twice `mib`. */
static uint64_t next_attempt(const struct sizing *s, uint64_t mib)
{
	for (size_t i = 0; i < ATTEMPTS_TOLD; i++) {
		uint64_t advised = sizing_round_up(s->memory_attempts[i]);

		if (advised > mib)
			return advised;
	}
	return 2 * mib;
}

static void attempt_numbers(const struct sizing *s, uint64_t n[ADVICE_NUMBERS])
{
	n[MEMORY_MIB_2] = next_attempt(s, n[MEMORY_MIB]);
	n[MEMORY_MIB_3] = next_attempt(s, n[MEMORY_MIB_2]);
	n[MEMORY_MIB_4] = next_attempt(s, n[MEMORY_MIB_3]);
	n[RETRIES] = ATTEMPTS_TOLD - 1;
	n[MEMORY_MB_2] = advice_megabytes(n[MEMORY_MIB_2]);
	n[MEMORY_MB_3] = advice_megabytes(n[MEMORY_MIB_3]);
	n[MEMORY_MB_4] = advice_megabytes(n[MEMORY_MIB_4]);
}

/* Divides the memory of the job into heap and overhead, because Spark adds the overhead to the
 * heap. The overhead is 0.1 of the heap and at least 384 MiB: spark.executor.memoryOverheadFactor
 * and minMemoryOverhead in Spark's configuration.
 *
 * Spark refuses a heap below 450 MiB (UnifiedMemoryManager.scala). With some garbage collectors,
 * Spark sees a heap smaller than the requested one, so the heap requested here is at least 512
 * MiB. */
static void spark_numbers(uint64_t n[ADVICE_NUMBERS])
{
	uint64_t overhead = at_least(divided_up(n[MEMORY_MIB], 11), 384);

	n[SPARK_OVERHEAD_MIB] = overhead;
	n[SPARK_HEAP_MIB] = at_least(n[MEMORY_MIB] > overhead ? n[MEMORY_MIB] - overhead : 0, 512);
}

static void memory_numbers(const struct sizing *s, uint64_t n[ADVICE_NUMBERS])
{
	double economy = s->memory_at_risk[RISK_ECONOMY];
	uint64_t mib = s->resources.memory, low = sizing_round_up(economy);

	if (!mib)
		return;
	n[MEMORY_MIB] = n[MEMORY_MIB_LIMIT] = mib;
	n[MEMORY_MIB_LOW] = low && low < mib ? low : mib;
	if (s->memory_bytes_limit > s->demand.memory_bytes)
		n[MEMORY_MIB_LIMIT] = at_least(sizing_round_up(s->memory_bytes_limit), mib);
	n[MEMORY_MIB_DASK] = divided_up(mib * 100, 95);
	n[MEMORY_MB] = advice_megabytes(mib);
	n[MEMORY_BYTES] = mib * 1048576;
	attempt_numbers(s, n);
	spark_numbers(n);
}

/* If a job does not fill its only GPU, other jobs can share it. The job then requests a share of
 * the GPU: the larger of the shares of computing power and of memory that it needs. */
static void gpu_numbers(const struct sizing *s, double gpu_memory, uint64_t n[ADVICE_NUMBERS])
{
	double held = s->demand.vram_bytes / (gpu_memory > 0 ? gpu_memory : GPU_MEMORY_ASSUMED);
	double percent = ceil(100 * fmax(s->gpu_usage, held) - 1e-6);

	n[GPUS] = s->resources.gpu;
	n[GPU_SHARE] = 1000 * n[GPUS];
	if (n[GPUS] != 1 || isnan(s->gpu_usage) || !(percent < 100))
		return;
	n[GPU_SHARE] = 10 * (uint64_t)fmax(1, percent);
	n[GPU_SHARE_MIB] = s->resources.vram;
	if (isnan(held))
		n[IF_GPU_SHARE_UNKNOWN] = 1;
}

/* Some systems name the GPUs of each manufacturer differently. */
static void manufacturer_numbers(const char *manufacturer, uint64_t n[ADVICE_NUMBERS])
{
	static const struct {
		const char *name;
		enum advice_number gpus, condition;
	} known[] = {
		{"NVIDIA", GPUS_NVIDIA, IF_GPU_NVIDIA},
		{"AMD", GPUS_AMD, IF_GPU_AMD},
		{"Intel", GPUS_INTEL, IF_GPU_INTEL},
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (manufacturer && strcasecmp(manufacturer, known[i].name) == 0) {
			n[known[i].gpus] = n[GPUS];
			n[known[i].condition] = n[GPUS] > 0;
			return;
		}
	n[GPUS_NVIDIA] = n[GPUS];
}

static void disk_numbers(double bytes, bool tmp, uint64_t n[ADVICE_NUMBERS])
{
	uint64_t mib = bytes >= DISK_LEAST ? sizing_round_up(bytes) : 0,
		 gib = divided_up(mib, 1024);

	n[DISK_MIB] = mib;
	n[IF_DISK_LIFTED] = mib > 0;
	n[DISK_MB] = advice_megabytes(mib);
	n[DISK_TMP_MIB] = tmp ? mib : 0;
	n[DISK_GIB_EXTRA] = gib > FARGATE_DISK_GIB ? gib : 0;
}

static void numbers_of(const struct sizing *s, const struct advice_target *t,
	uint64_t n[ADVICE_NUMBERS])
{
	double longest = s->duration_bound;

	cpu_numbers(s, t->cpu_limit, n);
	memory_numbers(s, n);
	gpu_numbers(s, t->gpu_memory_bytes, n);
	manufacturer_numbers(t->gpu_manufacturer, n);
	disk_numbers(s->demand.disk_bytes, t->tmp, n);
	if (longest > 0 && longest < 1e9)
		n[TIME_MINUTES] = n[TIME_HMS] =
			(uint64_t)fmax(10, ceil(2 * longest * fmax(1, s->cpu_slowdown) / 60));
	n[IF_METAFLOW_DEFAULTS_WIN] = n[MEMORY_MB] && n[MEMORY_MB] < METAFLOW_MEMORY_MB;
	n[IF_METAFLOW_DEFAULTS_LOSE] = !n[IF_METAFLOW_DEFAULTS_WIN];
}

/* Sets the SIZE_* numbers: those of the smallest size that is large enough. Call it only if CPU or
 * memory is known. */
static int size_numbers(const struct advice_sizes *sizes, struct written *w, struct err *e)
{
	uint64_t *n = w->n, mib;
	uint64_t cpu = n[MILLICORES] ? n[MILLICORES] : sizes->millicores_default;
	uint64_t memory = n[MEMORY_MIB] ? n[MEMORY_MIB] : sizes->mib_default;
	const struct advice_size *size = advice_size_for(sizes, cpu, memory, &mib);
	const struct advice_size *largest = &sizes->size[sizes->n - 1];

	if (n[GPUS])
		return err_set(e, -ERANGE,
			"the job needs %" PRIu64 " GPU%s, and the sizes of %s have none: choose a "
			"server (/servers)",
			n[GPUS], n[GPUS] == 1 ? "" : "s", sizes->of);
	if (sizes->disk_gib_most && n[DISK_GIB_EXTRA] > sizes->disk_gib_most)
		return err_set(e, -ERANGE,
			"the job needs %" PRIu64 " GiB of disk, and %s has at most %" PRIu64
			" GiB: choose a server (/servers)",
			n[DISK_GIB_EXTRA], sizes->of, sizes->disk_gib_most);
	if (!size)
		return err_set(e, -ERANGE,
			"the job needs %.3g CPU%s and %" PRIu64 " MiB, and the largest size of %s "
			"has %" PRIu64 " CPUs and %" PRIu64 " MiB: choose a server (/servers)",
			(double)cpu / 1000, cpu == 1000 ? "" : "s", memory, sizes->of,
			largest->millicores / 1000, largest->mib_most);
	n[SIZE_CORES] = size->millicores;
	n[SIZE_CPU_UNITS] = size->millicores * 1024 / 1000;
	n[SIZE_CPUS] = size->millicores / 1000;
	n[SIZE_MIB] = mib;
	w->series = size->series;
	return 0;
}

static void add_text(struct buf *out, enum advice_number which, const struct written *w)
{
	if (which == CONTAINER)
		buf_adds(out, w->container);
	else if (which == SIZE_SERIES)
		buf_adds(out, w->series);
	else if (w->target->process)
		buf_adds(out, w->target->process);
	else
		advice_add_process(out, w->target->job_name);
}

static void add_number(struct buf *out, enum advice_number which, const struct written *w)
{
	uint64_t n = which < ADVICE_NUMBERS ? w->n[which] : 0;

	if (which >= ADVICE_NUMBERS)
		add_text(out, which, w);
	else if (which == CORES || which == CORES_LIMIT || which == GPU_SHARE ||
		 which == SIZE_CORES)
		buf_add_double(out, (double)n / 1000);
	else if (which == TIME_HMS) /* Slurm accepts any number of hours. */
		buf_addf(out, "%02" PRIu64 ":%02" PRIu64 ":00", n / 60, n % 60);
	else if (which < IF_CPU_LIFTED)
		buf_add_u64(out, n);
}

static bool is_written(enum advice_number which, const struct written *w)
{
	return which >= ADVICE_NUMBERS || w->n[which];
}

/* Returns true if at least one piece of the section has a known number. Texts do not count. */
static bool has_number(const struct advice_section *s, const struct written *w)
{
	for (const struct advice_piece *p = s->piece; p->number; p++)
		if (p->number < ADVICE_NUMBERS && w->n[p->number])
			return true;
	return false;
}

static bool nothing_known(const struct advice_format *f, const struct written *w)
{
	if (f->sizes)
		return !w->n[SIZE_MIB];
	for (const struct advice_section *s = f->layout->section; s->piece; s++)
		if (has_number(s, w))
			return false;
	return true;
}

static void add_section(struct buf *out, const struct advice_section *s, const struct written *w)
{
	const char *between = "";

	if ((s->optional && !has_number(s, w)) || (s->when && !w->n[s->when]))
		return;
	buf_adds(out, s->start);
	for (const struct advice_piece *p = s->piece; p->number; p++) {
		if (!is_written(p->number, w))
			continue;
		buf_adds(out, between);
		buf_adds(out, p->before);
		add_number(out, p->number, w);
		if (p->after)
			buf_adds(out, p->after);
		between = s->between;
	}
	buf_adds(out, s->end);
}

int advice_write(struct buf *out, const struct advice_format *f, const struct advice_target *t,
	const struct sizing *s, struct err *e)
{
	const struct advice_layout *l = f->layout;
	struct written w = {.target = t, .container = t->container ? t->container : f->container};
	int r = 0;

	numbers_of(s, t, w.n);
	if (f->sizes && (w.n[MILLICORES] || w.n[MEMORY_MIB]))
		r = size_numbers(f->sizes, &w, e);
	if (r < 0)
		return r;
	if (l->nothing && nothing_known(f, &w)) {
		buf_adds(out, l->nothing);
		return 0;
	}
	for (const struct advice_section *section = l->section; section->piece; section++)
		add_section(out, section, &w);
	return 0;
}
