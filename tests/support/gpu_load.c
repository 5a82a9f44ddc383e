/* Loads the first NVIDIA GPU with a known amount of memory for a known share of the time:
 *
 * gpu_load [--child] MIB:SECONDS:PERCENT...
 *
 * Each argument is a phase. A phase holds MIB of GPU memory for SECONDS. A kernel computes for
 * PERCENT of each PERIOD_MS. With --child, a child of a child does the work.
 *
 * Prints the pid of the process that uses the GPU, then a line for each phase with the seconds in
 * which a kernel ran. The driver's libcuda.so.1 is loaded at run time and compiles the kernel, so
 * neither NVIDIA's compiler nor its headers are needed. The declarations follow the driver API
 * reference (https://docs.nvidia.com/cuda/cuda-driver-api/). Exit code 2: there is no CUDA. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collectors/base/scan.h"

#define CUDA_LIBRARY "libcuda.so.1"
/* Shorter than the driver's sample period, which is 200 ms on an H100 and up to 1 s elsewhere, so
 * each sample sees the wanted share. The driver gives the whole of a sample to the process that
 * runs at that instant. The sample period must not be a multiple of this. Otherwise two loads at
 * the same time would keep their order, and one of them would get all samples. */
#define PERIOD_MS 37
/* Value of CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT in CUDA's header. */
#define ATTRIBUTE_PROCESSORS 16
#define THREADS_OF_BLOCK     256

/* X(member of struct cuda, arguments, name of the function). All return a CUresult; 0 = success. */
/* clang-format off */
#define CUDA_FUNCTIONS(X) \
X(init, (unsigned flags), "cuInit") \
X(device, (int *ret, int index), "cuDeviceGet") \
X(attribute, (int *ret, int attribute, int device), "cuDeviceGetAttribute") \
X(retain, (void **ret, int device), "cuDevicePrimaryCtxRetain") \
X(use, (void *context), "cuCtxSetCurrent") \
X(wait, (void), "cuCtxSynchronize") \
X(allocate, (uint64_t *ret, size_t bytes), "cuMemAlloc_v2") \
X(release, (uint64_t memory), "cuMemFree_v2") \
X(fill, (uint64_t memory, unsigned char byte, size_t bytes), "cuMemsetD8_v2") \
X(module, (void **ret, const void *text), "cuModuleLoadData") \
X(function, (void **ret, void *module, const char *name), "cuModuleGetFunction") \
X(launch, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
  unsigned block_z, unsigned shared_bytes, void *stream, void **arguments, void **more), "cuLaunchKernel")
/* clang-format on */

static struct {
#define CUDA_FIELD(field, arguments, name) int(*field) arguments;
	CUDA_FUNCTIONS(CUDA_FIELD)
#undef CUDA_FIELD
} cuda;

/* The kernel multiplies and adds until `ns` nanoseconds have passed. It writes a result only if it
 * is 0, which never happens. Without the write, the driver's compiler would drop the arithmetic. */
static const char kernel_text[] =
	".version 6.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry compute(.param .u64 ns, .param .u64 result)\n"
	"{\n"
	"	.reg .pred %over, %zero;\n"
	"	.reg .f32 %a, %b;\n"
	"	.reg .b64 %end, %now, %result;\n"
	"	ld.param.u64 %end, [ns];\n"
	"	ld.param.u64 %result, [result];\n"
	"	cvta.to.global.u64 %result, %result;\n"
	"	mov.u64 %now, %globaltimer;\n"
	"	add.u64 %end, %end, %now;\n"
	"	mov.f32 %a, 0f3F800000;\n" /* 1 */
	"	mov.f32 %b, 0f3F800000;\n"
	"again:\n"
	"	fma.rn.f32 %a, %a, 0f3F000000, 0f3F800000;\n" /* a / 2 + 1 */
	"	fma.rn.f32 %b, %b, 0f3F000000, 0f3F800000;\n"
	"	fma.rn.f32 %a, %a, 0f3F000000, 0f3F800000;\n"
	"	fma.rn.f32 %b, %b, 0f3F000000, 0f3F800000;\n"
	"	fma.rn.f32 %a, %a, 0f3F000000, 0f3F800000;\n"
	"	fma.rn.f32 %b, %b, 0f3F000000, 0f3F800000;\n"
	"	fma.rn.f32 %a, %a, 0f3F000000, 0f3F800000;\n"
	"	fma.rn.f32 %b, %b, 0f3F000000, 0f3F800000;\n"
	"	mov.u64 %now, %globaltimer;\n"
	"	setp.ge.u64 %over, %now, %end;\n"
	"	@!%over bra again;\n"
	"	add.f32 %a, %a, %b;\n"
	"	setp.eq.f32 %zero, %a, 0f00000000;\n"
	"	@!%zero bra done;\n"
	"	st.global.f32 [%result], %a;\n"
	"done:\n"
	"	ret;\n"
	"}\n";

