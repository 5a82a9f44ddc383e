#include "exporter/cli/catalogue_command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/units.h"
#include "exporter/catalogue/in_use.h"
#include "exporter/cli/usage.h"
#include "exporter/catalogue/file.h"
#include "exporter/core/log.h"
#include "exporter/this_server/this_server.h"
#include "exporter/core/paths.h"
#include "exporter/text/line_wrap.h"
#include "exporter/answers/app_caches.h"

#define COMMAND      "catalogue"
#define PROGRAM      "rightsize-exporter " COMMAND
#define SEARCH_LINES 50
#define TEXT_MAX     (16u << 20)
/* Seconds. Progress on stderr that is not a terminal is printed only at the beginning of a step,
 * and before a wait of at least this time. */
#define LONG_WAIT 10.0

enum { EXIT_OK, EXIT_FAILED };

struct catalogue_command {
	struct options options;
	/* argument that is not an option, such as the text to search; NULL = none */
	const char *operand;
};

static int failed(const struct err *e)
{
	fprintf(stderr, PROGRAM ": %s\n", e->text);
	return EXIT_FAILED;
}

static void warn(const struct err *e)
{
	fprintf(stderr, PROGRAM ": warning: %s\n", e->text);
}

/* ---- output of info and search ---- */

static void add_age(struct buf *out, double seconds)
{
	static const struct {
		double seconds;
		const char *name;
	} units[] = {{86400, "days"}, {3600, "hours"}, {60, "minutes"}, {0, "seconds"}};

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (seconds >= 2 * units[i].seconds || units[i].seconds == 0) {
			buf_addf(out, "%.0f %s",
				units[i].seconds > 0 ? seconds / units[i].seconds :
						       fmax(seconds, 0),
				units[i].name);
			return;
		}
}

static void add_vendor(struct buf *out, const struct catalogue *c, size_t vendor)
{
	size_t servers = 0, active = 0, priced = 0, scored = 0, prices = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct server *s = &c->server[i];

		if (s->vendor != vendor)
			continue;
		servers++;
		active += s->active;
		priced += s->n_prices > 0;
		scored += isnan(s->score) ? 0 : 1;
		prices += s->n_prices;
	}
	buf_addf(out, "%-12s %8zu %8zu %8zu %8zu %9zu\n", c->vendor[vendor].vendor_id, servers,
		active, priced, scored, prices);
}

static void add_currency(struct buf *out, const struct currency *of)
{
	char usd[DOUBLE_TEXT_MAX];

	buf_addf(out, ", %s ", of->code);
	if (isnan(of->usd)) {
		buf_adds(out, "(no rate)");
		return;
	}
	double_text(usd, of->usd);
	buf_addf(out, "at %s USD (%s%s%s)", usd, of->source, *of->as_of ? " of " : "", of->as_of);
}

/* Prints how many regions have prices, and for how many vendors the compliance frameworks are
 * known. Servers of the other regions and vendors are never found by a filter for regions,
 * countries or frameworks. */
static void add_known(struct buf *out, const struct catalogue *c)
{
	size_t regions = 0, vendors = 0;

	for (size_t i = 1; i < c->n_regions; i++)
		regions += c->region[i].prices_known;
	for (size_t i = 0; i < c->n_vendors; i++)
		vendors += c->vendor[i].compliance_known;
	buf_addf(out,
		"knows       prices in %zu of %zu regions, frameworks of %zu of %zu vendors\n",
		regions, c->n_regions - 1, vendors, c->n_vendors);
}

void catalogue_command_info(struct buf *out, const struct catalogue *c, double age_seconds)
{
	buf_addf(out, "source      %s\n", c->source);
	if (*c->note)
		buf_addf(out, "data from   %s\n", c->note);
	buf_addf(out, "as of       %s\n", *c->as_of ? c->as_of : "not known");
	if (!isnan(age_seconds)) {
		buf_adds(out, "fetched     ");
		add_age(out, age_seconds);
		buf_adds(out, " ago\n");
	}
	buf_addf(out,
		"holds       %zu servers, %zu prices, %zu regions, %zu benchmarks in %.1f MiB\n",
		c->n, c->n_prices, c->n_regions - 1, c->n_benchmarks, (double)c->bytes / 1048576);
	add_known(out, c);
	buf_adds(out, "currencies  USD");
	for (size_t i = 1; i < c->n_currencies; i++)
		add_currency(out, &c->currency[i]);
	buf_addf(out, "\n\n%-12s %8s %8s %8s %8s %9s\n", "vendor", "servers", "active", "priced",
		"scored", "prices");
	for (size_t i = 0; i < c->n_vendors; i++)
		add_vendor(out, c, i);
}

