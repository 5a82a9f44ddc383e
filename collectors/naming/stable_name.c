/* Removes dates, UUIDs and generated suffixes from the end of a name. Every rule is exact, so a
 * text that only resembles a date stays. */
#include "collectors/naming/stable_name.h"

#include <string.h>

/* Kubernetes generates suffixes from these characters: no vowels, and no characters that look
 * alike. */
#define GENERATED_LETTERS "bcdfghjklmnpqrstvwxz2456789"
#define GENERATED_LENGTH  5
/* A ReplicaSet's hash is a 32-bit number in decimal. Its digits 0 to 9 are written as these letters
 * (SafeEncodeString in k8s.io/apimachinery, pkg/util/rand/rand.go). Few such numbers have fewer
 * than 8 digits. */
#define REPLICA_LETTERS "456789bcdf"
#define REPLICA_LEAST   8
#define REPLICA_MOST    10

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns true if `b` is equal to `a`, or is the small letter of the capital `a`: names in Kubernetes
 * have no capital letters. */
static bool same_letter(char a, char b)
{
	return a == b || (a >= 'A' && a <= 'Z' && b == a - 'A' + 'a');
}

/* Matches `pattern` with the end of `name`. In the pattern, 'd' means a digit, 'x' a hexadecimal
 * digit, and '?' an optional character of "-_.:Tt". A capital letter also matches the small one.
 * Any other character must be equal in the name. Returns the number of bytes that match, or 0. */
