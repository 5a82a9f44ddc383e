/* Checks the parameters of a request against the table of its route, both for HTTP and for the
 * command line. */
#include "exporter/api/route.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "collectors/base/mem.h"
#include "collectors/base/quantity.h"
#include "collectors/base/scan.h"
#include "collectors/base/utf8.h"
#include "exporter/text/suggest.h"

/* An error message shows at most this number of bytes of a wrong value. */
#define SHOWN 64

/* An error lists the known parameters if all names together fit into this number of bytes. */
#define KNOWN_SHOWN 160

/* Returns true when `name`, from a request, stands for `key`, which is one of the names of the
 * parameter. `name` may have "-" instead of "_", and may end with "[]" if the parameter repeats. */
static bool is_key(const struct parameter *p, const char *key, const char *name)
{
	for (; *key && (*name == *key || (*name == '-' && *key == '_')); name++)
		key++;
	return *key == '\0' && (*name == '\0' || (p->repeats && strcmp(name, "[]") == 0));
}

/* Returns the name of the parameter that `name` stands for: its main name or an alternative name.
 * NULL = `name` does not stand for this parameter. */
static const char *key_meant(const struct parameter *p, const char *name)
{
	if (is_key(p, p->name, name))
		return p->name;
	for (size_t i = 0; i < ARRAY_LEN(p->also); i++)
		if (p->also[i] && is_key(p, p->also[i], name))
			return p->also[i];
	return NULL;
}

const struct parameter *route_parameter_find(const struct parameter *parameters, const char *name)
{
	for (const struct parameter *p = parameters; p->name; p++)
		if (key_meant(p, name))
			return p;
	return NULL;
}

void route_parameter_accepts(const struct parameter *p, struct buf *out)
{
	const char *word;

	switch (p->kind) {
	case PARAMETER_TEXT:
		if (p->unit) {
			buf_adds(out, p->unit);
			break;
		}
		buf_adds(out, "text of ");
		if (p->least < p->most)
			buf_addf(out, "%.0f to ", p->least);
		buf_addf(out, "%.0f bytes, UTF-8 without control characters", p->most);
		break;
	case PARAMETER_COUNT:
		buf_addf(out, "a whole number from %.0f to %.0f", p->least, p->most);
		break;
	case PARAMETER_NUMBER:
		buf_addf(out, "a number%s%s from %.15g to %.15g", p->unit ? " of " : "",
			p->unit ? p->unit : "", p->least, p->most);
		break;
	case PARAMETER_CORES:
		buf_addf(out,
			"a number of %s such as " QUANTITY_CORES_EXAMPLES ", from %.15g to %.15g",
			p->unit, p->least, p->most);
		break;
	case PARAMETER_SIZE:
		buf_addf(out,
			"a number of %s, or a size such as 512M, 4Gi or 8GB, from %.15g to "
			"%.15g %s",
			p->unit, p->least, p->most, p->unit);
		break;
	case PARAMETER_CHOICE:
		for (size_t i = 0; (word = p->choice(i)); i++)
			buf_addf(out, "%s%s", i == 0 ? "" : p->choice(i + 1) ? ", " : " or ", word);
		break;
	case PARAMETER_FLAG:
		buf_adds(out, "true, false, 1 or 0");
		break;
	}
}

struct parameter_name route_parameter_flag(const char *name)
{
	struct parameter_name ret;

	snprintf(ret.text, sizeof ret.text, "--%s", name);
	for (char *c = ret.text; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return ret;
}

static const char *called(const struct arguments *a, const struct parameter *p,
	char out[ARGUMENT_CALLED_MAX])
{
	const char *key = a->value[p - a->parameters].key;

	if (!key)
		key = p->name;
	snprintf(out, ARGUMENT_CALLED_MAX, "%s", a->flags ? route_parameter_flag(key).text : key);
	return out;
}

static int bad_value(const struct arguments *a, const struct parameter *p, const char *value,
	struct err *e)
{
	struct buf accepts AUTO(buf_done) = BUF_MAX(sizeof e->text);
	char name[ARGUMENT_CALLED_MAX], shown[SHOWN];

