/* The input is a request to the real routes, for example "/recommend?job_name=etl/load&runs=5". The
 * data are a few recorded runs and a small catalogue. An answer with the content type of JSON must
 * be valid JSON. */
#include <assert.h>
#include <string.h>

#include <jansson.h>

#include "collectors/base/mem.h"
#include "exporter/core/app.h"
#include "exporter/api/route.h"
#include "exporter/api/request_target.h"
#include "tests/fuzz/fuzz_file.h"
#include "tests/support/fake_history.h"
#include "tests/support/fake_machine.h"
#include "tests/support/sample_runs.h"

static const char catalogue[] =
	"vendor_id,server_id,family,cpu_architecture,vcpus,memory_amount,gpu_count,gpu_model,"
	"gpu_memory_min,gpu_memory_total,storage_size,score1,score,region_id,aliases,allocation,"
	"price,currency,compliance\n"
	"aws,t.small,t,x86_64,2,512,0,,,,0,1000,1500,1,here,ondemand,0.01,USD,hipaa soc2t2\n"
	"aws,m.large,m,arm64,2,4096,0,,,,0,1000,2000,1,here,ondemand,0.10,USD,\n"
	"gcp,g.gpu,g,x86_64,4,16384,1,L4,8192,8192,0,1000,4000,2,there,spot,0.70,USD,soc2t2\n";

static const double at[] = {1795250601, 1795250602, 1795250603, 1795250604};
static const double step[] = {1, 1, 1, 1};
static double values[] = {0.5, 1, 0.25, 1};
static const char *const column_names[] = {"cpu_seconds"};
static double *const columns[] = {values};
static struct options options;
static struct app app;

static void begin(void)
{
	struct buf text AUTO(buf_done) = BUF_MAX(100000);

	buf_adds(&text, catalogue);
	/* There are so many servers that the error for a wrong name lists only the nearest
	 * names. */
	for (int i = 0; i < 200; i++)
		buf_addf(&text, "hcloud,cx%d,cx,x86_64,2,4096,0,,,,0,,,3,fsn,ondemand,%d,EUR,\n", i,
			i + 1);
	fuzz_file_write(text.data, text.len);
	options = (struct options){.catalogue_path = fuzz_path, .sysfs = "/sys"};
	app = APP_INIT;
	app.options = &options;
	app.history_path = "some/history.db";
	fake_history = (struct fake_history){
		.runs = sample_runs(), .series = {4, 1, column_names, at, step, columns}};
	fake_machine =
		(struct machine){.vendor_id = "aws", .instance_type = "t.small", .source = "aws"};
}

static const struct route *find(const char *path)
{
	for (const struct route *const *r = all_routes; *r; r++)
		if (strcmp((*r)->path, path) == 0)
			return *r;
	return NULL;
}

static void check(const struct reply *r)
{
	bool json = r->content_type && strncmp(r->content_type, "application/json", 16) == 0;
	json_t *document = json ? json_loadb(buf_text(&r->body), r->body.len, 0, NULL) : NULL;

	assert(!r->body.full && !r->body.len == !r->body.data);
	assert(!json || document);
	json_decref(document);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(freep) char *raw = xmalloc(size + 1);
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	struct request_target t;
	struct err e = {0};
	char *name, *value;

	if (!app.options)
		begin();
	if (size)
		memcpy(raw, data, size);
	raw[size] = '\0';
	int code = request_target_split(raw, &t, &e);
	const struct route *route = code == 0 ? find(t.path) : NULL;

	if (!route)
		return 0;
	arguments_begin(&a, route->parameters);
	while (code == 0 && (code = request_target_next(&t, &name, &value, &e)) > 0)
		code = arguments_add(&a, name, value, &e);
	if (code == 0)
		code = arguments_finish(&a, &e);
	if (code == 0) {
		code = route->answer(&app, &a, &r, &e);
		if (code == 0)
			check(&r);
	}
	assert(code == 0 || e.text[0]);
	assert(fake_history.open == 0);
	buf_done(&r.body);
	return 0;
}