static bool contains(const struct server *s, const char *text)
{
	return strcasestr(s->server_id, text) || strcasestr(s->api_reference, text) ||
	       strcasestr(s->display_name, text) || strcasestr(s->family, text);
}

struct found_server {
	const struct server *server;
	double usd; /* price of an hour in US dollars; NaN = unknown */
};

/* Sorts by price, with unknown prices last. Equal prices keep the order of the catalogue. */
static int by_price(const void *left, const void *right)
{
	const struct found_server *a = left, *b = right;

	if (isnan(a->usd) || isnan(b->usd)) {
		if (!isnan(a->usd) || !isnan(b->usd))
			return isnan(a->usd) ? 1 : -1;
	} else if (a->usd < b->usd || a->usd > b->usd) {
		return a->usd < b->usd ? -1 : 1;
	}
	return (a->server > b->server) - (a->server < b->server);
}

static double usd_of(const struct catalogue *c, const struct server *s)
{
	const struct currency *currency = catalogue_currency(c, s->currency);

	return currency ? s->min_price_ondemand * currency->usd : (double)NAN;
}

static void add_number(struct buf *out, int width, double v)
{
	char text[DOUBLE_TEXT_MAX];

	double_text(text, v);
	buf_addf(out, " %*s", width, isnan(v) ? "-" : text);
}

static void add_server(struct buf *out, const struct server *s)
{
	buf_addf(out, "%-10s %-28s", s->vendor_id, s->display_name);
	add_number(out, 6, s->vcpus);
	add_number(out, 9, s->memory_amount);
	add_number(out, 5, s->gpu_count);
	buf_addf(out, " %-12s %-7s %-10s", *s->gpu_model ? s->gpu_model : "-",
		s->cpu_architecture ? architecture_name[s->cpu_architecture] : "-",
		s->cpu_allocation ? catalogue_cpu_allocation_name[s->cpu_allocation] : "-");
	add_number(out, 9, s->score);
	add_number(out, 10, s->min_price_ondemand);
	buf_addf(out, " %s %s\n", s->currency, *s->region_id ? s->region_id : "(lowest)");
}

size_t catalogue_command_search(struct buf *out, const struct catalogue *c, const char *text,
	size_t limit)
{
	AUTO(freep) struct found_server *found = xcalloc(c->n, sizeof *found);
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->server[i].active && contains(&c->server[i], text))
			found[n++] = (struct found_server){&c->server[i], usd_of(c, &c->server[i])};
	qsort(found, n, sizeof *found, by_price);
	buf_addf(out, "%-10s %-28s %6s %9s %5s %-12s %-7s %-10s %9s %10s\n", "vendor", "server",
		"vCPUs", "MiB", "GPUs", "GPU", "arch", "CPU", "SCore", "per hour");
	for (size_t i = 0; i < n && i < limit; i++)
		add_server(out, found[i].server);
	return n;
}

/* ---- progress: one line that is overwritten on a terminal, few lines elsewhere ---- */

struct fetch_progress {
	bool terminal;
	char doing[128];
	size_t bytes;
};

static void progress_end(const struct fetch_progress *p)
{
	if (p->terminal)
		fputs("\r\033[K", stderr);
}

static void add_state(struct buf *out, const struct keeper_progress *k)
{
	const char *doing = *k->doing ? k->doing : "fetching";

	if (k->answered)
		buf_addf(out, "%s: %u page%s, %zu servers so far", doing, k->pages,
			k->pages == 1 ? "" : "s", k->servers);
	else
		buf_addf(out, "asking %s, no answer yet: %s", k->host, doing);
	if (k->waiting_seconds >= 1)
		buf_addf(out, "; waiting %.0f s%s%s", ceil(k->waiting_seconds), k->why ? ": " : "",
			k->why ? k->why : "");
}

static void show_fetching(void *context, const struct keeper_progress *k)
{
	struct fetch_progress *p = context;
	struct buf line AUTO(buf_done) = BUF_MAX(512);

	add_state(&line, k);
	if (p->terminal) {
		fprintf(stderr, "\r\033[K%s", buf_text(&line));
		return;
	}
	if (strcmp(p->doing, k->doing) == 0 && k->waiting_seconds < LONG_WAIT)
		return;
	snprintf(p->doing, sizeof p->doing, "%s", k->doing);
	fprintf(stderr, "%s\n", buf_text(&line));
}

