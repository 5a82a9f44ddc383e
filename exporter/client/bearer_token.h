/* Reads and compares a secret that is in a file. The file may change at any time, so these
 * functions read it at each call. */
#ifndef EXPORTER_CLIENT_BEARER_TOKEN_H
#define EXPORTER_CLIENT_BEARER_TOKEN_H

#include "collectors/base/err.h"

#define TOKEN_MAX 8192 /* largest size of a token with its NUL, bytes */

/* Reads the first line of the file. Returns -EINVAL when the line is empty. */
int bearer_token_read(const char *path, char ret[TOKEN_MAX], struct err *e);

/* Returns 0 when `authorization` is "Bearer TOKEN" with the token in the file. Returns -EACCES when
 * it is any other text or NULL. The time of the comparison does not depend on the token. */
int bearer_token_matches(const char *path, const char *authorization, struct err *e);

#endif
