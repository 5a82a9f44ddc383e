/* The screen to which a command writes. All functions except screen_of depend only on their
 * arguments. */
#ifndef EXPORTER_TERMINAL_SCREEN_H
#define EXPORTER_TERMINAL_SCREEN_H

#include <stdbool.h>

#include "collectors/base/buf.h"

#define SCREEN_COLUMNS_LEAST 80
#define SCREEN_COLUMNS_MOST  120
#define SCREEN_ROWS_LEAST    24

struct screen {
	int columns; /* from SCREEN_COLUMNS_LEAST to SCREEN_COLUMNS_MOST */
	bool colour; /* true = escape sequences for colours may be written */
	bool blocks; /* true = the locale is UTF-8, so block characters can be drawn */
	/* height, at least SCREEN_ROWS_LEAST; 0 = not a terminal, so nothing scrolls out of view */
	int rows;
};

enum screen_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER, COLOURS };
extern const char *const screen_colour_name[COLOURS]; /* "auto", "always", "never" */

/* Describes the terminal behind the descriptor `fd`. If `fd` is not a terminal, the width is that
 * of the environment variable COLUMNS, or SCREEN_COLUMNS_LEAST without this variable. With
 * COLOUR_AUTO, colours are on if `fd` is a terminal, NO_COLOR is empty (https://no-color.org), and
 * TERM is set and is not "dumb". */
struct screen screen_of(int fd, enum screen_colour colour);

/* Styles of a text. A style never adds information, so nothing is lost on a screen without
 * colours. */
enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_WARN, STYLE_BAD, STYLES };

/* Appends the escape sequence that begins the style. STYLE_PLAIN ends the style that was begun
 * before. Appends nothing if the screen has no colours. */
void screen_style(struct buf *out, const struct screen *s, enum style style);

/* Appends `text` in this style. Control characters become "?", because a name in the text may be
 * untrusted. */
void screen_text(struct buf *out, const struct screen *s, enum style style, const char *text);

/* Appends a bar of `width` columns. `share`, from 0 to 1, is the part of the bar that is filled.
 * `mark`, from 0 to 1, is the place of a line across the bar; NaN = no line. */
void screen_bar(struct buf *out, const struct screen *s, int width, double share, double mark);

/* Returns the number of columns that a UTF-8 text takes: one for each character. */
int screen_width(const char *text);

#endif
