/* What the program's parts share, as far as it takes more than a field. */
#include "exporter/app.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "recommender/catalogue.h"

static int read_file(struct buf *ret, const char *path, struct err *e)
{
	AUTO(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[65536];
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0)
		buf_add(ret, chunk, (size_t)n);
	if (n < 0)
		return err_system(e, -errno, "read the catalogue %s", path);
	if (ret->full)
		return err_set(e, -EFBIG, "the catalogue %s is larger than %u MiB", path,
			CATALOGUE_TEXT_MAX >> 20);
	return 0;
}

static bool ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(path), k = strlen(suffix);

	return n > k && strcasecmp(path + n - k, suffix) == 0;
}

static int catalogue_load(struct catalogue **ret, const char *path, struct err *e)
{
	if (!path)
		return catalogue_built_in(ret, e);

	bool json = ends_in(path, ".json");

	if (!json && !ends_in(path, ".csv"))
		return err_set(e, -EINVAL,
			"the catalogue %s is of an unknown kind: its name must end in .csv or "
			".json",
			path);
	struct buf text AUTO(buf_done) = BUF_MAX(CATALOGUE_TEXT_MAX);
	int code = read_file(&text, path, e);

	if (code)
		return code;
	return (json ? catalogue_from_json : catalogue_from_csv)(ret, buf_text(&text), text.len,
		path, e);
}

const struct catalogue *app_catalogue(struct app *app, struct err *e)
{
	pthread_mutex_lock(&app->catalogue_lock);
	if (!app->catalogue)
		catalogue_load(&app->catalogue, app->options->catalogue_path, e);
	const struct catalogue *c = app->catalogue;

	pthread_mutex_unlock(&app->catalogue_lock);
	return c;
}

void app_done(struct app *app)
{
	catalogue_free(app->catalogue);
	app->catalogue = NULL;
	pthread_mutex_destroy(&app->catalogue_lock);
}
