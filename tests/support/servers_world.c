#include "tests/support/servers_world.h"

#include "tests/unit/test_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "exporter/cli/query.h"
#include "exporter/api/route.h"
#include "tests/support/fake_history.h"
#include "tests/support/fake_machine.h"
#include "tests/support/sample_runs.h"
#include "exporter/answers/app_caches.h"

/* Six servers. t.small is the cheapest. The last one is only sold in pesos, for which no rate is compiled in. */
static const char catalogue_text[] =
	"# as_of: 2026-10-01\n"
	"vendor_id,server_id,api_reference,family,cpu_architecture,cpu_allocation,vcpus,memory_amount,memory_amount_actual,gpu_count,gpu_model,gpu_memory_min,gpu_memory_total,storage_size,storage_type,score1,score,region_id,aliases,country_id,continent,allocation,price,currency,billing_increment_seconds,minimum_billing_seconds,compliance,storage_price_gb_month,outbound_price_gb\n"
	"aws,t.small,,t,x86_64,Burstable,2,512,,0,,,,0,,1000,1500,1,here,US,North "
	"America,ondemand,0.01,USD,1,60,hipaa,,\n"
	"aws,m.large,,m,x86_64,Dedicated,2,4096,3900,0,,,,0,,1000,2000,1,here,,,ondemand,0.10,USD,,,,,\n"
	"aws,m.large,,,,,,,,,,,,,,,,2,there,DE,Europe,ondemand,0.08,USD,,,,0.1,0.09\n"
	"aws,m.large,,,,,,,,,,,,,,,,1,here,,,spot,0.03,USD,,,,,\n"
	"aws,m.2xlarge,,m,x86_64,Dedicated,8,32768,,0,,,,100,ssd,2000,16000,1,here,,,ondemand,0.40,USD,,,,,\n"
	"aws,a.large,,a,arm64,Dedicated,2,4096,,0,,,,0,,1000,2000,1,here,,,ondemand,0.05,USD,,,,,\n"
	"gcp,g.gpu,,g,x86_64,Dedicated,4,16384,,1,L4,8192,8192,0,,1000,4000,1000,gc,US,North "
	"America,ondemand,0.70,USD,,,soc2t2,,\n"
	"hcloud,cx,,cx,x86_64,Shared,2,4096,,0,,,,40,ssd,,,f,fsn,DE,Europe,ondemand,0.02,ARS,3600,3600,,,\n";

struct servers_world servers_world;

static struct runs unplaced_runs(void)
{
	struct run *placed = servers_world.run;
	struct runs all = sample_runs();

	assert_true(all.n <= ARRAY_LEN(servers_world.run));
	for (size_t i = 0; i < all.n; i++) {
		placed[i] = all.run[i];
		placed[i].vendor_id = placed[i].instance_type = placed[i].region = NULL;
		placed[i].zone = placed[i].allocation = NULL;
	}
	return (struct runs){all.n, placed};
}

int servers_world_fresh(void **state)
{
	(void)state;
	snprintf(servers_world.path, sizeof servers_world.path, "/tmp/test_servers_XXXXXX");
	int fd = mkstemp(servers_world.path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, catalogue_text, sizeof catalogue_text - 1),
		(ssize_t)sizeof catalogue_text - 1);
	close(fd);
	servers_world.options = (struct options){.catalogue_path = servers_world.path};
	servers_world.app = APP_INIT;
	servers_world.app.options = &servers_world.options;
	servers_world.app.history_path = "some/history.db";
	fake_history = (struct fake_history){.runs = unplaced_runs()};
	fake_machine = (struct machine){0};
	return 0;
}

void servers_world_catalogue(const char *csv)
{
	FILE *f = fopen(servers_world.path, "w");

	assert_non_null(f);
	assert_true(fputs(csv, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

int servers_world_done(void **state)
{
	(void)state;
	assert_int_equal(fake_history.open, 0);
	app_caches_done(&servers_world.app);
	unlink(servers_world.path);
	return 0;
}

json_t *servers_ask(const char *command, const char *words, int status)
{
	char text[512], *next = text, *word;
	const struct route *route = query_route(command);
	struct reply r = {.body = BUF_MAX(REPLY_BODY_MAX)};
	struct arguments a;
	struct err e = {0};

	snprintf(text, sizeof text, "%s", words);
	arguments_begin(&a, route->parameters);
	for (const struct parameter *p = route->parameters; p->name; p++)
		if (strcmp(p->name, "details") == 0 && arguments_add(&a, "details", "true", &e))
			fail_msg("%s: %s", words, e.text);
	while ((word = strsep(&next, ";"))) {
		char *value = strchr(word, '=');

		if (!value)
			continue;
		*value++ = '\0';
		if (arguments_add(&a, word, value, &e))
			fail_msg("%s: %s", words, e.text);
	}
	if (arguments_finish(&a, &e) || route->answer(&servers_world.app, &a, &r, &e))
		fail_msg("%s: %s", words, e.text);
	json_t *o = json_loadb(buf_text(&r.body), r.body.len, 0, NULL);

	assert_non_null(o);
	if (r.status != status)
		fail_msg("%s: %d %s", words, r.status, buf_text(&r.body));
	buf_done(&r.body);
	return o;
}

const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

double number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}
