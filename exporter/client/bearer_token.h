/*
 * A secret in a file, which whoever mounted it may change at any time: read whenever it is needed.
 */
#ifndef EXPORTER_CLIENT_BEARER_TOKEN_H
#define EXPORTER_CLIENT_BEARER_TOKEN_H

#include "collectors/base/err.h"

#define TOKEN_MAX 8192 /* bytes with the NUL */

/* The first line of the file, not empty. */
int bearer_token_read(const char *path, char ret[TOKEN_MAX], struct err *e);

/*
 * 0 when the header says "Bearer " and the token; -EACCES: something else, or no header (NULL). How long it takes
 * says nothing about the token.
 */
int bearer_token_matches(const char *path, const char *authorization, struct err *e);

#endif
