#include "exporter/cli/usage.h"

#include <stdio.h>
#include <string.h>

#include "collectors/base/mem.h"
#include "collectors/base/utf8.h"

#define PROGRAM     "rightsize-exporter"
#define MESSAGE_MAX 8192

void usage_print(const char *text)
{
	char clean[MESSAGE_MAX];

	utf8_clean_plain(text, strlen(text), '?', clean, sizeof clean);
	fputs(clean, stderr);
}

void usage_add_words(struct buf *out, const char *(*word)(size_t i))
{
	for (size_t i = 0; word(i); i++)
		buf_addf(out, "%s%s", i == 0 ? "" : word(i + 1) ? ", " : " or ", word(i));
}

void usage_try(const char *command)
{
	fprintf(stderr, "Try " PROGRAM "%s%s --help\n", command ? " " : "", command ? command : "");
}

int usage_error(const char *command, const char *text)
{
	fprintf(stderr, PROGRAM "%s%s: ", command ? " " : "", command ? command : "");
	usage_print(text);
	fputc('\n', stderr);
	usage_try(command);
	return EXIT_USAGE;
}

int usage_argument(const char *command, const char *word, const char *flag)
{
	struct buf text AUTO(buf_done) = BUF_MAX(MESSAGE_MAX);

	buf_addf(&text, "unexpected argument \"%.80s\"", word);
	if (flag)
		buf_addf(&text, ": did you mean --%s=%.80s?", flag, word);
	return usage_error(command, buf_text(&text));
}

int usage_word(const char *command, const char *word, const char *(*accepted)(size_t i))
{
	struct buf text AUTO(buf_done) = BUF_MAX(MESSAGE_MAX);

	if (word)
		buf_addf(&text, "\"%.80s\": accepted is ", word);
	else
		buf_adds(&text, "a word is missing: accepted is ");
	usage_add_words(&text, accepted);
	return usage_error(command, buf_text(&text));
}
