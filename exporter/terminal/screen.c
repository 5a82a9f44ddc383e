#include "exporter/terminal/screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collectors/base/scan.h"

const char *const screen_colour_name[COLOURS] = {
	[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};

/* Returns the value of an environment variable. "" = it is not set. */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

/* Returns true if the locale is UTF-8. The first variable in `names` that is set and not empty
 * decides, as for setlocale(3). */
static bool locale_is_utf8(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (*variable(names[i]))
			return strcasestr(variable(names[i]), "utf-8") ||
			       strcasestr(variable(names[i]), "utf8");
	return false;
}

static int columns_of(int fd)
{
	struct winsize size = {0};
	const char *text = variable("COLUMNS");
	struct scan said = SCAN(text, strlen(text));
	uint64_t n = 0;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		n = size.ws_col;
	else if (!scan_u64(&said, &n))
		n = 0;
	if (n < SCREEN_COLUMNS_LEAST)
		return SCREEN_COLUMNS_LEAST;
	return n < SCREEN_COLUMNS_MOST ? (int)n : SCREEN_COLUMNS_MOST;
}

/* Returns the number of lines of the terminal `fd`. 0 = `fd` is not a terminal. If the number is
 * unknown, returns SCREEN_ROWS_LEAST, the height of most terminals. This is also the minimum. */
static int rows_of(int fd)
{
	struct winsize size = {0};

	if (!isatty(fd))
		return 0;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > SCREEN_ROWS_LEAST)
		return size.ws_row;
	return SCREEN_ROWS_LEAST;
}

struct screen screen_of(int fd, enum screen_colour colour)
{
	const char *term = variable("TERM");
	bool can = isatty(fd) && !*variable("NO_COLOR") && *term && strcmp(term, "dumb") != 0;

	return (struct screen){
		.columns = columns_of(fd),
		.colour = colour == COLOUR_ALWAYS || (colour == COLOUR_AUTO && can),
		.blocks = locale_is_utf8(),
		.rows = rows_of(fd),
	};
}

void screen_style(struct buf *out, const struct screen *s, enum style style)
{
	static const char *const sequences[STYLES] = {
		[STYLE_PLAIN] = "\033[0m",
		[STYLE_BOLD] = "\033[1m",
		[STYLE_DIM] = "\033[2m",
		[STYLE_GOOD] = "\033[32m",
		[STYLE_WARN] = "\033[33m",
		[STYLE_BAD] = "\033[31m",
	};

	if (s->colour)
		buf_adds(out, sequences[style]);
}

void screen_text(struct buf *out, const struct screen *s, enum style style, const char *text)
{
	if (style != STYLE_PLAIN)
		screen_style(out, s, style);
	for (const char *at = text; *at; at++) {
		unsigned char c = (unsigned char)*at;

		buf_addc(out, c < 0x20 || c == 0x7f ? '?' : *at);
	}
	if (style != STYLE_PLAIN)
		screen_style(out, s, STYLE_PLAIN);
}

int screen_width(const char *text)
{
	int n = 0;

	for (; *text; text++)
		/* do not count the continuation bytes of a character */
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* Block characters that fill one to eight eighths of a column, from the left. */
static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

void screen_bar(struct buf *out, const struct screen *s, int width, double share, double mark)
{
	double filled = fmin(fmax(isnan(share) ? 0 : share, 0), 1) * width;
	int line = isnan(mark) ? -1 : (int)fmin(fmax(mark, 0) * width, width - 1);

	for (int i = 0; i < width; i++) {
		int part = (int)lround(fmin(fmax(filled - i, 0), 1) * 8);

		if (i == line)
			buf_addc(out, '|');
		else if (!s->blocks)
			buf_addc(out, part >= 4 ? '#' : '-');
		else
			buf_adds(out, part ? eighths[part] : "░");
	}
}
