/* The scenario of the simulated libnvidia-ml.so.1. */
#include "tests/support/fake_nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/fake_nvml_play.h"

#define NAMES_MAX   64
#define SAMPLES_MAX 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all variables below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char scenario[2048];
static bool played, released;
static unsigned scene;   /* incremented by a new scenario, and when hanging calls are released */
static unsigned hanging; /* number of hanging calls in this scene */
static struct {
	const char *name;
	unsigned n;
} calls[NAMES_MAX];

static struct taken_sample samples[SAMPLES_MAX];
static unsigned n_samples;

/* ---- the scenario ---- */

/* Returns the value of `key`, which ends at a space; NULL = not found. */
const char *fake_value(const char *key)
{
	size_t n = strlen(key);

	for (const char *p = scenario; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (strncmp(p, key, n) == 0 && p[n] == '=')
			return p + n + 1;
	}
	return NULL;
}

static unsigned number(const char **text)
{
	unsigned v = 0;

	while (**text >= '0' && **text <= '9')
		v = v * 10 + (unsigned)(*(*text)++ - '0');
	return v;
}

int fake_number(const char *key, int missing)
{
	const char *text = fake_value(key);

	return text ? (int)number(&text) : missing;
}

bool fake_value_is(const char *key, const char *word)
{
	const char *text = fake_value(key);
	size_t n = strlen(word);

	return text && strncmp(text, word, n) == 0 && (text[n] == '\0' || text[n] == ' ');
}

/* Returns the code from "NAME:CODE,NAME:CODE"; 0 = not found. */
static int failure_of(const char *name)
{
	size_t n = strlen(name);

	for (const char *p = fake_value("fail"); p && *p != ' ' && *p != '\0';) {
		if (strncmp(p, name, n) == 0 && p[n] == ':') {
			p += n + 1;
			return (int)number(&p);
		}
		p += strcspn(p, ", ");
		p += *p == ',';
	}
	return 0;
}

bool fake_next_process(const char **at, struct process *ret)
{
	const char *p = *at;
	struct process entry = {.slice = -1};

	if (!p || *p == ' ' || *p == '\0')
		return false;
	entry.gpu = (int)number(&p);
	if (*p == '.') {
		p++;
		entry.slice = (int)number(&p);
	}
	p += *p == ':';
	entry.pid = number(&p);
	p += *p == ':';
	entry.mib = number(&p);
	p += *p == ':';
	entry.percent = number(&p);
	p += *p == ':';
	entry.kind = *p;
	p += strcspn(p, ", ");
	p += *p == ',';
	*at = p;
	*ret = entry;
	return true;
}

static unsigned calls_of(const char *name)
{
	for (size_t i = 0; i < NAMES_MAX && calls[i].name; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].n;
	return 0;
}

/* ---- functions for the tests ---- */

void fake_nvml_play(const char *text)
{
	pthread_mutex_lock(&lock);
	snprintf(scenario, sizeof scenario, "%s", text);
	played = true;
	scene++;
	hanging = 0;
	released = false;
	pthread_cond_broadcast(&changed);
	memset(calls, 0, sizeof calls);
	n_samples = 0;
	pthread_mutex_unlock(&lock);
}

void fake_nvml_sample(unsigned pid, unsigned percent)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	unsigned long long at = (unsigned long long)t.tv_sec * 1000000 + (unsigned)t.tv_nsec / 1000;

	pthread_mutex_lock(&lock);
	if (n_samples && samples[n_samples - 1].at_us >= at)
		at = samples[n_samples - 1].at_us + 1;
	if (n_samples < SAMPLES_MAX)
		samples[n_samples++] = (struct taken_sample){pid, percent, at};
	pthread_mutex_unlock(&lock);
}

const struct taken_sample *fake_samples(unsigned *ret_n)
{
	*ret_n = n_samples;
	return samples;
}

void fake_nvml_await_hang(void)
{
	pthread_mutex_lock(&lock);
	while (!hanging)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void fake_nvml_await_call(const char *name)
{
	pthread_mutex_lock(&lock);
	while (calls_of(name) == 0)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void fake_nvml_release(void)
{
	pthread_mutex_lock(&lock);
	scene++;
	hanging = 0;
	released = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

unsigned fake_nvml_calls(const char *name)
{
	pthread_mutex_lock(&lock);
	unsigned n = calls_of(name);

	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- the beginning of every NVML function ---- */

static void count_call(const char *name)
{
	size_t i = 0;

	while (i < NAMES_MAX - 1 && calls[i].name && strcmp(calls[i].name, name) != 0)
		i++;
	calls[i].name = name;
	calls[i].n++;
	pthread_cond_broadcast(&changed);
}

int fake_enter(const char *name, const struct device *d)
{
	pthread_mutex_lock(&lock);
	count_call(name);
	if (!released && fake_value_is("hang", name)) {
		unsigned mine = scene;

		hanging++;
		pthread_cond_broadcast(&changed);
		while (scene == mine)
			pthread_cond_wait(&changed, &lock);
	}
	int code = failure_of(name);

	if (code == 0 && d && d->gpu == fake_number("lost", -1))
		code = 15;
	return code;
}

int fake_leave(int code)
{
	pthread_mutex_unlock(&lock);
	return code;
}

void fake_read_environment(void)
{
	pthread_mutex_lock(&lock);
	if (!played) {
		const char *text = getenv("RIGHTSIZE_FAKE_NVML");

		snprintf(scenario, sizeof scenario, "%s", text ? text : "");
	}
	pthread_mutex_unlock(&lock);
}