static void show_reading(void *context, size_t bytes)
{
	struct fetch_progress *p = context;

	if (!p->terminal || bytes - p->bytes < (size_t)MIB)
		return;
	p->bytes = bytes;
	fprintf(stderr, "\r\033[Kread %zu MiB", bytes / (size_t)MIB);
}

/* ---- info ---- */

static int print(struct buf *text)
{
	bool ok = fwrite(buf_text(text), 1, text->len, stdout) == text->len && fflush(stdout) == 0;

	if (!ok)
		fputs(PROGRAM ": cannot write to stdout\n", stderr);
	return ok ? EXIT_OK : EXIT_FAILED;
}

static int print_info(struct catalogue_command *c, const struct catalogue_use *use)
{
	struct buf text AUTO(buf_done) = BUF_MAX(TEXT_MAX);

	(void)c;
	catalogue_command_info(&text, use->catalogue,
		isnan(use->state.fetched_at) ? (double)NAN : use->state.age_seconds);
	if (use->state.stale)
		buf_adds(&text, "\nIt is stale. \"" PROGRAM " update\" fetches a newer one.\n");
	return print(&text);
}

/* ---- search ---- */

static int print_found(struct catalogue_command *c, const struct catalogue_use *use)
{
	struct buf text AUTO(buf_done) = BUF_MAX(TEXT_MAX);
	size_t n = catalogue_command_search(&text, use->catalogue, c->operand, SEARCH_LINES);

	if (n == 0) {
		fprintf(stderr,
			PROGRAM ": no active server of %s has \"%s\" in its name or family\n",
			use->catalogue->source, c->operand);
		return EXIT_FAILED;
	}
	if (n > SEARCH_LINES)
		fprintf(stderr, PROGRAM ": the cheapest %d of %zu; a longer text matches fewer\n",
			SEARCH_LINES, n);
	return print(&text);
}

/* ---- update ---- */

static void say_fetched(const struct catalogue *c, const struct keeper_report *r, const char *path)
{
	fprintf(stderr, "fetched %zu servers and %zu prices in %u calls", c->n, c->n_prices,
		r->calls);
	if (r->retries)
		fprintf(stderr, " (%u of them retries)", r->retries);
	fprintf(stderr, "; kept in %s\n", path);
}

static int update(struct catalogue_command *c)
{
	const struct options *o = &c->options;
	AUTO(freep) char *path = NULL;
	struct fetch_progress progress = {.terminal = isatty(STDERR_FILENO)};
	struct catalogue *fetched = NULL;
	struct keeper_report report = {0};
	struct err e = {0}, notice = {0};
	struct worker worker;
	struct machine m;
	char home[CATALOGUE_HOME_MAX];

	if (path_default_cache(&path, o->catalogue_cache, &e))
		return failed(&e);
	this_server_find(o, &m);
	struct catalogue_source source = {.url = o->catalogue_url,
		.cache_path = path,
		.ca_file = o->catalogue_ca_file,
		.regions = o->catalogue_regions,
		.home = o->catalogue_regions.n ? NULL : catalogue_home(m.vendor_id, m.region, home),
		.benchmarks = o->catalogue_benchmarks,
		.attended = true,
		.force = true, /* fetch now; unchanged pages still come from the cache */
		.progress = show_fetching,
		.progress_context = &progress};

	worker_init(&worker);
	int code = catalogue_update(&source, &worker, &fetched, &report, &notice, &e);

	worker_done(&worker);
	progress_end(&progress);
	if (notice.code == -EUCLEAN)
		warn(&notice);
	else if (code == 0 && notice.code) /* the catalogue was fetched, but not saved */
		e = notice, code = notice.code;
	if (code == 0)
		say_fetched(fetched, &report, path);
	catalogue_free(fetched);
	return code ? failed(&e) : EXIT_OK;
}

/* ---- import ---- */

static int save(const struct catalogue *c, const char *path, struct err *e)
{
	struct cache_origin origin = {.at = now_read().wall};
	struct catalogue_cache *cache = NULL;
	struct err aside = {0};
	int code = catalogue_cache_open(&cache, path, e);

	snprintf(origin.source, sizeof origin.source, "%s", c->source);
	if (code == 0)
		code = catalogue_cache_save(cache, c, &origin, e);
	if (cache && catalogue_cache_aside(cache, &aside))
		warn(&aside);
	catalogue_cache_close(cache);
	return code;
}

