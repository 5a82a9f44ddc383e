#include "exporter/history/read_failed.h"

#include <errno.h>

#include "exporter/core/app.h"
#include "exporter/history/historian.h"

void history_read_failed(struct app *app, int code)
{
	if (code == -EBADMSG && app->historian)
		historian_suspect(app->historian);
}
