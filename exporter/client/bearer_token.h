/* A secret in a file. The file may change at any time, so it is read at each use. */
#ifndef EXPORTER_CLIENT_BEARER_TOKEN_H
#define EXPORTER_CLIENT_BEARER_TOKEN_H

#include "collectors/base/err.h"

#define TOKEN_MAX 8192 /* bytes with the NUL */

/* Reads the first line of the file. -EINVAL: the line is empty. */
int bearer_token_read(const char *path, char ret[TOKEN_MAX], struct err *e);

/*
 * 0 when the header is "Bearer " and the token; -EACCES when it differs or is missing (NULL). The
 * time that it takes does not depend on the token.
 */
int bearer_token_matches(const char *path, const char *authorization, struct err *e);

#endif
