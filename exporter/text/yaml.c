#include "exporter/text/yaml.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "collectors/base/buf.h"
#include "collectors/base/scan.h"

/* Maximum number of keys in a table of struct yaml_key. This is not checked. */
#define KEYS_MAX 64

int yaml_open(struct yaml *y, const char *file, const char *text, size_t len, struct arena *arena,
	struct err *e)
{
	yaml_parser_t parser;
	int code = 0;

	*y = (struct yaml){.file = file, .arena = arena};
	if (len > YAML_SIZE_MAX)
		return err_set(e, -EINVAL, "%s: longer than %zu KiB", file, YAML_SIZE_MAX >> 10);
	if (!yaml_parser_initialize(&parser))
		return err_set(e, -ENOMEM, "%s: out of memory", file);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &y->document))
		code = err_set(e, -EINVAL, "%s:%zu: not valid YAML: %s", file,
			parser.problem_mark.line + 1, parser.problem ? parser.problem : "?");
	yaml_parser_delete(&parser);
	return code;
}

void yaml_close(struct yaml *y)
{
	yaml_document_delete(&y->document);
}

yaml_node_t *yaml_root(struct yaml *y)
{
	return yaml_document_get_root_node(&y->document);
}

yaml_node_t *yaml_node(struct yaml *y, yaml_node_item_t index)
{
	return yaml_document_get_node(&y->document, index);
}

int yaml_error(const struct yaml *y, const yaml_node_t *node, struct err *e, const char *format,
	...)
{
	char text[sizeof e->text];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return err_set(e, -EINVAL, "%s:%zu: %s", y->file, node ? node->start_mark.line + 1 : 1,
		text);
}

static struct slice scalar(const yaml_node_t *node)
{
	return (struct slice){(const char *)node->data.scalar.value, node->data.scalar.length};
}

/* YAML 1.1 reads these plain scalars as null (yaml.org/type/null.html). */
static bool is_null(const yaml_node_t *node)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	if (!node)
		return true;
	if (node->type != YAML_SCALAR_NODE || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(nulls); i++)
		if (slice_is(scalar(node), nulls[i]))
			return true;
	return false;
}

static int unknown_key(const struct yaml *y, const yaml_node_t *key, const char *subject,
	const struct yaml_key *keys, struct err *e)
{
	struct buf known AUTO(buf_done) = BUF_MAX(1024);

	for (const struct yaml_key *k = keys; k->name; k++)
		buf_addf(&known, "%s%s", k == keys ? "" : ", ", k->name);
	return yaml_error(y, key, e, "unknown key %.64s in %s; accepted are %s",
		key->data.scalar.value, *subject ? subject : "this file", buf_text(&known));
}

static int read_pair(struct yaml *y, const yaml_node_pair_t *pair, const char *subject,
	const struct yaml_key *keys, bool seen[KEYS_MAX], void *into, struct err *e)
{
	yaml_node_t *key = yaml_node(y, pair->key), *value = yaml_node(y, pair->value);
	size_t i = 0;

	if (key->type != YAML_SCALAR_NODE)
		return yaml_error(y, key, e, "a key must be a word");
	while (keys[i].name && !slice_is(scalar(key), keys[i].name))
		i++;
	if (!keys[i].name)
		return unknown_key(y, key, subject, keys, e);
	assert(i < KEYS_MAX);
	if (seen[i])
		return yaml_error(y, key, e, "%s is given twice", keys[i].name);
	seen[i] = true;
	return is_null(value) ? 0 : keys[i].read(y, value, (char *)into + keys[i].offset, e);
}

int yaml_mapping(struct yaml *y, yaml_node_t *node, const char *subject,
	const struct yaml_key *keys, void *into, struct err *e)
{
	bool seen[KEYS_MAX] = {0};

	if (is_null(node))
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return yaml_error(y, node, e, "%s must be keys with values (key: value)",
			*subject ? subject : "this file");
	for (yaml_node_pair_t *p = node->data.mapping.pairs.start; p < node->data.mapping.pairs.top;
		p++) {
		int code = read_pair(y, p, subject, keys, seen, into, e);

		if (code)
			return code;
	}
	return 0;
}

int yaml_text(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	if (value->type != YAML_SCALAR_NODE)
		return yaml_error(y, value, e, "expected a text, not a list or a mapping");
	struct slice s = scalar(value);

	if (memchr(s.data, '\0', s.len))
		return yaml_error(y, value, e, "the text has a NUL byte");
	*(const char **)into = arena_text(y->arena, s.data, s.len);
	return 0;
}

int yaml_flag(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	static const char *const words[2][4] = {
		{"false", "no", "off", "n"}, {"true", "yes", "on", "y"}};
	const char *text = "";
	int code = yaml_text(y, value, &text, e);

	if (code)
		return code;
	for (size_t i = 0; i < 8; i++)
		if (strcasecmp(text, words[i / 4][i % 4]) == 0) {
			*(bool *)into = i / 4;
			return 0;
		}
	return yaml_error(y, value, e, "\"%.64s\" is not true or false", text);
}

int yaml_count(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	const char *text = "";
	int code = yaml_text(y, value, &text, e);

	if (code)
		return code;
	struct scan s = SCAN(text, strlen(text));

	if (!scan_u64(&s, into) || !scan_end(&s))
		return yaml_error(y, value, e, "\"%.64s\" is not a whole number of 0 or more",
			text);
	return 0;
}

/* Units of Go's time.ParseDuration, which the file of --web.config.file uses. "ms" comes before
 * "m", because the first match wins. */
static const struct {
	const char *name;
	double seconds;
} units[] = {
	{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};

static bool scan_unit(struct scan *s, double *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (scan_literal(s, units[i].name)) {
			*ret = units[i].seconds;
			return true;
		}
	return false;
}

int yaml_duration(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	const char *text = "";
	double total = 0, number, unit;
	int code = yaml_text(y, value, &text, e);

	if (code)
		return code;
	struct scan s = SCAN(text, strlen(text));

	if (strcmp(text, "0") == 0) {
		*(double *)into = 0;
		return 0;
	}
	do {
		if (!scan_double(&s, &number) || number < 0 || !scan_unit(&s, &unit))
			return yaml_error(y, value, e,
				"\"%.64s\" is not a duration; accepted are 0 and numbers with ns, us, "
				"ms, s, m or h, as in 1m30s",
				text);
		total += number * unit;
	} while (!scan_end(&s));
	*(double *)into = total;
	return 0;
}

int yaml_texts(struct yaml *y, yaml_node_t *value, void *into, struct err *e)
{
	if (value->type != YAML_SEQUENCE_NODE)
		return yaml_error(y, value, e, "a list is wanted here");
	yaml_node_item_t *first = value->data.sequence.items.start;
	size_t n = (size_t)(value->data.sequence.items.top - first);

	const char **text = arena_alloc(y->arena, n * sizeof *text);

	for (size_t i = 0; i < n; i++) {
		int code = yaml_text(y, yaml_node(y, first[i]), &text[i], e);

		if (code)
			return code;
	}
	*(struct text_list *)into = (struct text_list){n, text};
	return 0;
}
