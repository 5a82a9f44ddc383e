/* The tokens that matter, and the states between them, as in SQLite's complete.c. */
#include "exporter/catalogue/sql_end.h"

#include <stdint.h>
#include <string.h>

#include "collectors/base/mem.h"

enum inside { PLAIN, IN_WORD, IN_QUOTE, IN_LINE_COMMENT, IN_COMMENT, BEHIND_DASH, BEHIND_SLASH };

enum token { SEMICOLON, BLANK, OTHER, EXPLAIN, CREATE, TEMP, TRIGGER, END, TOKENS };

/* A trigger has statements in it: only "; END;" ends it. */
enum statement {
	WHOLE,
	NORMAL,
	EXPLAINED,
	CREATED,
	IN_TRIGGER,
	PART_OF_TRIGGER,
	END_OF_TRIGGER,
	STATEMENTS
};

static const uint8_t follows[STATEMENTS][TOKENS] = {
	[WHOLE] = {WHOLE, WHOLE, NORMAL, EXPLAINED, CREATED, NORMAL, NORMAL, NORMAL},
	[NORMAL] = {WHOLE, NORMAL, NORMAL, NORMAL, NORMAL, NORMAL, NORMAL, NORMAL},
	[EXPLAINED] = {WHOLE, EXPLAINED, EXPLAINED, NORMAL, CREATED, NORMAL, NORMAL, NORMAL},
	[CREATED] = {WHOLE, CREATED, NORMAL, NORMAL, NORMAL, CREATED, IN_TRIGGER, NORMAL},
	[IN_TRIGGER] = {PART_OF_TRIGGER, IN_TRIGGER, IN_TRIGGER, IN_TRIGGER, IN_TRIGGER, IN_TRIGGER,
		IN_TRIGGER, IN_TRIGGER},
	[PART_OF_TRIGGER] = {PART_OF_TRIGGER, PART_OF_TRIGGER, IN_TRIGGER, IN_TRIGGER, IN_TRIGGER,
		IN_TRIGGER, IN_TRIGGER, END_OF_TRIGGER},
	[END_OF_TRIGGER] = {WHOLE, END_OF_TRIGGER, IN_TRIGGER, IN_TRIGGER, IN_TRIGGER, IN_TRIGGER,
		IN_TRIGGER, IN_TRIGGER},
};

static const struct {
	const char *word;
	enum token token;
} keywords[] = {{"explain", EXPLAIN}, {"create", CREATE}, {"temp", TEMP}, {"temporary", TEMP},
	{"trigger", TRIGGER}, {"end", END}};

static void take(struct sql_end *s, enum token t)
{
	s->statement = follows[s->statement][t];
	s->in = PLAIN;
}

static enum token word_token(const struct sql_end *s)
{
	for (size_t i = 0; i < ARRAY_LEN(keywords); i++)
		if (strlen(keywords[i].word) == s->n_word &&
			memcmp(keywords[i].word, s->word, s->n_word) == 0)
			return keywords[i].token;
	return OTHER;
}

static bool is_of_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static void add_to_word(struct sql_end *s, char c)
{
	if (s->n_word < sizeof s->word)
		s->word[s->n_word] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	if (s->n_word <= sizeof s->word)
		s->n_word++;
}

/* The first character of something. */
static void begin(struct sql_end *s, char c)
{
	if (is_of_word(c)) {
		s->in = IN_WORD;
		s->n_word = 0;
		add_to_word(s, c);
	} else if (c == '\'' || c == '"' || c == '`' || c == '[') {
		s->in = IN_QUOTE;
		s->closes = c == '[' ? ']' : c;
	} else if (c == '-' || c == '/') {
		s->in = c == '-' ? BEHIND_DASH : BEHIND_SLASH;
	} else {
		bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';

		take(s, c == ';' ? SEMICOLON : blank ? BLANK : OTHER);
	}
}

static void read_one(struct sql_end *s, char c)
{
	bool opens = (s->in == BEHIND_DASH && c == '-') || (s->in == BEHIND_SLASH && c == '*');

	if (s->in == IN_QUOTE) {
		if (c == s->closes)
			take(s, OTHER);
	} else if (s->in == IN_LINE_COMMENT) {
		if (c == '\n')
			take(s, BLANK);
	} else if (s->in == IN_COMMENT) {
		if (c == '/' && s->before == '*')
			take(s, BLANK);
		s->before = c;
	} else if (opens) {
		s->in = c == '-' ? IN_LINE_COMMENT : IN_COMMENT;
		s->before = '\0';
	} else if (s->in == IN_WORD && is_of_word(c)) {
		add_to_word(s, c);
	} else {
		if (s->in != PLAIN)
			take(s, s->in == IN_WORD ? word_token(s) : OTHER);
		begin(s, c);
	}
}

void sql_end_read(struct sql_end *s, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		read_one(s, text[i]);
}

bool sql_end_is_here(const struct sql_end *s)
{
	return s->statement == WHOLE && (s->in == PLAIN || s->in == IN_LINE_COMMENT);
}