static size_t tail_of(struct slice name, const char *pattern)
{
	size_t n = 0;

	for (size_t i = strlen(pattern); i-- > 0;) {
		char c = n < name.len ? name.data[name.len - 1 - n] : '\0';
		bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');

		if (pattern[i] == '?') {
			n += c && strchr("-_.:Tt", c) != NULL;
			continue;
		}
		if (!(pattern[i] == 'd'       ? is_digit(c) :
			    pattern[i] == 'x' ? hex :
						same_letter(pattern[i], c)))
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

/* Copies the first `n` digits of `text`. Returns false if it has fewer. */
static bool first_digits(struct slice text, char *ret, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < text.len && found < n; i++)
		if (is_digit(text.data[i]))
			ret[found++] = text.data[i];
	return found == n;
}

static bool is_year(unsigned year)
{
	return year >= 1990 && year <= 2199;
}

static bool is_day(unsigned month, unsigned day)
{
	return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* Returns true if the first eight digits of `text` are a plausible date (year, month, day). */
static bool is_date(struct slice text)
{
	char d[8];

	return first_digits(text, d, sizeof d) && is_year(digits(d, 4)) &&
	       is_day(digits(d + 4, 2), digits(d + 6, 2));
}

/* Returns true if the first eight digits of `text` are a day, a month and a year. The month may
 * come before the day. */
static bool is_date_by_day(struct slice text)
{
	char d[8];

	if (!first_digits(text, d, sizeof d) || !is_year(digits(d + 4, 4)))
		return false;
	return is_day(digits(d + 2, 2), digits(d, 2)) || is_day(digits(d, 2), digits(d + 2, 2));
}

/* Returns true if the first six digits of `text` are a year and a week. */
static bool is_week(struct slice text)
{
	char d[6];

	return first_digits(text, d, sizeof d) && is_year(digits(d, 4)) && digits(d + 4, 2) >= 1 &&
	       digits(d + 4, 2) <= 53;
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
	/* Without the "T", two digits after a date could be those of a shard. */
	{"dddd?dd?ddTddZ", is_date},
	{"dddd?dd?ddTdd", is_date},
	{"dddd?dd?dd", is_date},
	{"dd.dd.dddd", is_date_by_day},
	{"dd-dd-dddd", is_date_by_day},
	{"dd_dd_dddd", is_date_by_day},
	{"dddd?Wdd?d", is_week},
	{"dddd?Wdd", is_week},
	{"ddddddddddddddddddd", is_unix_time},
	{"dddddddddddddddd", is_unix_time},
	{"ddddddddddddd", is_unix_time},
	{"dddddddddd", is_unix_time},
};

#define LONGEST_TAIL 36 /* bytes; length of the longest pattern in `tails` */

static struct slice without_joint(struct slice name)
{
	while (name.len && strchr("-_.@ /:", name.data[name.len - 1]))
		name.len--;
	return name;
}

/* Removes one tail, which is a date, a time or a UUID at the end. Returns the name unchanged if it
 * has no tail or consists only of a tail. */
static struct slice without_tail(struct slice name)
{
	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
		size_t n = tail_of(name, tails[i].pattern);
		struct slice tail = {name.data + name.len - n, n};
		struct slice rest = without_joint((struct slice){name.data, name.len - n});

		/* Digits inside a longer number are not a date. */
		if (n == 0 || rest.len == 0 || !tails[i].means(tail) ||
			(is_digit(tail.data[0]) && is_digit(tail.data[-1])))
			continue;
		return rest;
	}
	return name;
}

struct slice stable_name(struct slice name)
{
	size_t before;

	do {
		before = name.len;
		name = without_tail(name);
	} while (name.len < before);
	return name;
}

/* Removes "-" and `least` to `most` characters of `letters` from the end. Returns the name
 * unchanged if it has no suffix of this form. */
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

/* Returns true if the whole name is one date, one time or one UUID. */
static bool is_tail(struct slice name)
{
	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
		if (name.len && tail_of(name, tails[i].pattern) == name.len && tails[i].means(name))
			return true;
	return false;
}

bool stable_name_only_dates(struct slice name)
{
	return is_tail(stable_name(name));
}

struct slice stable_name_without_generated(struct slice name)
{
	return stable_name(without_suffix(stable_name(name), GENERATED_LETTERS, GENERATED_LENGTH,
		GENERATED_LENGTH));
}

struct slice stable_name_without_node(struct slice name)
{
	/* The removed number is a 32-bit FNV-1a hash. Such a hash rarely has fewer than 6 digits.
	 * Numbers that people choose are shorter. */
	return stable_name_without_generated(without_suffix(name, "0123456789", 6, 10));
}

/* Removes the minutes since 1970 that a CronJob adds, such as "-28868640". They have 8 digits and
 * begin with 2 or 3 from 2008 until 2046. `least`: accepted number of digits; below 8 if Kubernetes
 * may have cut off the last digits of a pod's name. */
static struct slice without_minutes(struct slice name, size_t least)
{
	struct slice rest = without_suffix(name, "0123456789", least, 8);
	char first = rest.len < name.len ? name.data[rest.len + 1] : '\0';

	return (first == '2' || first == '3') && stable_name(name).len == name.len ? rest : name;
}

struct slice stable_name_without_schedule(struct slice name)
{
	return stable_name_without_generated(without_minutes(name, 8));
}

/* ---- pods ---- */

/* Removes "-" and `text` from the end. */
static struct slice without_text(struct slice name, struct slice text)
{
	size_t n = text.len + 1;

	if (!text.data || name.len <= n || name.data[name.len - n] != '-' ||
		memcmp(name.data + name.len - text.len, text.data, text.len) != 0)
		return name;
	return (struct slice){name.data, name.len - n};
}

/* Removes the minutes that stood before a pod's generated suffix. Kubernetes may have cut some of
 * their digits. A CronJob's name has at most 52 bytes, so at least 5 digits are left. */
static struct slice without_pod_minutes(struct slice name)
{
	return without_minutes(name, name.len == GENERATED_AFTER ? 5 : 8);
}

/* Removes the part of a pod's name that the owner added before the generated suffix. The suffix
 * itself is already removed. */
static struct slice without_owner(struct slice name, const struct pod_owner *owner)
{
	struct slice rest = without_text(name, owner->template_hash);

	if (rest.len == name.len)
		rest = without_text(name, owner->index);
	if (rest.len == name.len)
		rest = without_pod_minutes(name);
	if (rest.len == name.len && !owner->labels_known)
		rest = without_suffix(name, REPLICA_LETTERS, REPLICA_LEAST, REPLICA_MOST);
	return rest;
}

/* Removes the suffix that Kubernetes generated for a pod. Kubernetes cuts a long name before it
 * adds the suffix. The cut may remove the "-" before the suffix and the last digits that a CronJob
 * added. */
static struct slice without_pod_suffix(struct slice name)
{
	struct slice rest =
		without_suffix(name, GENERATED_LETTERS, GENERATED_LENGTH, GENERATED_LENGTH);

	if (rest.len < name.len || name.len != GENERATED_AFTER + GENERATED_LENGTH)
		return rest;
	for (size_t i = GENERATED_AFTER; i < name.len; i++)
		if (!strchr(GENERATED_LETTERS, name.data[i]))
			return name;
	name.len = GENERATED_AFTER;
	return name;
}

struct slice stable_name_without_replica(struct slice name, const struct pod_owner *owner)
{
	struct slice rest = name;

	if (!owner->stateful_set)
		rest = without_pod_suffix(name);
	if (rest.len < name.len)
		return stable_name(without_owner(rest, owner));
	rest = stable_name(name);
	if (owner->stateful_set || (!owner->labels_known && rest.len == name.len))
		rest = without_suffix(name, "0123456789", 1, 10);
	return stable_name(rest);
}

enum pod_maker stable_name_pod_maker(struct slice name)
{
	struct slice rest = without_pod_suffix(name);

	if (rest.len == name.len)
		return POD_OF_OTHERS;
	if (without_pod_minutes(rest).len < rest.len)
		return POD_OF_CRON_JOB;
	return without_suffix(rest, REPLICA_LETTERS, REPLICA_LEAST, REPLICA_MOST).len < rest.len ?
		       POD_OF_OTHERS :
		       POD_OF_JOB;
}

/* ---- SageMaker ---- */

static bool is_letter_or_digit(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool are_letters_or_digits(const char *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_letter_or_digit(at[i]))
			return false;
	return true;
}

/* Returns STEP of "pipelines-ctd6lgoe9v02-STEP-ssFiEMALJh". "ctd6lgoe9v02" is the id of an
 * execution, and "ssFiEMALJh" makes the name unique. Returns a name of any other form unchanged. */
static struct slice pipeline_step(struct slice name)
{
	static const char before[] = "pipelines-";
	const size_t execution = sizeof before - 1, step = execution + 12 + 1, after = 1 + 10;

	if (name.len <= step + after || strncmp(name.data, before, execution) != 0 ||
		!are_letters_or_digits(name.data + execution, 12) || name.data[step - 1] != '-' ||
		name.data[name.len - after] != '-' ||
		!are_letters_or_digits(name.data + name.len - after + 1, after - 1))
		return name;
	return (struct slice){name.data + step, name.len - step - after};
}

/* Returns true if a text such as "-241105-0930" has a valid month, day, hour and minute. */
static bool is_short_time(struct slice text)
{
	unsigned month = digits(text.data + 3, 2), day = digits(text.data + 5, 2);

	return is_day(month, day) && digits(text.data + 8, 2) < 24 &&
	       digits(text.data + 10, 2) < 60;
}

struct slice stable_name_without_training(struct slice name)
{
	struct slice rest = pipeline_step(name);
	size_t n = tail_of(rest, "-ddd-xxxxxxxx");

	if (n < rest.len)
		rest.len -= n;
	n = tail_of(rest, "-dddddd-dddd");
	if (n && n < rest.len && is_short_time((struct slice){rest.data + rest.len - n, n}))
		rest.len -= n;
	return stable_name(rest);
}

/* ---- dates before the end ---- */

/* Returns true for a letter or a digit. All bytes of non-ASCII characters count as letters, so that
 * no character is cut in two. */
static bool is_of_word(char c)
{
	return is_letter_or_digit(c) || (unsigned char)c >= 0x80;
}

/* Returns the length of the date, time or UUID that begins at the pointer `at`. Returns 0 if there
 * is none, or if it ends inside a word. */
static size_t date_here(const char *at)
{
	size_t longest = 0;

	for (size_t n = 1; at[n - 1] && n <= LONGEST_TAIL; n++) {
		if (at[n] && is_of_word(at[n]))
			continue;
		for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
			if (tails[i].means != is_unix_time &&
				tail_of((struct slice){at, n}, tails[i].pattern) == n &&
				tails[i].means((struct slice){at, n}))
				longest = n;
	}
	return longest;
}

void stable_name_drop_dates(char *name)
{
	char *to = name, *from = name;

	while (*from) {
		bool begins = from == name || !is_of_word(from[-1]);
		size_t n = begins && is_letter_or_digit(*from) ? date_here(from) : 0;

		/* Remove the date and the separator that follows the date. A date at the end stays
		 * here, because stable_name() removes it later. */
		if (n && from[n] && from[n + 1])
			from += n + 1;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/* ---- parts that change from run to run ---- */

/* A word counts as a Git hash if it has at least 7 characters, at least two of them digits, and the
 * others letters from "a" to "f". Git shows at least 7 characters. Few ordinary words have this
 * form. */
#define HASH_LEAST        7
#define HASH_DIGITS_LEAST 2

/* Returns the length of the word at the pointer `at`, and what it looks like. */
static size_t shape_of_word(const char *at, enum name_shape *ret)
{
	size_t n = 0, decimal = 0, hex = 0;

	for (; is_of_word(at[n]); n++) {
		decimal += is_digit(at[n]);
		hex += is_digit(at[n]) || (at[n] >= 'a' && at[n] <= 'f');
	}
	*ret = NAME_STEADY;
	if (n && decimal == n)
		*ret = is_tail((struct slice){at, n}) ? NAME_DATED : NAME_NUMBERED;
	else if (hex == n && n >= HASH_LEAST && decimal >= HASH_DIGITS_LEAST)
		*ret = NAME_DATED;
	return n;
}

enum name_shape stable_name_shape(const char *name, char *ret)
{
	enum name_shape most = NAME_STEADY;

	while (*name) {
		enum name_shape shape = NAME_DATED;
		size_t n = is_letter_or_digit(*name) ? date_here(name) : 0;

		if (!n)
			n = shape_of_word(name, &shape);
		if (shape == NAME_STEADY) {
			n = n ? n : 1;
			memcpy(ret, name, n);
			ret += n;
		} else {
			*ret++ = '*';
			most = shape > most ? shape : most;
		}
		name += n;
	}
	*ret = '\0';
	return most;
}
