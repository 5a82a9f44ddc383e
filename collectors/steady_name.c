/* Taking off what changes, from the end. Every rule is exact: what looks half like a date is left alone. */
#include "collectors/steady_name.h"

#include <stdbool.h>
#include <string.h>

/* Kubernetes makes suffixes of these: no vowels, and nothing that looks like another letter. */
#define GENERATED_LETTERS "bcdfghjklmnpqrstvwxz2456789"
#define GENERATED_LENGTH  5

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Matches text against the end of the name: 'd' is a digit, 'x' a hexadecimal one, '?' any of "-_.:T" or nothing,
 * else the character itself. Returns how many bytes matched, 0 when they do not.
 */
static size_t tail_of(struct slice name, const char *pattern)
{
	size_t n = 0;

	for (size_t i = strlen(pattern); i-- > 0;) {
		char c = n < name.len ? name.data[name.len - 1 - n] : '\0';
		bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

		if (pattern[i] == '?') {
			n += c && strchr("-_.:T", c) != NULL;
			continue;
		}
		if (!(pattern[i] == 'd' ? is_digit(c) : pattern[i] == 'x' ? hex : c == pattern[i]))
			return 0;
		n++;
	}
	return n;
}

static unsigned digits(const char *at, size_t n)
{
	unsigned v = 0;

	for (size_t i = 0; i < n; i++)
		v = v * 10 + (unsigned)(at[i] - '0');
	return v;
}

/* The first eight digits of text as a date that may be meant. */
static bool is_date(struct slice text)
{
	char d[8];
	size_t n = 0;

	for (size_t i = 0; i < text.len && n < sizeof d; i++)
		if (is_digit(text.data[i]))
			d[n++] = text.data[i];
	if (n < sizeof d)
		return false;
	unsigned year = digits(d, 4), month = digits(d + 4, 2), day = digits(d + 6, 2);

	return year >= 1990 && year <= 2199 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static bool is_unix_time(struct slice text)
{
	return text.len && text.data[0] >= '1' && text.data[0] <= '3';
}

static bool always(struct slice text)
{
	(void)text;
	return true;
}

static const struct {
	const char *pattern;
	bool (*means)(struct slice text);
} tails[] = {
	{"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", always},
	{"dddd?dd?dd?dd?dd?dd?dddddd", is_date},
	{"dddd?dd?dd?dd?dd?dd?dddZ", is_date},
	{"dddd?dd?dd?dd?dd?dd?ddd", is_date},
	{"dddd?dd?dd?dd?dd?ddZ", is_date},
	{"dddd?dd?dd?dd?dd?dd", is_date},
	{"dddd?dd?dd?dd?dd", is_date},
	{"dddd?dd?dd", is_date},
	{"ddddddddddddd", is_unix_time},
	{"dddddddddd", is_unix_time},
};

static struct slice without_joint(struct slice name)
{
	while (name.len && strchr("-_.@ /:", name.data[name.len - 1]))
		name.len--;
	return name;
}

/* One tail less; the same when there is none, or when nothing would be left. */
static struct slice without_tail(struct slice name)
{
	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
		size_t n = tail_of(name, tails[i].pattern);
		struct slice tail = {name.data + name.len - n, n};
		struct slice rest = without_joint((struct slice){name.data, name.len - n});

		/* A part of a longer number is no date. */
		if (n == 0 || rest.len == 0 || !tails[i].means(tail) ||
			(is_digit(tail.data[0]) && is_digit(tail.data[-1])))
			continue;
		return rest;
	}
	return name;
}

struct slice steady_name(struct slice name)
{
	size_t before;

	do {
		before = name.len;
		name = without_tail(name);
	} while (name.len < before);
	return name;
}

/* Without "-" and n or more characters out of these; the same when there are none. */
static struct slice without_suffix(struct slice name, const char *letters, size_t least,
	size_t most)
{
	size_t n = 0;

	while (n < name.len && name.data[name.len - 1 - n] &&
		strchr(letters, name.data[name.len - 1 - n]))
		n++;
	if (n < least || n > most || n + 1 >= name.len || name.data[name.len - 1 - n] != '-')
		return name;
	name.len -= n + 1;
	return name;
}

struct slice without_generated(struct slice name)
{
	struct slice rest = without_suffix(name, "0123456789", 1, 20);

	rest = without_suffix(rest, GENERATED_LETTERS, GENERATED_LENGTH, GENERATED_LENGTH);
	return steady_name(rest);
}

struct slice without_replica(struct slice name)
{
	struct slice rest =
		without_suffix(name, GENERATED_LETTERS, GENERATED_LENGTH, GENERATED_LENGTH);

	/* A ReplicaSet's hash (8 to 10 of the letters), a CronJob's minutes since 1970, or an index. */
	rest = without_suffix(rest, GENERATED_LETTERS, 8, 10);
	rest = without_suffix(rest, "0123456789", 1, 10);
	return steady_name(rest);
}
