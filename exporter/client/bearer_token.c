#include "exporter/client/bearer_token.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "collectors/base/mem.h"
#include "collectors/base/scan.h"

int bearer_token_read(const char *path, char ret[TOKEN_MAX], struct err *e)
{
	/* With O_NONBLOCK, do not wait for a writer if the file is a FIFO. */
	AUTO(closep) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, TOKEN_MAX - 1);

	if (n < 0)
		return err_system(e, -errno, "read the token %s", path);
	ret[n] = '\0';
	ret[strcspn(ret, "\r\n")] = '\0';
	return ret[0] ? 0 : err_set(e, -EINVAL, "the token %s is empty", path);
}

/* Returns 0 when `shown`, which a client sent, equals `token`, and `token` is not empty. The
 * comparison takes the same time wherever the first difference is. An attacker thus cannot find out
 * the token by measuring the time. */
static unsigned differences(const char *shown, const char *token)
{
	size_t len = strlen(token), n = strlen(shown);
	unsigned found = n != len;

	if (len == 0)
		return 1;
	for (size_t i = 0; i < n; i++)
		found |=
			(unsigned)(unsigned char)shown[i] ^ (unsigned)(unsigned char)token[i % len];
	return found;
}

/* Returns 1 if `authorization` has the token in the file, 0 if it does not, or a negative errno if
 * the file cannot be read. */
static int is_shown(const char *path, const char *authorization, struct err *e)
{
	static const char scheme[] = "Bearer ";
	char token[TOKEN_MAX] = "";
	int code = bearer_token_read(path, token, e);

	if (code)
		return code;
	bool matches = authorization &&
		       strncasecmp(authorization, scheme, sizeof scheme - 1) == 0 &&
		       !differences(authorization + sizeof scheme - 1, token);

	explicit_bzero(token, sizeof token);
	return matches;
}

int bearer_token_matches(const char *path, const char *authorization, struct err *e)
{
	int code = is_shown(path, authorization, e);

	if (code == 0)
		return err_set(e, -EACCES,
			"changes need the token: send the header Authorization: Bearer TOKEN");
	return code < 0 ? code : 0;
}

static void close_folder(DIR **d)
{
	if (*d)
		closedir(*d);
}

int bearer_token_namespace(const char *folder, const char *authorization,
	char ret[static JOB_SPACE_MAX], struct err *e)
{
	AUTO(close_folder) DIR *d = opendir(folder);
	char found[JOB_SPACE_MAX] = "";
	size_t n = 0;

	if (!d)
		return err_system(e, -errno, "read the tokens in %s", folder);
	for (struct dirent *f; (f = readdir(d));) {
		char path[PATH_MAX];

		if (f->d_name[0] == '.')
			continue;
		if (++n > TOKEN_NAMESPACES_MAX || strlen(f->d_name) >= JOB_SPACE_MAX ||
			snprintf(path, sizeof path, "%s/%s", folder, f->d_name) >= PATH_MAX)
			return err_set(e, -EINVAL,
				"%s: accepted are at most %d files, named like namespaces, with up "
				"to %d bytes",
				folder, TOKEN_NAMESPACES_MAX, JOB_SPACE_MAX - 1);
		int code = is_shown(path, authorization, e);

		if (code < 0)
			return code;
		if (code && *found)
			return err_set(e, -EINVAL, "%s: the namespaces %s and %s have one token",
				folder, found, f->d_name);
		if (code)
			text_copy(f->d_name, found, sizeof found);
	}
	if (!*found)
		return err_set(e, -EACCES,
			"a token is needed: send the header Authorization: Bearer TOKEN");
	text_copy(found, ret, JOB_SPACE_MAX);
	return 0;
}