static void *kernel;
static unsigned processors;

static void check(int code, const char *call)
{
	if (code == 0)
		return;
	fprintf(stderr, "gpu_load: %s: CUDA error %d\n", call, code);
	exit(1);
}

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double when)
{
	double left = when - seconds_now();

	if (left > 0)
		nanosleep(&(struct timespec){(time_t)left,
				  (long)((left - (double)(time_t)left) * 1e9)},
			NULL);
}

static void load_library(void)
{
	void *library = dlopen(CUDA_LIBRARY, RTLD_NOW);

	if (!library) {
		fprintf(stderr, "gpu_load: %s\n", dlerror());
		exit(2);
	}
#define FIND(field, arguments, name)                                                               \
	do {                                                                                       \
		void *symbol = dlsym(library, name);                                               \
		if (!symbol) {                                                                     \
			fprintf(stderr, "gpu_load: " CUDA_LIBRARY " lacks " name "\n");            \
			exit(2);                                                                   \
		}                                                                                  \
		memcpy(&cuda.field, &symbol, sizeof symbol);                                       \
	} while (0);
	CUDA_FUNCTIONS(FIND)
#undef FIND
}

static void compile(void)
{
	void *module;

	check(cuda.module(&module, kernel_text), "compile the kernel");
	check(cuda.function(&kernel, module, "compute"), "find the kernel");
}

static void open_gpu(void)
{
	int device, n;
	void *context;

	load_library();
	check(cuda.init(0), "init");
	check(cuda.device(&device, 0), "find GPU 0");
	check(cuda.attribute(&n, ATTRIBUTE_PROCESSORS, device), "count multiprocessors");
	check(cuda.retain(&context, device), "make a context");
	check(cuda.use(context), "use the context");
	processors = (unsigned)n;
	compile();
}

/* Computes on the whole GPU. Returns the seconds that it took. */
static double compute(double seconds, uint64_t memory)
{
	double begin = seconds_now();
	uint64_t ns = (uint64_t)(seconds * 1e9);
	void *arguments[] = {&ns, &memory};

	check(cuda.launch(kernel, 2 * processors, 1, 1, THREADS_OF_BLOCK, 1, 1, 0, NULL, arguments,
		      NULL),
		"launch the kernel");
	check(cuda.wait(), "wait for the kernel");
	return seconds_now() - begin;
}

struct phase {
	double mib, seconds, percent;
};

static void play(const struct phase *p)
{
	double begin = seconds_now(), end = begin + p->seconds, busy = 0;
	size_t bytes = (size_t)(p->mib * 1048576);
	uint64_t memory;

	check(cuda.allocate(&memory, bytes), "allocate memory");
	check(cuda.fill(memory, 0x5a, bytes), "fill memory");
	check(cuda.wait(), "wait for the memory");
	double next = seconds_now();

	while (next < end) {
		sleep_until(next);
		next += PERIOD_MS / 1e3;
		if (p->percent > 0)
			busy += compute(PERIOD_MS / 1e3 * p->percent / 100, memory);
	}
	sleep_until(end);
	check(cuda.release(memory), "free memory");
	printf("phase mib=%.0f seconds=%.3f busy=%.3f\n", p->mib, seconds_now() - begin, busy);
	fflush(stdout);
}

static bool read_phase(const char *text, struct phase *ret)
{
	struct scan s = SCAN(text, strlen(text));

	return scan_double(&s, &ret->mib) && scan_char(&s, ':') && scan_double(&s, &ret->seconds) &&
	       scan_char(&s, ':') && scan_double(&s, &ret->percent) && scan_end(&s) &&
	       ret->mib >= 1 && ret->mib <= 1e6 && ret->seconds > 0 && ret->seconds <= 1e5 &&
	       ret->percent >= 0 && ret->percent <= 100;
}

/* Goes on in a child. The parent ends with the child's exit code. CUDA does not survive fork(), so
 * this comes before any call of it. */
static void go_on_in_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		return;
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	exit(child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
	struct phase phase;
	int first = 1;

	if (argc > 1 && strcmp(argv[1], "--child") == 0)
		first = 2;
	for (int i = first; i < argc; i++)
		if (!read_phase(argv[i], &phase))
			argc = 0;
	if (argc <= first) {
		fprintf(stderr, "usage: gpu_load [--child] MIB:SECONDS:PERCENT...\n");
		return 1;
	}
	if (first == 2) {
		go_on_in_child();
		go_on_in_child();
	}
	open_gpu();
	printf("pid %ld\n", (long)getpid());
	fflush(stdout);
	for (int i = first; i < argc; i++)
		if (read_phase(argv[i], &phase))
			play(&phase);
	return 0;
}