static int import(struct catalogue_command *c)
{
	struct fetch_progress progress = {.terminal = isatty(STDERR_FILENO)};
	AUTO(freep) char *path = NULL;
	struct catalogue *read = NULL;
	struct err e = {0};
	int code = path_default_cache(&path, c->options.catalogue_cache, &e);
	struct catalogue_file_options how = {
		.scratch = path, .progress = show_reading, .progress_context = &progress};

	if (code == 0)
		code = path_make_folder(path, &e);
	if (code == 0)
		code = catalogue_from_file(&read, c->operand, &how, &e);
	progress_end(&progress);
	if (code == 0)
		code = save(read, path, &e);
	if (code == 0)
		fprintf(stderr,
			"imported %zu servers and %zu prices; kept in %s until "
			"\"" PROGRAM " update\"\n",
			read->n, read->n_prices, path);
	catalogue_free(read);
	return code ? failed(&e) : EXIT_OK;
}

/* ---- commands ---- */

static const struct catalogue_verb {
	const char *word, *operand, *help;
	int (*run)(struct catalogue_command *c);
	/* Function of a command that only prints the current catalogue. All other commands have
	 * `run` instead. */
	int (*show)(struct catalogue_command *c, const struct catalogue_use *use);
} verbs[] = {
	{"info", NULL,
		"Says where servers and prices come from, how old they are, and what there is",
		.show = print_info},
	{"update", NULL,
		"Fetches servers and prices from the Spare Cores Keeper into the cache, some 60 "
		"calls at the pace that it allows, which takes about three minutes",
		update},
	{"import", "FILE",
		"Puts a file into the cache: CSV, JSON, an sc-data SQLite file or its SQL dump, "
		"plain or gzip; - reads standard input",
		import},
	{"search", "TEXT", "Lists servers with that text in their name or family, cheapest first",
		.show = print_found},
};

void catalogue_command_help(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		buf_addf(out, "  " PROGRAM " %s%s%s [OPTION...]\n", verbs[i].word,
			verbs[i].operand ? " " : "", verbs[i].operand ? verbs[i].operand : "");
		line_wrap_add(out, verbs[i].help, 6);
	}
}

const char *catalogue_command_word(size_t i)
{
	return i < ARRAY_LEN(verbs) ? verbs[i].word : NULL;
}

static const struct catalogue_verb *verb_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (strcmp(verbs[i].word, word) == 0)
			return &verbs[i];
	return NULL;
}

/* Reads the options and the operand. The operand may be before or after the options. */
static int read_command(struct catalogue_command *c, const struct catalogue_verb *v, int argc,
	char **argv, struct err *e)
{
	bool first = argc > 0 && (argv[0][0] != '-' || strcmp(argv[0], "-") == 0);
	int code;

	if (first) {
		c->operand = argv[0];
		argc--;
		argv++;
	}
	/* The last argument may be "-", which means standard input. Take it here, because
	 * options_read would refuse it as an unknown option. */
	if (argc > 0 && strcmp(argv[argc - 1], "-") == 0 && !first) {
		c->operand = argv[--argc];
		first = true;
	}
	code = options_read(&c->options, COMMAND_QUERY, argc, argv, e);
	if (code)
		return code;
	if (!first && c->options.n_rest) {
		c->operand = *c->options.rest++;
		c->options.n_rest--;
	}
	if (c->options.n_rest || (c->operand && !v->operand))
		code = err_set(e, -EINVAL, "%s: unexpected argument \"%.80s\"", v->word,
			c->options.n_rest ? c->options.rest[0] : c->operand);
	else if (v->operand && !c->operand)
		code = err_set(e, -EINVAL, "%s: %s is missing", v->word, v->operand);
	if (code)
		options_done(&c->options);
	return code;
}

static int show(struct catalogue_command *c, const struct catalogue_verb *v)
{
	struct app app = APP_INIT;
	struct catalogue_use use;
	struct err e = {0};

	app.options = &c->options;
	int code = catalogue_use_begin(&app, &use, &e);

	code = code ? failed(&e) : v->show(c, &use);
	catalogue_use_done(&use);
	app_caches_done(&app);
	return code;
}

int catalogue_command_main(int argc, char **argv)
{
	const struct catalogue_verb *v = verb_of(argc > 0 ? argv[0] : "");
	struct catalogue_command c = {0};
	struct err e = {0};

	if (!v)
		return usage_word(COMMAND, argv[0], catalogue_command_word);
	if (read_command(&c, v, argc - 1, argv + 1, &e))
		return usage_error(COMMAND, e.text);
	log_setup(c.options.log_level, c.options.log_format);
	int code = v->show ? show(&c, v) : v->run(&c);

	options_done(&c.options);
	return code;
}
