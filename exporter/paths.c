/* The state directory: systemd's, the system's, or the user's (XDG base directory specification). */
#include "exporter/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/base/buf.h"
#include "collectors/base/mem.h"

#define PATH_TEXT_MAX 4096

int history_default_path(char **ret, const char *given, struct err *e)
{
	const char *systemd = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	struct buf b = BUF_MAX(PATH_TEXT_MAX);

	if (given) {
		*ret = xstrdup(given);
		return 0;
	}
	if (systemd && systemd[0] == '/')
		buf_addf(&b, "%.*s/history.db", (int)strcspn(systemd, ":"), systemd);
	else if (geteuid() == 0)
		buf_adds(&b, "/var/lib/rightsize-exporter/history.db");
	else if (xdg && xdg[0] == '/')
		buf_addf(&b, "%s/rightsize-exporter/history.db", xdg);
	else if (home && home[0] == '/')
		buf_addf(&b, "%s/.local/state/rightsize-exporter/history.db", home);
	else
		return err_set(e, -ENOENT,
			"no place for the history: neither STATE_DIRECTORY, XDG_STATE_HOME nor "
			"HOME is set; "
			"give --history.path");
	*ret = buf_take(&b);
	return 0;
}

int make_folder_of(const char *path, struct err *e)
{
	AUTO(freep) char *folder = xstrdup(path);

	if (strcmp(path, ":memory:") == 0)
		return 0;
	for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(folder, 0700) < 0 && errno != EEXIST)
			return err_system(e, -errno, "make folder %s", folder);
		*slash = '/';
	}
	return 0;
}