	route_parameter_accepts(p, &accepts);
	utf8_clean_plain(value, strlen(value), '?', shown, sizeof shown);
	return err_set(e, -EINVAL, "%s: \"%s\" is not accepted: give %s", called(a, p, name), shown,
		buf_text(&accepts));
}

static bool text_ok(const struct parameter *p, const char *value)
{
	size_t len = strlen(value);

	if ((double)len < p->least || (double)len > p->most || len > PARAMETER_TEXT_MAX ||
		!utf8_valid(value, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)value[i] < 0x20 || value[i] == 0x7f)
			return false;
	return true;
}

static bool read_size(const struct parameter *p, struct slice text, double *ret)
{
	struct scan s = scan_slice(text);
	double bytes;

	if (scan_double(&s, ret) && scan_end(&s))
		return true;
	if (!quantity_bytes(text, QUANTITY_OF_PEOPLE, 0, &bytes))
		return false;
	*ret = bytes / p->unit_bytes;
	return true;
}

static bool number_ok(const struct parameter *p, const char *value, double *ret)
{
	struct slice text = {value, strlen(value)};
	struct scan s = scan_slice(text);
	uint64_t count;
	bool ok = *value != ' ' && *value != '\t';

	if (p->kind == PARAMETER_CORES) {
		ok = ok && quantity_cores(text, ret);
	} else if (p->kind == PARAMETER_SIZE) {
		ok = ok && read_size(p, text, ret);
	} else if (p->kind == PARAMETER_COUNT) {
		ok = ok && scan_u64(&s, &count) && scan_end(&s);
		*ret = ok ? (double)count : *ret;
	} else {
		ok = ok && scan_double(&s, ret) && scan_end(&s);
	}
	return ok && *ret >= p->least && *ret <= p->most;
}

/* Returns the accepted word that equals `value`, or NULL. Ignores the case of letters. */
static const char *choice_of(const struct parameter *p, const char *value)
{
	const char *word;

	for (size_t i = 0; (word = p->choice(i)); i++)
		if (strcasecmp(word, value) == 0)
			return word;
	return NULL;
}

static bool flag_ok(const char *value, bool *ret)
{
	*ret = strcmp(value, "") == 0 || strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
	return *ret || strcmp(value, "0") == 0 || strcmp(value, "false") == 0;
}

static int store(struct arguments *a, const struct parameter *p, const char *given, struct err *e)
{
	size_t i = (size_t)(p - a->parameters);
	const char *value = given;
	bool ok = false;

	switch (p->kind) {
	case PARAMETER_TEXT:
		ok = text_ok(p, value);
		break;
	case PARAMETER_COUNT:
	case PARAMETER_NUMBER:
	case PARAMETER_CORES:
	case PARAMETER_SIZE:
		ok = number_ok(p, value, &a->value[i].number);
		break;
	case PARAMETER_CHOICE:
		value = choice_of(p, given);
		ok = value;
		break;
	case PARAMETER_FLAG:
		ok = flag_ok(value, &a->value[i].flag);
		break;
	}
	if (!ok)
		return bad_value(a, p, given, e);
	a->value[i].text[a->value[i].n++] = value;
	return 0;
}

void arguments_begin(struct arguments *a, const struct parameter *parameters)
{
	*a = (struct arguments){.parameters = parameters};
}

static int unknown_name(const struct arguments *a, const char *name, struct err *e)
{
	struct buf known AUTO(buf_done) = BUF_MAX(KNOWN_SHOWN);
	const char *names[PARAMETERS_MAX], *slip;
	char shown[SHOWN], meant[ARGUMENT_CALLED_MAX];
	size_t n = 0;

	for (const struct parameter *p = a->parameters; p->name && n < PARAMETERS_MAX; p++) {
		names[n++] = p->name;
		buf_addf(&known, "%s%s", p == a->parameters ? "" : ", ", called(a, p, shown));
	}
	slip = suggest_slip(name, names, n);
	utf8_clean_plain(name, strlen(name), '?', shown, sizeof shown);
	if (slip)
		return err_set(e, -EINVAL, "\"%s\" is not a parameter here: did you mean %s?",
			shown, called(a, route_parameter_find(a->parameters, slip), meant));
	/* If the list of names does not fit, do not show it, because a truncated list would look
	 * complete. */
	if (known.full)
		return err_set(e, -EINVAL, "\"%s\" is not a parameter here: %s", shown,
			a->flags ? "--help lists the known ones" :
				   "the table of routes in the manual lists the known ones");
	return err_set(e, -EINVAL, "\"%s\" is not a parameter here; known: %s", shown,
		known.len ? buf_text(&known) : "none");
}

int arguments_add(struct arguments *a, const char *name, const char *value, struct err *e)
{
	const struct parameter *p = route_parameter_find(a->parameters, name);

	if (!p)
		return unknown_name(a, name, e);
	size_t n = a->value[p - a->parameters].n;
	char shown[ARGUMENT_CALLED_MAX];

	a->value[p - a->parameters].key = key_meant(p, name);
	if (n && !p->repeats)
		return err_set(e, -EINVAL, "%s was given more than once", called(a, p, shown));
	if (n == PARAMETER_VALUES_MAX)
		return err_set(e, -EINVAL, "%s was given more than %d times", called(a, p, shown),
			PARAMETER_VALUES_MAX);
	return store(a, p, value, e);
}

/* Writes the key of the job to a->job. A namespace or a cluster without a job name is an error,
 * because it would have no effect. */
static int make_key(struct arguments *a, struct err *e)
{
	const char *name, *space, *cluster;
	char shown[SHOWN];

	if (!route_parameter_find(a->parameters, "cluster"))
		return 0;
	name = argument_text(a, "job_name");
	space = argument_text(a, "namespace");
	cluster = argument_text(a, "cluster");
	if (name)
		job_key_write(name, space, cluster, a->job);
	else if (space || cluster)
		return err_set(e, -EINVAL, "%s is missing: %s is of a job",
			called(a, route_parameter_find(a->parameters, "job_name"), shown),
			space ? "a namespace" : "a cluster");
	return 0;
}

int arguments_finish(struct arguments *a, struct err *e)
{
	for (const struct parameter *p = a->parameters; p->name; p++) {
		if (a->value[p - a->parameters].n)
			continue;
		if (p->required) {
			struct buf accepts AUTO(buf_done) = BUF_MAX(sizeof e->text);
			char name[ARGUMENT_CALLED_MAX];

			route_parameter_accepts(p, &accepts);
			return err_set(e, -EINVAL, "%s is missing: give %s", called(a, p, name),
				buf_text(&accepts));
		}
		if (p->fallback && store(a, p, p->fallback, e) != 0)
			return e ? e->code : -EINVAL;
	}
	return make_key(a, e);
}

static size_t position(const struct arguments *a, const char *name)
{
	const struct parameter *p = a->parameters;

	while (p->name && strcmp(p->name, name) != 0)
		p++;
	assert(p->name);
	return (size_t)(p - a->parameters);
}

const char *argument_called(const struct arguments *a, const char *name,
	char out[ARGUMENT_CALLED_MAX])
{
	return called(a, &a->parameters[position(a, name)], out);
}

const char *argument_text(const struct arguments *a, const char *name)
{
	return a->value[position(a, name)].text[0];
}

size_t argument_texts(const struct arguments *a, const char *name, const char *const **ret)
{
	size_t i = position(a, name);

	*ret = a->value[i].text;
	return a->value[i].n;
}

double argument_number(const struct arguments *a, const char *name)
{
	size_t i = position(a, name);

	return a->value[i].n ? a->value[i].number : NAN;
}

size_t argument_count(const struct arguments *a, const char *name)
{
	return (size_t)a->value[position(a, name)].number;
}

bool argument_flag(const struct arguments *a, const char *name)
{
	return a->value[position(a, name)].flag;
}

int arguments_limit(struct arguments *a, const char *space, struct err *e)
{
	text_copy(space, a->only_space, sizeof a->only_space);
	if (!route_parameter_find(a->parameters, "cluster") || !argument_job(a))
		return 0;
	const char *given = argument_text(a, "namespace");

	if (given && strcmp(given, space) != 0)
		return err_set(e, -EACCES, "this token shows only jobs of the namespace %s", space);
	job_key_write(argument_text(a, "job_name"), space, argument_text(a, "cluster"), a->job);
	return 0;
}

bool argument_may_see(const struct arguments *a, const char *job)
{
	struct job_parts p = job_key_parts(job);

	return !*a->only_space || strcmp(p.space, a->only_space) == 0;
}

const char *argument_job(const struct arguments *a)
{
	return argument_text(a, "job_name") ? a->job : NULL;
}

int route_ask(struct app *app, const struct route *route, const char *const pairs[][2],
	struct reply *r, struct err *e)
{
	struct arguments a;
	int code = 0;

	arguments_begin(&a, route->parameters);
	for (size_t i = 0; pairs[i][0] && code == 0; i++)
		code = *pairs[i][1] ? arguments_add(&a, pairs[i][0], pairs[i][1], e) : 0;
	if (code == 0)
		code = arguments_finish(&a, e);
	return code ? code : route->answer(app, &a, r, e);
}
