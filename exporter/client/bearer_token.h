/* Reads secret tokens from files, and compares them with the header Authorization of a request. A
 * file may change at any time, so these functions read it at each call. */
#ifndef EXPORTER_CLIENT_BEARER_TOKEN_H
#define EXPORTER_CLIENT_BEARER_TOKEN_H

#include "collectors/base/err.h"
#include "collectors/base/job_key.h"

#define TOKEN_MAX 8192 /* maximum size of a token in bytes, with its NUL */

/* Reads a token, which is the first line of the file. Returns -EINVAL when the line is empty. */
int bearer_token_read(const char *path, char ret[TOKEN_MAX], struct err *e);

/* Checks the header Authorization. Returns 0 when it is "Bearer TOKEN" with the token in the file
 * `path`, and -EACCES when it is another text or NULL. The comparison takes the same time for any
 * token, so that the time does not reveal parts of the right token. */
int bearer_token_matches(const char *path, const char *authorization, struct err *e);

/* Finds the namespace whose token the header Authorization contains, and writes it to `ret`.
 * `folder` has one file for each namespace. The file has the name of the namespace and contains its
 * token, as in a mounted Secret of Kubernetes. Files whose names begin with "." are skipped. All
 * files are read in each call, so that the time does not reveal which token matches. Returns:
 * - 0: the namespace was found.
 * - -EACCES: the header does not contain one of the tokens.
 * - another negative errno: a file cannot be read, there are more than TOKEN_NAMESPACES_MAX files,
 *   or several namespaces have this token. */
#define TOKEN_NAMESPACES_MAX 1000
int bearer_token_namespace(const char *folder, const char *authorization,
	char ret[static JOB_SPACE_MAX], struct err *e);
/* Message to log for an error of bearer_token_namespace other than -EACCES. */
#define BEARER_TOKENS_UNREADABLE "the tokens of namespaces are refused until all are right"

#endif
