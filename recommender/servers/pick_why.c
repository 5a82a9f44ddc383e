/* Why a server won, and what the others lose by, in words. */
#include <math.h>
#include <string.h>

#include "recommender/servers/pick.h"

/* 12.3 %, 3 %, 250 %: three digits say enough. */
static void add_percent(struct buf *out, double ratio)
{
	double percent = 100 * (ratio - 1);

	buf_addf(out, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
}

void pick_why(struct buf *out, const struct picks *p, size_t i)
{
	const struct pick *pick = &p->pick[i];
	double key = pick->key, best = p->best->key;

	if (pick == p->best) {
		buf_addf(out, "%s; %zu fit", p->objective->help, p->fitting);
	} else if (pick->unsure && !p->best->unsure) {
		buf_adds(out, "behind all whose speed is known");
	} else if (key > best && best > 0) {
		add_percent(out, key / best);
		buf_addf(out, " more %s than the best", p->objective->unit);
	} else if (key > best && key < 0) { /* scores, of which more is better */
		buf_adds(out, "the best has ");
		add_percent(out, best / key);
		buf_addf(out, " more %s", p->objective->unit);
	} else {
		buf_adds(out, "as good as the best; behind it by price, memory or name");
	}
	if (pick->unsure)
		buf_adds(out, "; its speed is not known: the same is assumed");
}
