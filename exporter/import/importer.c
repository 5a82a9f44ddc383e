#include "exporter/import/importer.h"

#include <errno.h>
#include <string.h>

static int add_all(struct importer *i, struct err *e)
{
	for (size_t k = 0; k < i->n; k++) {
		int code = history_run_add(i->history, &i->run[k], e);

		if (code < 0)
			return code;
		i->added += code == 1;
		i->known += code == 0;
	}
	return 0;
}

/* Adds the runs in i->run to the history, all in one transaction. */
static int flush(struct importer *i, struct err *e)
{
	uint64_t added = i->added, known = i->known;
	int code = i->n ? history_transaction(i->history, e) : 0;

	if (code == 0 && i->n)
		code = history_end(i->history, add_all(i, e), e);
	if (code) {
		i->added = added;
		i->known = known;
	}
	i->n = i->taken = 0;
	arena_reset(&i->arena);
	progress_note(i->progress, "runs", i->added + i->known, 0);
	return code == -EINVAL ? -EIO : code;
}

static void wrong(void *context, uint64_t line, const char *why)
{
	struct importer *i = context;

	i->wrong++;
	i->tell(i->context, line, why);
}

static void unfinished(void *context)
{
	struct importer *i = context;

	i->unfinished++;
}

static void untold(void *context)
{
	struct importer *i = context;

	i->untold++;
}

/* Replaces parts of the run's key by the parts that the user chose. */
static void set_key(struct importer *i, struct run *r)
{
	struct job_parts p = job_key_parts(r->job_name);
	char key[JOB_KEY_MAX];

	job_key_write(i->key.job_name ? i->key.job_name : p.name,
		i->key.space ? i->key.space : p.space, i->key.cluster ? i->key.cluster : p.cluster,
		key);
	r->job_name = arena_text(&i->arena, key, strlen(key));
}

static void take_run(struct importer *i, uint64_t line, struct told_run *told)
{
	struct run *r = &i->run[i->n];

	i->taken++;
	if (told->wrong.code == 0)
		run_message_check_age(&told->run, i->now, 0, &told->wrong);
	if (told->wrong.code) {
		wrong(i, line, told->wrong.text);
		return;
	}
	*r = told->run;
	set_key(i, r);
	i->n++;
}

static int take(void *context, uint64_t line, const char *text, size_t len, struct err *e)
{
	struct importer *i = context;
	struct run_batch batch = {0};
	struct told_run unread = {0};

	if (run_batch_read(&batch, text, len, &i->arena, &unread.wrong))
		batch = (struct run_batch){1, &unread, false};
	for (size_t k = 0; k < batch.n; k++)
		take_run(i, line, &batch.told[k]);
	return i->taken >= IMPORTER_BATCH ? flush(i, e) : 0;
}

struct import_sink importer_sink(struct importer *i)
{
	return (struct import_sink){take, wrong, unfinished, untold, i};
}

int importer_end(struct importer *i, int code, struct err *e)
{
	int last = flush(i, code ? NULL : e);

	arena_done(&i->arena);
	return code ? code : last;
}
