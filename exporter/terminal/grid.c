#include "exporter/terminal/grid.h"

#include <assert.h>
#include <string.h>

#include "collectors/base/mem.h"

#define GAP 2 /* blanks between columns */

struct grid_cell {
	const char *text;
	int width;
	enum style style;
};

struct grid {
	const struct grid_column *columns;
	size_t n_columns;
	struct arena texts;
	size_t n, room;
	struct grid_cell *cell;
};

struct grid *grid_new(const struct grid_column *columns, size_t n)
{
	struct grid *g = xcalloc(1, sizeof *g);

	assert(n > 0);
	g->columns = columns;
	g->n_columns = n;
	return g;
}

void grid_free(struct grid *g)
{
	if (!g)
		return;
	arena_done(&g->texts);
	free(g->cell);
	free(g);
}

void grid_add(struct grid *g, enum style style, const char *text)
{
	char *copy = arena_text(&g->texts, text, strlen(text));

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	GROW(g->cell, g->n, g->room);
	g->cell[g->n++] = (struct grid_cell){copy, screen_width(copy), style};
}

void grid_take(struct grid *g, enum style style, struct buf *b)
{
	grid_add(g, style, buf_text(b));
	buf_reset(b);
}

/* Widths of the columns; 0 = the column is left out. */
struct grid_widths {
	int of[GRID_COLUMNS_MAX];
};

static int widths_sum(const struct grid *g, const struct grid_widths *w)
{
	int sum = -GAP;

	for (size_t i = 0; i < g->n_columns; i++)
		sum += w->of[i] ? w->of[i] + GAP : 0;
	return sum;
}

/* Returns the index of the column to leave out next. 0 = no further column may be left out, because
 * column 0 always stays. */
static size_t next_to_drop(const struct grid *g, const struct grid_widths *w)
{
	size_t ret = 0;

	for (size_t i = 1; i < g->n_columns; i++)
		if (w->of[i] && g->columns[i].drop > g->columns[ret].drop)
			ret = i;
	return ret;
}

static struct grid_widths fit(const struct grid *g, int columns)
{
	struct grid_widths w = {0};
	size_t drop;

	for (size_t i = 0, column = 0; i < g->n; i++) {
		if (g->cell[i].width > w.of[column])
			w.of[column] = g->cell[i].width;
		column = column + 1 < g->n_columns ? column + 1 : 0;
	}
	for (size_t i = 0; i < g->n_columns; i++)
		if (w.of[i] && w.of[i] < screen_width(g->columns[i].heading))
			w.of[i] = screen_width(g->columns[i].heading);

	int full = w.of[0], least = g->columns[0].least;

	if (least == 0 || least > full)
		least = full;
	for (;;) {
		int rest = widths_sum(g, &w) - w.of[0];

		w.of[0] = columns - rest < full ? columns - rest : full;
		if (w.of[0] >= least)
			return w;
		w.of[0] = least;
		drop = next_to_drop(g, &w);
		if (!drop)
			return w;
		w.of[drop] = 0;
	}
}

static void add_blanks(struct buf *out, int n)
{
	for (; n > 0; n--)
		buf_addc(out, ' ');
}

/* Appends the first `width` - 1 characters of `text`, and then "…", or "~" if the screen is not
 * UTF-8. */
static void add_shortened(struct buf *out, const struct screen *s, enum style style,
	const char *text, int width)
{
	struct buf part AUTO(buf_done) = BUF_MAX(4096);
	int n = 0;

	for (; *text && (n < width - 1 || ((unsigned char)*text & 0xc0) == 0x80); text++) {
		n += ((unsigned char)*text & 0xc0) != 0x80;
		if (n > width - 1)
			break;
		buf_addc(&part, *text);
	}
	buf_adds(&part, s->blocks ? "…" : "~");
	screen_text(out, s, style, buf_text(&part));
}

static void write_cell(struct buf *out, const struct screen *s, const struct grid_cell *c,
	int width, bool right)
{
	if (c->width > width) {
		add_shortened(out, s, c->style, c->text, width);
		return;
	}
	add_blanks(out, right ? width - c->width : 0);
	screen_text(out, s, c->style, c->text);
	add_blanks(out, right ? 0 : width - c->width);
}

/* Ends a line. Removes blanks at its end, because on a narrow terminal they would continue on the
 * next line. */
static void end_line(struct buf *out)
{
	while (out->len && out->data[out->len - 1] == ' ')
		out->len--;
	buf_addc(out, '\n');
}

void grid_write(struct buf *out, const struct grid *g, const struct screen *s)
{
	struct grid_widths w = fit(g, s->columns);

	for (size_t i = 0; i < g->n_columns; i++) {
		const struct grid_cell heading = {
			g->columns[i].heading, screen_width(g->columns[i].heading), STYLE_DIM};

		if (!w.of[i])
			continue;
		add_blanks(out, i ? GAP : 0);
		write_cell(out, s, &heading, w.of[i], g->columns[i].right);
	}
	end_line(out);
	for (size_t i = 0, column = 0; i < g->n; i++) {
		if (w.of[column]) {
			add_blanks(out, column ? GAP : 0);
			write_cell(out, s, &g->cell[i], w.of[column], g->columns[column].right);
		}
		column = column + 1 < g->n_columns ? column + 1 : 0;
		if (column == 0)
			end_line(out);
	}
}
