#include "recommender/run_labels.h"

#include <string.h>

struct scan run_labels_scan(const char *labels)
{
	return scan_slice((struct slice){labels, labels ? strlen(labels) : 0});
}

/* Reads a JSON string. The byte after a backslash never ends the string, even if it is a quote. */
static bool read_text(struct scan *s, struct slice *ret)
{
	struct scan t = *s;

	scan_blanks(&t);
	if (!scan_char(&t, '"'))
		return false;
	const char *start = t.at;

	while (t.at < t.end && *t.at != '"')
		t.at += *t.at == '\\' && t.end - t.at > 1 ? 2 : 1;
	*ret = (struct slice){start, (size_t)(t.at - start)};
	if (!scan_char(&t, '"'))
		return false;
	scan_blanks(&t);
	*s = t;
	return true;
}

bool run_labels_next(struct scan *s, struct run_label *ret)
{
	struct scan t = *s;
	struct run_label l;

	if (!scan_char(&t, '{') && !scan_char(&t, ','))
		return false;
	if (!read_text(&t, &l.name) || !scan_char(&t, ':') || !read_text(&t, &l.value))
		return false;
	*s = t;
	*ret = l;
	return true;
}

struct slice run_labels_find(const char *labels, struct slice name)
{
	struct scan s = run_labels_scan(labels);
	struct run_label l;

	while (run_labels_next(&s, &l))
		if (slice_equal(l.name, name))
			return l.value;
	return (struct slice){0};
}
