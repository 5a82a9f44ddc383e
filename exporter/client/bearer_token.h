/* Reads and compares a secret that is in a file. The file may change at any time, so these
 * functions read it at each call. */
#ifndef EXPORTER_CLIENT_BEARER_TOKEN_H
#define EXPORTER_CLIENT_BEARER_TOKEN_H

#include "collectors/base/err.h"
#include "collectors/base/job_key.h"

#define TOKEN_MAX 8192 /* largest size of a token with its NUL, bytes */

/* Reads the first line of the file. Returns -EINVAL when the line is empty. */
int bearer_token_read(const char *path, char ret[TOKEN_MAX], struct err *e);

/* Returns 0 when `authorization` is "Bearer TOKEN" with the token in the file. Returns -EACCES when
 * it is any other text or NULL. The time of the comparison does not depend on the token. */
int bearer_token_matches(const char *path, const char *authorization, struct err *e);

/* Finds the namespace whose token `authorization` has. `folder` has one file for each namespace.
 * The file is named like the namespace and contains its token, as in a mounted Secret of
 * Kubernetes. Files whose names begin with "." are skipped. Returns 0, -EACCES when `authorization`
 * is no such token, and another negative errno when a file cannot be read, when the folder has more
 * than TOKEN_NAMESPACES_MAX files, or when several namespaces have this token. All files are read,
 * so that the time does not depend on which token matches. Writes `ret` only if it returns 0. */
#define TOKEN_NAMESPACES_MAX 1000
int bearer_token_namespace(const char *folder, const char *authorization,
	char ret[static JOB_SPACE_MAX], struct err *e);
/* The log's message for an error of bearer_token_namespace other than -EACCES. */
#define BEARER_TOKENS_UNREADABLE "the tokens of namespaces are refused until all are right"

#endif
